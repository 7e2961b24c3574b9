import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Patience } from './postgres-driver.js';

/** One question without an answer may be a moment's overload; so many in a row are a server that is frozen or cut off. */
const MOST_UNANSWERED = 3;

/**
 * For statements that may take as long as they need: while one runs, the server is asked something else again and again, over another connection, and the wait ends when that
 * is not answered either.
 */
export function whileAlive(ask: () => Promise<unknown>, everyMs: number): Patience {
  return async (answer) => {
    const answered = new AbortController();
    try {
      return await Promise.race([answer, silence(ask, everyMs, answered.signal)]);
    } finally {
      answered.abort();
    }
  };
}

/** Ends when the server is silent, or by the signal. */
async function silence(ask: () => Promise<unknown>, everyMs: number, signal: AbortSignal): Promise<never> {
  let unanswered = 0;
  const hear = () => {
    unanswered = 0;
  };
  for (;;) {
    await pause(everyMs, undefined, { signal });
    if (unanswered === MOST_UNANSWERED) {
      throw new Error('PostgreSQL gives no sign of life: timeout');
    }
    unanswered += 1;
    ask().then(hear, (error: unknown) => {
      // One that is refused is answered, such as by a server that has no connection left.
      if (error instanceof pg.DatabaseError) {
        hear();
      }
    });
  }
}
