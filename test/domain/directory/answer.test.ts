import { describe, expect, test } from '@jest/globals';
import { isKnown } from '../../../src/domain/directory/reads.js';

describe('a version', () => {
  test.each([
    { title: 'nothing is held', known: { knownVersions: [], anyVersionKnown: false }, expected: false },
    { title: 'it is held', known: { knownVersions: ['now'], anyVersionKnown: false }, expected: true },
    {
      title: 'it is one of several',
      known: { knownVersions: ['old', 'now'], anyVersionKnown: false },
      expected: true,
    },
    {
      title: 'others are held',
      known: { knownVersions: ['old', 'NOW', 'now '], anyVersionKnown: false },
      expected: false,
    },
    { title: 'any will do', known: { knownVersions: [], anyVersionKnown: true }, expected: true },
  ])('is known when $title: $expected', ({ known, expected }) => {
    expect(isKnown('now', known)).toBe(expected);
  });
});
