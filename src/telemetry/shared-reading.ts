import { within } from './within.js';

/** How long a scrape waits for the database. */
const READING_LIMIT_MS = 1_000;
/** An older value is not reported, so that an alert on its absence fires. */
const KEPT_MS = 60_000;

/**
 * Shares one reading among concurrent callers. If it takes longer than the limit, they get the last one while
 * that is recent. Undefined if the reading fails, or if there is no recent one.
 */
export function sharedReading<T>(
  read: () => Promise<T>,
  elapsedMs: () => number = () => performance.now(),
  limitMs = READING_LIMIT_MS,
): () => Promise<T | undefined> {
  let present: Promise<T | undefined> | undefined;
  let last: { found: T; at: number } | undefined;
  const keep = (found: T) => {
    last = { found, at: elapsedMs() };
    return found;
  };
  return () => {
    present ??= read()
      .then(keep)
      .catch(() => undefined)
      .finally(() => {
        present = undefined;
      });
    return within(limitMs, present, () => (last && elapsedMs() - last.at < KEPT_MS ? last.found : undefined));
  };
}
