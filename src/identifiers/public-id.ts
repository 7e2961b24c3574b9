import { type PublicIdKind, type PublicIds, publicIdPrefixes } from '../../generated/ids.js';
import { randomBase62 } from './base62.js';

const SUFFIX_LENGTH = 22;
const SHARED_LENGTH = 6;
const MOST_NEIGHBOURS = 1_000;

/** Random: an id discloses neither its age nor the number of others. Other columns keep order. */
export function newPublicId<K extends PublicIdKind>(kind: K): PublicIds[K] {
  return `${publicIdPrefixes[kind]}_${randomBase62(SUFFIX_LENGTH)}` as PublicIds[K];
}

let neighbours = { beginning: '', left: 0 };

/** For mass inserts: up to 1,000 ids share six characters, so they are neighbours in an index. */
export function newNeighbouringId<K extends PublicIdKind>(kind: K): PublicIds[K] {
  if (neighbours.left === 0) {
    neighbours = { beginning: randomBase62(SHARED_LENGTH), left: MOST_NEIGHBOURS };
  }
  neighbours.left -= 1;
  const suffix = `${neighbours.beginning}${randomBase62(SUFFIX_LENGTH - SHARED_LENGTH)}`;
  return `${publicIdPrefixes[kind]}_${suffix}` as PublicIds[K];
}
