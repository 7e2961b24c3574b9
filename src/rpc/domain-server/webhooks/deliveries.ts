import type { WebhookServiceService } from '../../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { findDelivery, getDelivery } from '../../../domain/webhooks/logs/deliveries.js';
import { logFilterViolations, logPage } from '../../../domain/webhooks/logs/page.js';
import { tailDeliveries } from '../../../domain/webhooks/logs/tail.js';
import { giveUpDelivery, retryDelivery } from '../../../domain/webhooks/sending/interventions.js';
import { resendDelivery } from '../../../domain/webhooks/subscriptions/resend.js';
import { actorOf } from '../../call-audit.js';
import type { Handlers } from '../../handlers.js';
import { filterOf } from '../fields.js';
import { write } from '../writes.js';
import type { WebhookDependencies } from './dependencies.js';
import { fromDeliveryStatus, toAttemptMessage, toDeliveryMessage } from './messages.js';

export function deliveryHandlers(webhooks: WebhookDependencies): Handlers<WebhookServiceService> {
  const { unitOfWork, clock, eventsMs, draining, sending } = webhooks;
  const answerFor = async (id: string) => ({
    delivery: toDeliveryMessage(await findDelivery(unitOfWork.rows, id)),
  });
  return {
    listDeliveries: async ({ pageSize, pageToken, since, until, statuses, ...rest }) => {
      const filter = { ...rest, since: since?.getTime(), until: until?.getTime() };
      const violations = logFilterViolations(filter);
      const fault = 'must be a status that deliveries have';
      const chosen = filterOf(statuses, fromDeliveryStatus, fault, violations);
      const { deliveryLog } = unitOfWork.rows;
      const { rows, nextPageToken } = await logPage({ pageSize, pageToken }, (page) =>
        deliveryLog.page(page, { ...filter, statuses: chosen }),
      );
      return { deliveries: rows.map(toDeliveryMessage), nextPageToken };
    },
    getDelivery: async ({ deliveryId }) => {
      const { delivery, attempts, body, event } = await getDelivery(unitOfWork.rows, deliveryId);
      return {
        delivery: toDeliveryMessage(delivery),
        attempts: attempts.map(toAttemptMessage),
        body: Buffer.from(body),
        requestId: event.requestId,
        event,
      };
    },
    resendDelivery: ({ deliveryId }, context) =>
      write(webhooks, context, async (changes) => ({
        delivery: toDeliveryMessage(await resendDelivery(changes, deliveryId, changes.now - eventsMs)),
      })),
    retryDelivery: async ({ deliveryId }, context) => {
      await retryDelivery(sending, actorOf(context), deliveryId, { signal: context.signal });
      return answerFor(deliveryId);
    },
    giveUpDelivery: async ({ deliveryId }, context) => {
      await giveUpDelivery(sending, actorOf(context), deliveryId, { signal: context.signal });
      return answerFor(deliveryId);
    },
    tailDeliveries: async function* ({ since: sinceDate, ...filter }, { signal }) {
      const since = sinceDate?.getTime();
      logFilterViolations({ ...filter, since }).throwIfAny();
      const options = {
        rows: unitOfWork.rows.deliveryLog,
        clock,
        signal: AbortSignal.any([signal, draining]),
      };
      for await (const { delivery, attempt, skipped } of tailDeliveries(filter, since, options)) {
        yield {
          delivery: toDeliveryMessage(delivery),
          attempt: attempt && toAttemptMessage(attempt),
          skipped,
        };
      }
    },
  };
}
