import { AddressGuard } from '../../delivery/address-guard.js';
import { RateLimiter } from '../../domain/access/rate-limiter.js';
import { LONG_ANSWERS } from '../../domain/webhooks/sending/results.js';
import { RetryGrace } from '../../domain/webhooks/sending/retry-batches.js';
import type { SendingDependencies } from '../../domain/webhooks/sending/sending.js';
import type { WebhookDependencies } from '../../rpc/domain-server/webhooks/dependencies.js';
import type { Store } from '../../store/store.js';
import { boundedWarnings } from '../../telemetry/log.js';
import { deliveryEndCounter, outboxMetrics } from '../../telemetry/webhook-metrics.js';
import { addressRulesOf } from '../from-config.js';
import type { RoleOptions } from './role.js';
import type { Secrets } from './secrets.js';

/** What managing and sending webhooks need. */
export function webhookParts(
  { config, metrics, log }: RoleOptions,
  store: Store,
  derived: Secrets['derived'],
): { webhooks: WebhookDependencies; deliveries: SendingDependencies } {
  const { deliveriesDue } = store;
  const secrets = derived.webhookSecrets;
  const [beforeSecond = 0, beforeThird = 0] = config.WEBHOOK_RETRY_DELAYS;
  const warnRarely = boundedWarnings(log, 1);
  const grace = new RetryGrace([beforeSecond, beforeThird]);
  const onEnded = deliveryEndCounter(metrics);
  outboxMetrics(metrics, () => store.sending.rows.outbox(), store.clock);
  return {
    webhooks: {
      unitOfWork: store.operator,
      clock: store.clock,
      eventsMs: config.EVENT_RETENTION,
      secrets,
      addressGuard: new AddressGuard(addressRulesOf(config)),
      draining: deliveriesDue.closing,
      sending: { unitOfWork: store.sending, deliveriesDue, onEnded },
    },
    deliveries: {
      unitOfWork: store.sending,
      secrets,
      deliveriesDue,
      grace,
      clock: store.clock,
      random: Math.random,
      longAnswers: new RateLimiter(LONG_ANSWERS, store.clock),
      settings: {
        timeoutMs: config.WEBHOOK_TIMEOUT,
        retryDelaysMs: [beforeSecond, beforeThird],
        failingLimitMs: config.WEBHOOK_FAILING_LIMIT,
      },
      onUnsendable: (subscriptionId, error) =>
        log.error('cannot send to a subscription', {
          subscriptionId,
          reason: (error as Error).message,
        }),
      onEnded,
      onSetBack: (deliveries) =>
        log.warn('the clock was set back: leases and waits of webhooks begin anew', { deliveries }),
      onUnswept: (error) =>
        warnRarely('lapsed attempts are not recorded for now', { reason: (error as Error).message }),
      onNotTakenBack: (error) =>
        warnRarely('deliveries for which a claim had no room wait until their leases lapse', {
          reason: (error as Error).message,
        }),
    },
  };
}
