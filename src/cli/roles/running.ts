import { pause } from '../../../workflows/backoff.js';
import type { Log } from '../../telemetry/log.js';

export interface Running {
  stop(): Promise<void>;
}

/** Starts work that ends when its signal is aborted. */
export function running(work: (ending: AbortSignal) => Promise<void>): Running {
  const ending = new AbortController();
  const ended = work(ending.signal);
  return {
    stop: async () => {
      ending.abort();
      await ended;
    },
  };
}

/** Logs failures of the work; of several in a row, only the first is a warning. */
export function failureLog(log: Log, message: string, onFailure: (error: unknown) => void = () => undefined) {
  let isFailing = false;
  return async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      isFailing = false;
    } catch (error) {
      onFailure(error);
      log[isFailing ? 'debug' : 'warn'](message, { reason: (error as Error).message });
      isFailing = true;
    }
  };
}

/** Repeats work, with pauses of this length. */
export function repeating(
  everyMs: number,
  log: Log,
  failure: string,
  work: (ending: AbortSignal) => Promise<void>,
): Running {
  const attempt = failureLog(log, failure);
  return running(async (ending) => {
    while (!ending.aborted) {
      await attempt(() => work(ending));
      await pause(everyMs, ending);
    }
  });
}
