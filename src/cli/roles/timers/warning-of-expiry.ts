import { pause } from '../../../../workflows/backoff.js';
import type { Clock } from '../../../domain/clock.js';
import { type ExpiryStore, warnOfExpiry } from '../../../domain/maintenance/expiry.js';
import type { Log } from '../../../telemetry/log.js';

export interface ExpiryWarnings {
  store: ExpiryStore;
  clock: Clock;
  failingLimitMs: number;
  log: Log;
  lookEveryMs?: number;
}

const LOOK_EVERY_MS = 60_000;

/** Warns of keys, tokens and secrets that expire soon, and of subscriptions that are about to be disabled. */
export function startWarningOfExpiry(options: ExpiryWarnings): { stop(): Promise<void> } {
  const ending = new AbortController();
  const running = keepWarning(options, ending.signal);
  return {
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}

async function keepWarning(
  { store, clock, failingLimitMs, log, lookEveryMs = LOOK_EVERY_MS }: ExpiryWarnings,
  signal: AbortSignal,
): Promise<void> {
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
  let isFailing = false;
  while (!signal.aborted) {
    try {
      await warnOfExpiry(store, listener, { clock, failingLimitMs });
      isFailing = false;
    } catch (error) {
      const reason = (error as Error).message;
      log[isFailing ? 'debug' : 'warn']('cannot look for what expires soon', { reason });
      isFailing = true;
    }
    await pause(lookEveryMs, signal);
  }
}

function asTime(ms: number): string {
  return new Date(ms).toISOString();
}
