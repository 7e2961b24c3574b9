import { type PublicIdKind, type PublicIds, publicIdPrefixes } from '../../generated/ids.js';
import { randomBase62 } from './base62.js';

const SUFFIX_LENGTH = 22;

/** Nothing but random characters, so that an id tells neither its age nor how many others there are. Order is for columns of their own. */
export function newPublicId<K extends PublicIdKind>(kind: K): PublicIds[K] {
  return `${publicIdPrefixes[kind]}_${randomBase62(SUFFIX_LENGTH)}` as PublicIds[K];
}
