import { backoffDelayMs, pause } from '../../../workflows/backoff.js';
import { StoreError } from '../../store/store-error.js';
import type { Log } from '../../telemetry/log.js';
import { EndedEarly } from './role.js';

const BETWEEN_TRIES = { firstDelayMs: 250, maxDelayMs: 10_000 };

/** Opens the store. Retries while the database is down, busy or being migrated; not on a wrong password. */
export async function openPatiently<Store>(
  open: () => Promise<Store>,
  log: Log,
  ending: AbortSignal,
): Promise<Store> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof StoreError && error.mayPass)) {
        throw error;
      }
      const waitMs = Math.round(backoffDelayMs(failures, BETWEEN_TRIES));
      log.warn('the database cannot be used yet', { reason: error.message, failures, nextTryInMs: waitMs });
      await pause(waitMs, ending);
    }
    if (ending.aborted) {
      throw new EndedEarly();
    }
  }
}
