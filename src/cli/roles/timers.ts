import { warnOfExpiry } from '../../domain/maintenance/expiry.js';
import type { OperatorUnitOfWork } from '../../domain/operator/unit-of-work.js';
import { closeAll } from '../../domain/webhooks/subscriptions/status.js';
import type { Store } from '../../store/store.js';
import type { Log } from '../../telemetry/log.js';
import { type Running, repeating } from './running.js';

const CLOSE_EVERY_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** The part of the time for searches, which may visit many rows that the database cannot remove yet. */
const MOST_OF_SEARCHES = 1 / 20;
const FAILURE = 'cannot close open deliveries of inactive subscriptions';

export function pauseAfterSearch(searchMs: number): number {
  return Math.min(Math.max(CLOSE_EVERY_MS, searchMs / MOST_OF_SEARCHES), LONGEST_PAUSE_MS);
}

/** Holds or cancels, in batches, the open deliveries of subscriptions that were disabled or deleted. */
export function startClosingSubscriptions(
  unitOfWork: OperatorUnitOfWork,
  log: Log,
  pauseAfter = pauseAfterSearch,
): Running {
  let searchMs = 0;
  const leftOpen = async (limit: number) => {
    const begunAt = performance.now();
    try {
      return await unitOfWork.rows.deliveries.leftOpen(limit);
    } finally {
      searchMs = performance.now() - begunAt;
    }
  };
  const rows = { deliveries: { leftOpen } };
  return repeating(
    () => pauseAfter(searchMs),
    log,
    FAILURE,
    async (ending) => {
      const deliveries = await closeAll({ ...unitOfWork, rows }, ending);
      if (deliveries > 0) {
        log.info('closed open deliveries of inactive subscriptions', { deliveries });
      }
    },
  );
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
