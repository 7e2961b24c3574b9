import { setTimeout as delay } from 'node:timers/promises';

const GIVE_UP_AFTER_MS = 15_000;
const MAX_PAUSE_MS = 20;

/** Waits for another writer without blocking the event loop, as SQLite would. Random pauses are fair. */
export async function whenNotBusy(begin: () => unknown): Promise<void> {
  const givesUpAt = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    try {
      await begin();
      return;
    } catch (error) {
      const busy = (error as { code?: string }).code === 'SQLITE_BUSY';
      if (!busy || performance.now() > givesUpAt) {
        throw error;
      }
    }
    await delay(Math.random() * MAX_PAUSE_MS);
  }
}
