import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { faultOf, normalizedPassword } from '../../../src/domain/credentials/passwords.js';

const NAMES = [
  'Jane.Miller+work@Example.com',
  'Jane Miller',
  'Tallowfern Ltd',
  'Harborlight',
  'Brightledger Portal',
];

test('a text that is too long in every form is kept as it is: to normalize it could take seconds', () => {
  const decomposed = 'e\u0301'.repeat(2_048);
  expect(normalizedPassword(decomposed)).toBe('\u00e9'.repeat(2_048));
  expect(normalizedPassword(`${decomposed}e`)).toBe(`${decomposed}e`);
});

describe('a password is refused', () => {
  test.each([
    ['fourteen rooks', 'too_short'],
    ['🔑🔒🗝🔐🚪🏠🛡⚓🎺🥁🎷🎸🎹🎻', 'too_short'],
    // Fifteen units and more that are fewer characters in the form in which it is kept.
    ['e\u0301a\u0301o\u0301u\u0301i\u0301xyz', 'too_short'],
    ['x'.repeat(257), 'too_long'],
    ['🔑'.repeat(257), 'too_long'],
    ['x'.repeat(1_000_000), 'too_long'],
  ])('of row %# as what it is', (password, fault) => {
    expect(faultOf(password, NAMES)).toBe(fault);
  });

  test.each([
    '',
    'password',
    'PassWord123',
    'iloveyou',
    'qwerty123',
    'summer',
    '12345678',
    '１２３４５６７８',
    'Summer2024!',
    'Summer 2024!!!!!!',
    'P@ssw0rd123',
    'P@ssw0rd-2026-!!',
    'passwordpassword',
    'letmeinletmeinletmein',
    'qwertyuiopasdfgh',
    'lkjhgfdsapoiuytrewq',
    'abcdefghijklmnopqrstuvwxyz',
    '1234567890123456789',
    '        ',
    '\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000',
    'x'.repeat(256),
    'abababababababababab',
  ])('of row %# as one that is guessed first', (password) => {
    expect(faultOf(password, NAMES)).toBe('too_common');
  });

  test.each([
    'tallowfern1',
    'Tallowfern2026!!!!',
    'T4ll0wf3rn-Harborlight',
    'jane.miller+work@example.com',
    'JANE.MILLER.1985.12.31',
    'brightledger-portal-login',
    'harborlight password',
  ])('%j as one of names that others know', (password) => {
    expect(faultOf(password, NAMES)).toBe('too_personal');
  });
});

describe('a password is taken', () => {
  test.each([
    'correct horse battery staple',
    'a quiet harbour',
    'seven quiet herons',
    '🔑🔒🗝🔐🚪🏠🛡⚓🎺🥁🎷🎸🎹🎻🥊',
    'jane.miller is my name, they say',
    'the password of mine to tallowfern',
    'one\0two three four',
    '  blanks at both ends  ',
    'zK8$vQ2!mW9&xR4t',
    `${'a long sentence about nothing, '.repeat(8)}`,
  ])('of row %#', (password) => {
    expect(faultOf(password, NAMES)).toBeUndefined();
  });

  test('any characters, when it is long enough and hard to guess', () => {
    const random = fc.string({ unit: 'grapheme-ascii', minLength: 20, maxLength: 80 });
    fc.assert(
      fc.property(random, (password) => {
        fc.pre(new Set(password.toLowerCase().replace(/[^a-z]/g, '')).size > 7);
        fc.pre(new Set(password.toLowerCase()).size > 12);
        expect(faultOf(password, NAMES)).toBeUndefined();
      }),
    );
  });
});

test('what is judged is what is hashed: however a password is spelled, the answer is one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (password) => {
      const normalized = normalizedPassword(password);
      expect(normalizedPassword(normalized)).toBe(normalized);
      expect(faultOf(password, NAMES)).toBe(faultOf(normalized, NAMES));
    }),
  );
});

test.each(['@example.com', 'no address', ''])('a name such as %j forbids nothing by accident', (name) => {
  expect(faultOf('a good long one indeed', [name])).toBeUndefined();
});
