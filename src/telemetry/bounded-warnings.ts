import type { Log } from './log.js';

const WINDOW_MS = 60_000;

/** Warnings that strangers can cause, in few lines a minute; the next line counts those left out. */
export function boundedWarnings(
  log: Pick<Log, 'warn'>,
  mostPerMinute: number,
  clock = () => performance.now(),
): Log['warn'] {
  let startedAt = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let leftOut = 0;
  return (message, fields) => {
    const now = clock();
    if (now - startedAt >= WINDOW_MS) {
      startedAt = now;
      lines = 0;
    }
    if (lines >= mostPerMinute) {
      leftOut += 1;
      return;
    }
    lines += 1;
    log.warn(message, { ...fields, leftOut });
    leftOut = 0;
  };
}
