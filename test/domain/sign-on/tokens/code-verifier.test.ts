import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isCodeVerifier, provesChallenge } from '../../../../src/domain/sign-on/tokens/exchange-code.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';
const verifier = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 43, maxLength: 128 });

function challengeOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

describe('a code verifier', () => {
  test('proves the challenge that the standard gives as its example', () => {
    const example = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    expect(isCodeVerifier(example)).toBe(true);
    expect(provesChallenge(example, 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')).toBe(true);
  });

  test('of the right length and alphabet proves its own challenge and no other', () => {
    fc.assert(
      fc.property(verifier, verifier, (one, other) => {
        expect(isCodeVerifier(one)).toBe(true);
        expect(provesChallenge(one, challengeOf(one))).toBe(true);
        expect(provesChallenge(one, challengeOf(other))).toBe(one === other);
      }),
    );
  });

  test('never proves itself as its challenge, nor any other text', () => {
    fc.assert(
      fc.property(verifier, fc.string(), (one, text) => {
        expect(provesChallenge(one, one)).toBe(false);
        expect(provesChallenge(one, text)).toBe(false);
      }),
    );
  });

  test('of another length, or with one character of another alphabet, is none', () => {
    const foreign = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 1 })
      .filter((one) => !ALPHABET.includes(one));
    fc.assert(
      fc.property(verifier, foreign, fc.nat(42), (text, stranger, at) => {
        expect(isCodeVerifier(text.slice(0, at) + stranger + text.slice(at + 1))).toBe(false);
        expect(isCodeVerifier(text.slice(0, at))).toBe(false);
        expect(isCodeVerifier(text.padEnd(129 + at, 'a'))).toBe(false);
      }),
    );
  });
});
