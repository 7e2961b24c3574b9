import type { Config } from '../../config/config.js';
import { AddressGuard } from '../../delivery/address-guard.js';
import { RetryGrace } from '../../domain/webhooks/sending/retry-grace.js';
import type { SendingDependencies } from '../../domain/webhooks/sending/sending.js';
import type { WebhookDependencies } from '../../rpc/domain-server/webhooks/index.js';
import type { NotificationListener, Silence, Store } from '../../store/store.js';
import { boundedWarnings } from '../../telemetry/bounded-warnings.js';
import type { Log } from '../../telemetry/log.js';
import { deliveryEndCounter, outboxMetrics } from '../../telemetry/webhook-metrics.js';
import type { RoleOptions } from './role.js';
import type { Secrets } from './secrets.js';

const SILENCES_PER_MINUTE = 2;

const SILENCE: Record<Silence, string> = {
  lost: 'notifications of other nodes cannot be received for now; this node polls',
  unheard:
    'notifications of other nodes do not arrive; this node polls. If DATABASE_URL leads to a pooler in transaction mode, set DATABASE_DIRECT_URL to the server itself',
};

/** How nodes hear of the due deliveries of others. */
export function notificationListener(config: Config, log: Log): NotificationListener {
  const warn = boundedWarnings(log, SILENCES_PER_MINUTE);
  let isSilent = false;
  return {
    directUrl: config.DATABASE_DIRECT_URL?.reveal(),
    onListening: () => {
      if (isSilent) {
        log.info('notifications of other nodes are received again');
      }
      isSilent = false;
    },
    onSilence: (kind, reason) => {
      isSilent = true;
      warn(SILENCE[kind], { reason });
    },
  };
}

/** What managing and sending webhooks need. */
export function webhookParts(
  config: Config,
  store: Store,
  { derived }: Pick<Secrets, 'derived'>,
  metrics: RoleOptions['metrics'],
  log: Log,
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
      unitOfWork: store.webhooks,
      environment: config.ENVIRONMENT,
      clock: store.clock,
      secrets,
      addressGuard: new AddressGuard({
        allowedNetworks: config.WEBHOOK_ALLOWED_NETWORKS,
        allowLoopback: config.ENVIRONMENT === 'demo',
        allowedPorts: config.WEBHOOK_ALLOWED_PORTS,
      }),
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
