import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formTokens, refreshTokens } from '../../src/keys/subkeys.js';

const key = Buffer.alloc(32, 3);
const tokens = refreshTokens(key);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const grantId = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));
const generation = fc.integer({ min: 1, max: 2 ** 32 - 1 });
const family = randomBytes(16).toString('base64url');
const token = tokens.seal(family, 7);

describe('a refresh token', () => {
  test('tells its family and generation, and is the same whenever it is made', () => {
    fc.assert(
      fc.property(grantId, generation, (id, number) => {
        const sealed = tokens.seal(id, number);
        expect(sealed).toMatch(/^[\w-]{70}$/);
        expect(tokens.open(sealed)).toEqual({ grantId: id, generation: number });
        expect(refreshTokens(key).seal(id, number)).toBe(sealed);
      }),
    );
  });

  test('is refused with any character changed: of its bits none is spare', () => {
    fc.assert(
      fc.property(fc.nat(69), fc.constantFrom(...ALPHABET), (place, character) => {
        fc.pre(token[place] !== character);
        expect(tokens.open(token.slice(0, place) + character + token.slice(place + 1))).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  test('is refused in each other spelling of the same bytes', () => {
    const bytes = Buffer.from(token, 'base64url');
    const last = ALPHABET.indexOf(token.at(-1) as string);
    const respelled = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
      .map((spare) => token.slice(0, -1) + ALPHABET[last ^ spare])
      .filter((text) => Buffer.from(text, 'base64url').equals(bytes));
    expect(respelled).not.toEqual([]);
    const others = [`${token}=`, `${token}==`, bytes.toString('base64'), ` ${token}`, `${token}\n`];
    expect([...respelled, ...others].map(tokens.open)).toEqual(
      [...respelled, ...others].map(() => undefined),
    );
  });

  test('is refused when it was made with another key', () => {
    expect(refreshTokens(Buffer.alloc(32, 4)).open(token)).toBeUndefined();
  });

  test('is stored nowhere', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: 'binary' })), (text) => {
        expect(tokens.open(text)).toBeUndefined();
      }),
    );
    expect(tokens.open('')).toBeUndefined();
    expect(tokens.open('A'.repeat(70))).toBeUndefined();
    expect(tokens.open('é'.repeat(70))).toBeUndefined();
    expect(tokens.open('A'.repeat(1_000_000))).toBeUndefined();
  });

  test.each(['', 'short', 'A'.repeat(23), '!'.repeat(22), `${'A'.repeat(21)}B`])(
    'is not made for what is no grant: %j',
    (id) => {
      expect(() => tokens.seal(id, 1)).toThrow(RangeError);
    },
  );

  test.each([-1, 0, 1.5, 2 ** 32, Number.NaN])('is not made for generation %d', (number) => {
    expect(() => tokens.seal(family, number)).toThrow(RangeError);
  });
});

describe('a form token', () => {
  const forms = formTokens(key);
  const parts = fc.array(fc.string(), { maxLength: 4 });

  test('matches what it was made for', () => {
    fc.assert(
      fc.property(parts, (made) => {
        expect(forms.matches(forms.make(...made), ...made)).toBe(true);
      }),
    );
  });

  test('matches no other parts, however they are cut', () => {
    const cut = fc
      .string({ minLength: 1 })
      .chain((text) => fc.tuple(fc.constant(text), fc.nat(text.length), fc.nat(text.length)));
    fc.assert(
      fc.property(cut, ([text, one, other]) => {
        fc.pre(one !== other);
        const made = forms.make(text.slice(0, one), text.slice(one));
        expect(forms.matches(made, text.slice(0, other), text.slice(other))).toBe(false);
      }),
    );
    expect(forms.matches(forms.make('ab', ''), 'ab')).toBe(false);
    expect(forms.matches(forms.make(), '')).toBe(false);
  });

  test('is refused changed, cut, of another key, or when it is no token at all', () => {
    const made = forms.make('session', 'interaction', '');
    const fakes = [
      '',
      made.slice(1),
      `${made}A`,
      made.replace(/^./, made.startsWith('A') ? 'B' : 'A'),
      'é'.repeat(43),
      formTokens(Buffer.alloc(32, 4)).make('session', 'interaction', ''),
    ];
    expect(fakes.map((fake) => forms.matches(fake, 'session', 'interaction', ''))).toEqual(
      fakes.map(() => false),
    );
  });
});
