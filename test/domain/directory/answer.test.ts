import { describe, expect, test } from '@jest/globals';
import { isKnown, type KnownVersions } from '../../../src/domain/directory/answer.js';

describe('a version', () => {
  test.each<{ title: string; known: KnownVersions; expected: boolean }>([
    { title: 'nothing is held', known: { values: [], any: false }, expected: false },
    { title: 'it is held', known: { values: ['now'], any: false }, expected: true },
    { title: 'it is one of several', known: { values: ['old', 'now'], any: false }, expected: true },
    { title: 'others are held', known: { values: ['old', 'NOW', 'now '], any: false }, expected: false },
    { title: 'any will do', known: { values: [], any: true }, expected: true },
  ])('is known when $title: $expected', ({ known, expected }) => {
    expect(isKnown('now', known)).toBe(expected);
  });
});
