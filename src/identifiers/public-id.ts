import { type PublicIdKind, type PublicIds, publicIdPrefixes } from '../../generated/ids.js';
import { randomBase62, toBase62 } from './base62.js';

const SUFFIX_LENGTH = 22;
/** Milliseconds since 1970 fit until the year 8889. */
const TIME_LENGTH = 8;

export function newPublicId<K extends PublicIdKind>(kind: K): PublicIds[K] {
  return `${publicIdPrefixes[kind]}_${randomBase62(SUFFIX_LENGTH)}` as PublicIds[K];
}

/** Begins with the time, so that rows in the order of their ids stand in the order of age. For what nobody need be kept from guessing the age of. */
export function newOrderedPublicId<K extends PublicIdKind>(kind: K, now: number): PublicIds[K] {
  return `${firstPublicIdOf(kind, now)}${randomBase62(SUFFIX_LENGTH - TIME_LENGTH)}` as PublicIds[K];
}

/** What the ordered ids of a time begin with, and those of no earlier time come behind. */
export function firstPublicIdOf(kind: PublicIdKind, now: number): string {
  return `${publicIdPrefixes[kind]}_${toBase62(now, TIME_LENGTH)}`;
}
