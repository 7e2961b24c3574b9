import { type PublicIdKind, type PublicIds, publicIdPrefixes } from '../../generated/ids.js';
import { randomBase62, toBase62 } from './base62.js';

const SUFFIX_LENGTH = 22;
/** Milliseconds since 1970 fit until the year 8889. */
const TIME_LENGTH = 8;
const COUNT_LENGTH = 4;
const MOST_COUNTED = 62 ** COUNT_LENGTH;

export function newPublicId<K extends PublicIdKind>(kind: K): PublicIds[K] {
  return `${publicIdPrefixes[kind]}_${randomBase62(SUFFIX_LENGTH)}` as PublicIds[K];
}

/** Random once for each time that is met, so that what several processes count does not meet. */
let counted = { time: Number.NaN, start: '', count: 0 };

/**
 * Begins with the time and goes on with a count, so that rows in the order of their ids stand in the order in which they were made, which is also where
 * a database writes many of them fastest. For what nobody need be kept from guessing the age of, nor its neighbours.
 */
export function newOrderedPublicId<K extends PublicIdKind>(kind: K, now: number): PublicIds[K] {
  if (now !== counted.time || counted.count === MOST_COUNTED) {
    const start = `${toBase62(now, TIME_LENGTH)}${randomBase62(SUFFIX_LENGTH - TIME_LENGTH - COUNT_LENGTH)}`;
    counted = { time: now, start, count: 0 };
  }
  const count = toBase62(counted.count, COUNT_LENGTH);
  counted.count += 1;
  return `${publicIdPrefixes[kind]}_${counted.start}${count}` as PublicIds[K];
}

/** What the ordered ids of a time begin with, and those of no earlier time come behind. */
export function firstPublicIdOf(kind: PublicIdKind, now: number): string {
  return `${publicIdPrefixes[kind]}_${toBase62(now, TIME_LENGTH)}`;
}
