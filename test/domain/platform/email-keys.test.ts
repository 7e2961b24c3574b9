import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { emailKeyOf } from '../../../src/domain/platform/people/email-keys.js';

describe('two addresses mean one mailbox', () => {
  test.each([
    ['in capitals', 'Jane.Miller@Example.COM', 'jane.miller@example.com'],
    ['with blanks around', '  jane@example.com\u00a0', 'jane@example.com'],
    ['composed and decomposed', 'jos\u00e9@example.com', 'jose\u0301@example.com'],
    ['in full width', '\uff4aane@\uff45xample\uff0ecom', 'jane@example.com'],
    ['with an ideographic dot', 'jane@example\u3002com', 'jane@example.com'],
    ['with a zero-width blank', 'ja\u200bne@exam\u200dple.com', 'jane@example.com'],
    ['with a soft hyphen and a byte order mark', '\ufeffja\u00adne@example.com', 'jane@example.com'],
    ['with a domain in letters and in Punycode', 'jane@b\u00fccher.example', 'jane@XN--BCHER-KVA.example'],
    ['with a ligature', 'o\ufb03ce@example.com', 'office@example.com'],
  ])('%s', (_, one, other) => {
    expect(emailKeyOf(one)).toBe(emailKeyOf(other));
  });
});

test.each([
  ['jane@example.com', 'jane+work@example.com'],
  ['jane@example.com', 'j.ane@example.com'],
  ['jose@example.com', 'jos\u00e9@example.com'],
  ['jane@a', 'jane@a/b'],
  ['jane@a%2eb', 'jane@a.b'],
  ['jane@example.com', 'jane'],
])('%j and %j mean two', (one, other) => {
  expect(emailKeyOf(one)).not.toBe(emailKeyOf(other));
});

test('a text that is too long for an address is its own key: to normalize it could take seconds', () => {
  const decomposed = 'e\u0301'.repeat(512);
  expect(emailKeyOf(decomposed)).toBe('\u00e9'.repeat(512));
  expect(emailKeyOf(`${decomposed}e`)).toBe(`${decomposed}e`);
});

test('the key of a key is the key, whatever was typed', () => {
  const address = fc.tuple(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
  );
  fc.assert(
    fc.property(address, ([local, domain]) => {
      const key = emailKeyOf(`${local}@${domain}.com`);
      expect(emailKeyOf(key)).toBe(key);
    }),
  );
});
