import { type PublicIdKind, type PublicIds, publicIdPrefixes } from '../../generated/ids.js';
import { randomBase62 } from './base62.js';

const SUFFIX_LENGTH = 22;
const SHARED_LENGTH = 6;
const MOST_NEIGHBOURS = 1_000;

/** Nothing but random characters, so that an id tells neither its age nor how many others there are. Order is for columns of their own. */
export function newPublicId<K extends PublicIdKind>(kind: K): PublicIds[K] {
  return `${publicIdPrefixes[kind]}_${randomBase62(SUFFIX_LENGTH)}` as PublicIds[K];
}

let neighbours = { beginning: '', left: 0 };

/**
 * For what is made by the thousand: up to 1,000 ids share six random characters, so that a database writes them to neighbouring places of its index instead of
 * to pages all over it. The other sixteen are random (95 bits). Such an id tells neither its age nor how many others there are.
 */
export function newNeighbouringId<K extends PublicIdKind>(kind: K): PublicIds[K] {
  if (neighbours.left === 0) {
    neighbours = { beginning: randomBase62(SHARED_LENGTH), left: MOST_NEIGHBOURS };
  }
  neighbours.left -= 1;
  const suffix = `${neighbours.beginning}${randomBase62(SUFFIX_LENGTH - SHARED_LENGTH)}`;
  return `${publicIdPrefixes[kind]}_${suffix}` as PublicIds[K];
}
