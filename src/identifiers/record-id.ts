import { randomBase62, toBase62 } from './base62.js';

const SUFFIX_LENGTH = 22;
const TIME_LENGTH = 8;

/** Records with an id that only operators see, and so no public kind. */
export type RecordKind = 'key' | 'tok' | 'sec' | 'aud' | 'ach' | 'bat' | 'ntc' | 'inc';

export function newRecordId(kind: RecordKind): string {
  return `${kind}_${randomBase62(SUFFIX_LENGTH)}`;
}

/** An id that begins with the time: records are appended to an index instead of spread over its pages. */
export function newTimedRecordId(kind: RecordKind, now: number): string {
  return `${kind}_${toBase62(now, TIME_LENGTH)}${randomBase62(SUFFIX_LENGTH - TIME_LENGTH)}`;
}
