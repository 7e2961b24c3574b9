/** How long a scrape waits for the database. */
const READING_LIMIT_MS = 1_000;

/** Shares one reading among concurrent callers; undefined if it fails or takes too long. */
export function sharedReading<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let present: Promise<T | undefined> | undefined;
  return () => {
    present ??= read()
      .catch(() => undefined)
      .finally(() => {
        present = undefined;
      });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), READING_LIMIT_MS);
    });
    return Promise.race([present, late]).finally(() => clearTimeout(timer));
  };
}
