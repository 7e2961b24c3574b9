import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { COMMON_PASSWORDS } from '../../../src/domain/credentials/common-passwords.js';
import { faultOf, normalizedPassword } from '../../../src/domain/credentials/password-rules.js';

const EMAIL = 'Jane.Miller+work@Example.com';

describe('a password is refused', () => {
  test.each([
    ['', 'too_short'],
    ['seven77', 'too_short'],
    ['🔑🔑🔑🔑🔑🔑🔑', 'too_short'],
    // Eight units that are four characters in the form in which it is kept.
    ['e\u0301'.repeat(4), 'too_short'],
    ['x'.repeat(257), 'too_long'],
    ['🔑'.repeat(257), 'too_long'],
    ['x'.repeat(1_000_000), 'too_long'],
    ['password', 'too_common'],
    ['PassWord123', 'too_common'],
    ['12345678', 'too_common'],
    ['１２３４５６７８', 'too_common'],
    ['jane.miller+work@example.com', 'too_common'],
    ['JANE.MILLER', 'too_common'],
    ['jane.miller+work', 'too_common'],
  ])('%.20j as %s', (password, fault) => {
    expect(faultOf(password, EMAIL)).toBe(fault);
  });
});

describe('a password is taken', () => {
  test.each([
    'eight888',
    'correct horse battery staple',
    '        ',
    '🔑🔒🗝🔐🚪🏠🛡⚓',
    'x'.repeat(256),
    '🔑'.repeat(256),
    'jane.miller is my name',
    'password of mine',
    'one\0two three',
  ])('%.30j', (password) => {
    expect(faultOf(password, EMAIL)).toBeUndefined();
  });

  test('whatever it is made of, when it is long enough and nobody else would think of it', () => {
    const random = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 80 });
    fc.assert(
      fc.property(random, (password) => {
        const characters = [...normalizedPassword(password)].length;
        fc.pre(characters >= 8 && characters <= 256);
        fc.pre(!COMMON_PASSWORDS.has(normalizedPassword(password).toLowerCase()));
        expect(faultOf(password, EMAIL)).toBeUndefined();
      }),
    );
  });
});

test('what is judged is what is hashed: however a password is spelled, the answer is one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (password) => {
      const normalized = normalizedPassword(password);
      expect(normalizedPassword(normalized)).toBe(normalized);
      expect(faultOf(password, EMAIL)).toBe(faultOf(normalized, EMAIL));
    }),
  );
});

test('the common ones are all such as could be chosen at all', () => {
  expect(COMMON_PASSWORDS.size).toBeGreaterThan(400);
  for (const password of COMMON_PASSWORDS) {
    expect([password.toLowerCase(), password.length >= 8]).toEqual([password, true]);
  }
});

test.each(['@example.com', 'no address', ''])(
  'an address such as %j forbids nothing by accident',
  (email) => {
    expect(faultOf('a good long one', email)).toBeUndefined();
  },
);
