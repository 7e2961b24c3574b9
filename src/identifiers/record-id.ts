import { randomBase62 } from './base62.js';

const SUFFIX_LENGTH = 22;

/** What has an id that only operators see, and so no public kind. */
export type RecordKind = 'key' | 'tok' | 'sec' | 'aud' | 'ach' | 'bat' | 'ntc';

export function newRecordId(kind: RecordKind): string {
  return `${kind}_${randomBase62(SUFFIX_LENGTH)}`;
}
