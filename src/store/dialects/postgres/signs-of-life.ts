import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Patience } from './lent-connection.js';

/** One missing answer may be overload; this many in a row are a frozen or unreachable server. */
const MOST_UNANSWERED = 3;

/**
 * For statements without a limit: stops waiting when the server does not answer on another connection, or by
 * the signal.
 */
export function whileAlive(ask: () => Promise<unknown>, everyMs: number, end?: AbortSignal): Patience {
  return async (answer) => {
    const answered = new AbortController();
    const signal = end ? AbortSignal.any([answered.signal, end]) : answered.signal;
    try {
      return await Promise.race([answer, silence(ask, everyMs, signal)]);
    } catch (error) {
      end?.throwIfAborted();
      throw error;
    } finally {
      answered.abort();
    }
  };
}

/** Ends when the server stops answering, or by the signal. */
async function silence(ask: () => Promise<unknown>, everyMs: number, signal: AbortSignal): Promise<never> {
  let unanswered = 0;
  const hear = () => {
    unanswered = 0;
  };
  for (;;) {
    await pause(everyMs, undefined, { signal });
    if (unanswered === MOST_UNANSWERED) {
      throw new Error('PostgreSQL does not answer: timeout');
    }
    unanswered += 1;
    ask().then(hear, (error: unknown) => {
      // A refusal is an answer, for example when the server has no connection left.
      if (error instanceof pg.DatabaseError || (error as Error).cause instanceof pg.DatabaseError) {
        hear();
      }
    });
  }
}
