import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { randomBase62, toBase62 } from '../../src/identifiers/base62.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('random texts', () => {
  test('have the length that was asked for and nothing but letters and digits', () => {
    fc.assert(
      fc.property(fc.nat(500), (length) => {
        expect(randomBase62(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
      }),
    );
  });

  test('use every character equally often', () => {
    const perCharacter = 4_000;
    const counts = new Map([...ALPHABET].map((character) => [character, 0]));
    for (const character of randomBase62(perCharacter * ALPHABET.length)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    const chiSquare = [...counts.values()].reduce(
      (sum, count) => sum + (count - perCharacter) ** 2 / perCharacter,
      0,
    );
    // 61 degrees of freedom: a fair source exceeds 170 less than once in a billion runs.
    expect(chiSquare).toBeLessThan(170);
  });

  test('do not repeat', () => {
    const made = Array.from({ length: 10_000 }, () => randomBase62(22));
    expect(new Set(made).size).toBe(made.length);
  });
});

describe('numbers in base 62', () => {
  test.each([
    [0, 6, '000000'],
    [61, 6, '00000z'],
    [62, 6, '000010'],
    [2 ** 32 - 1, 6, '4gfFC3'],
    [62 ** 2 - 1, 2, 'zz'],
  ])('%i in %i characters is %s', (value, length, text) => {
    expect(toBase62(value, length)).toBe(text);
  });

  test('have the length asked for and can be read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (value) => {
        const text = toBase62(value, 6);
        const read = [...text].reduce((sum, character) => sum * 62 + ALPHABET.indexOf(character), 0);
        expect([text.length, read]).toEqual([6, value]);
      }),
    );
  });
});
