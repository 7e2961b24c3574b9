import type { WebhookServiceService } from '../../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { inNameOf } from '../../../domain/unit-of-work.js';
import { getEvent } from '../../../domain/webhooks/logs/events.js';
import { logFilterViolations, logPage } from '../../../domain/webhooks/logs/page.js';
import { replayEvents } from '../../../domain/webhooks/subscriptions/replay.js';
import { actorOf } from '../../call-audit.js';
import type { Handlers } from '../../handlers.js';
import type { WebhookDependencies } from './dependencies.js';

export function eventHandlers({
  unitOfWork,
  clock,
  eventsMs,
  draining,
}: WebhookDependencies): Handlers<WebhookServiceService> {
  return {
    listEvents: async ({ pageSize, pageToken, types, since, until, ...rest }) => {
      const filter = {
        ...rest,
        eventTypes: types,
        since: since?.getTime(),
        until: until?.getTime(),
      };
      logFilterViolations(filter, 'types').throwIfAny();
      const { eventLog } = unitOfWork.rows;
      const { rows, nextPageToken } = await logPage({ pageSize, pageToken }, (page) =>
        eventLog.page(page, filter),
      );
      return { events: rows, nextPageToken };
    },
    getEvent: async ({ eventId, instanceIntegrationId }) => {
      const { event, body } = await getEvent(unitOfWork.rows, eventId, instanceIntegrationId);
      return { event, body: Buffer.from(body) };
    },
    replayEvents: async function* ({ since, until, ...rest }, context) {
      const request = { ...rest, since: since?.getTime(), until: until?.getTime() };
      const horizon = clock() - eventsMs;
      const keptSince = since && since.getTime() < horizon ? new Date(horizon) : undefined;
      const signal = AbortSignal.any([context.signal, draining]);
      // Without the caller's signal: a replay is recorded also when its caller leaves.
      const named = inNameOf(actorOf(context), unitOfWork);
      for await (const progress of replayEvents(named, request, { clock, keptSince: horizon, signal })) {
        yield { ...progress, lastEventId: progress.lastEventId ?? '', keptSince };
      }
    },
  };
}
