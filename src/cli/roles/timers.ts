import { pause } from '../../../workflows/backoff.js';
import { warnOfExpiry } from '../../domain/maintenance/expiry.js';
import type { OperatorUnitOfWork } from '../../domain/operator/unit-of-work.js';
import { closeAll } from '../../domain/webhooks/subscriptions/status.js';
import type { Store } from '../../store/store.js';
import type { Log } from '../../telemetry/log.js';
import { type Running, repeating } from './running.js';

const CLOSE_EVERY_MS = 1_000;
/** The pause after a search without a result, as a multiple of its length: it may read many dead rows. */
const REST_AFTER_SEARCH = 19;
const LONGEST_REST_MS = 5_000;
const FAILURE = 'cannot close open deliveries of inactive subscriptions';

/** Holds or cancels, in batches, the open deliveries of subscriptions that were disabled or deleted. */
export function startClosingSubscriptions(unitOfWork: OperatorUnitOfWork, log: Log): Running {
  return repeating(CLOSE_EVERY_MS, log, FAILURE, async (ending) => {
    const begunAt = performance.now();
    const deliveries = await closeAll(unitOfWork, ending);
    if (deliveries > 0) {
      log.info('closed open deliveries of inactive subscriptions', { deliveries });
    } else {
      await pause(Math.min(LONGEST_REST_MS, REST_AFTER_SEARCH * (performance.now() - begunAt)), ending);
    }
  });
}

const WARN_EVERY_MS = 60_000;

/** Warns of keys, tokens and secrets that expire soon, and of subscriptions that are about to be disabled. */
export function startWarningOfExpiry(
  { expiry, clock }: Pick<Store, 'expiry' | 'clock'>,
  failingLimitMs: number,
  log: Log,
  lookEveryMs = WARN_EVERY_MS,
): Running {
  const listener: Parameters<typeof warnOfExpiry>[1] = {
    onExpiring: ({ kind, id, of, expiresAt }) =>
      log.warn('a key, token or secret expires soon', { kind, id, of, expiresAt: asTime(expiresAt) }),
    onFailing: ({ id, tenths, failingSince, disabledFrom }, hasContact) =>
      log.warn('a failing webhook subscription is about to be disabled', {
        subscriptionId: id,
        shareOfTheTime: tenths / 10,
        failingSince: asTime(failingSince),
        disabledFrom: asTime(disabledFrom),
        contactIsNotified: hasContact,
      }),
  };
  return repeating(lookEveryMs, log, 'cannot look for what expires soon', () =>
    warnOfExpiry(expiry, listener, { clock, failingLimitMs }),
  );
}

function asTime(ms: number): string {
  return new Date(ms).toISOString();
}
