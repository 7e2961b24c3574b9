import { expect, test } from '@jest/globals';
import { newTimedRecordId } from '../../src/identifiers/record-id.js';

test('ids of audit records sort by their time', () => {
  const times = [0, 1, 61, 62, Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1) + 1, Date.UTC(2100, 0, 1)];
  const ids = times.map((time) => newTimedRecordId('aud', time));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids.map((id) => id.length))).toEqual(new Set(['aud_'.length + 22]));
});

test('ids of one moment differ', () => {
  expect(newTimedRecordId('aud', 1)).not.toBe(newTimedRecordId('aud', 1));
});
