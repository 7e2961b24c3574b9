import { type PublicIdKind, type PublicIds, publicIdPrefixes } from '../../generated/ids.js';
import { randomBase62 } from './base62.js';

const SUFFIX_LENGTH = 22;

export function newPublicId<K extends PublicIdKind>(kind: K): PublicIds[K] {
  return `${publicIdPrefixes[kind]}_${randomBase62(SUFFIX_LENGTH)}` as PublicIds[K];
}
