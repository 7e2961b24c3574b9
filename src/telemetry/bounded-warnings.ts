import type { Log } from './log.js';

const WINDOW_MS = 60_000;
const MS_PER_SECOND = 1_000;

/**
 * Warnings that strangers can cause, in few lines a minute. The next line counts those left out; if there is
 * none, the first of them is written when the minute is over.
 */
export function boundedWarnings(
  log: Pick<Log, 'warn'>,
  mostPerMinute: number,
  clock = () => performance.now(),
): Log['warn'] {
  let startedAt = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let leftOut = 0;
  let atEnd: NodeJS.Timeout | undefined;
  const begin = () => {
    startedAt = clock();
    lines = 0;
    clearTimeout(atEnd);
    atEnd = undefined;
  };
  const write: Log['warn'] = (message, fields) => {
    lines += 1;
    log.warn(message, { ...fields, leftOut });
    leftOut = 0;
  };
  return (message, fields) => {
    const now = clock();
    if (now - startedAt >= WINDOW_MS) {
      begin();
    }
    if (lines < mostPerMinute) {
      write(message, fields);
      return;
    }
    leftOut += 1;
    const writeLate = () => {
      begin();
      leftOut -= 1;
      write(message, { ...fields, secondsAgo: Math.round((clock() - now) / MS_PER_SECOND) });
    };
    atEnd ??= setTimeout(writeLate, startedAt + WINDOW_MS - now).unref();
  };
}
