import type { Database, WriteOrigin, Writer } from '../database.js';

/** A write in which something may be noted, of which `tell` hears once as soon as the next write would find it. */
export function tellingWrite<T>(
  write: Database['write'],
  tell: () => void,
  work: (writer: Writer, note: () => void) => Promise<T>,
  origin?: WriteOrigin,
): Promise<T> {
  let isNoted = false;
  const note = () => {
    isNoted = true;
  };
  return write(
    (writer) => work(writer, note),
    () => {
      if (isNoted) {
        tell();
      }
    },
    origin,
  );
}
