import { describe, expect, test } from '@jest/globals';
import { bothDue, isAnyDue, NONE_DUE } from '../../../../src/domain/webhooks/sending/due-signal.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';

const some = (count: number) => new Set(Array.from({ length: count }, () => newPublicId('SubscriptionId')));

describe('what is newly due', () => {
  test('is all that two writes have named', () => {
    const [one, other] = [some(2), some(3)];
    expect(bothDue(one, other)).toEqual(new Set([...one, ...other]));
    expect(bothDue(one, one)).toEqual(one);
    expect(bothDue(NONE_DUE, one)).toEqual(one);
  });

  test('is unknown if one of them has named nothing, or both together too much', () => {
    expect(bothDue(undefined, some(1))).toBeUndefined();
    expect(bothDue(some(1), undefined)).toBeUndefined();
    expect(bothDue(some(128), some(128))?.size).toBe(256);
    expect(bothDue(some(128), some(129))).toBeUndefined();
    expect(bothDue(NONE_DUE, some(257))).toBeUndefined();
  });

  test('is something also where it is unknown', () => {
    expect([undefined, some(1), NONE_DUE].map(isAnyDue)).toEqual([true, true, false]);
  });
});
