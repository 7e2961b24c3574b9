import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../../store/store-error.js';
import type { Log } from '../../telemetry/log.js';
import { EndedEarly } from './role.js';

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;

/** Opens the store as soon as the database lets it: one that is down, busy or being migrated by another node is asked again, a wrong password is not. */
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
      // Partly random, so that nodes do not return together.
      const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 10));
      const waitMs = Math.round(delayMs * (0.5 + Math.random() / 2));
      log.warn('the database cannot be used yet', { reason: error.message, failures, nextTryInMs: waitMs });
      await sleep(waitMs, undefined, { signal: ending }).catch(() => undefined);
    }
    if (ending.aborted) {
      throw new EndedEarly();
    }
  }
}
