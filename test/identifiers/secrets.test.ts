import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hashSecret } from '../../src/identifiers/random-secrets.js';
import { newServiceToken } from '../../src/identifiers/service-token.js';

describe('the hash of a secret', () => {
  test('is SHA-256, as it stands in databases for years', () => {
    expect(hashSecret('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(hashSecret('').toString('hex')).toBe(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
  });

  test('is 32 bytes, the same for the same text and another for any other', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(hashSecret(one)).toHaveLength(32);
        expect(hashSecret(one).equals(hashSecret(other))).toBe(one === other);
      }),
    );
  });
});

describe('a service token', () => {
  test.each([
    ['operator', 'live'],
    ['operator', 'demo'],
    ['platform', 'live'],
    ['platform', 'demo'],
  ] as const)('of the %s on %s says so, before 48 random characters', (kind, environment) => {
    expect(newServiceToken(kind, environment)).toMatch(
      new RegExp(`^${kind}_${environment}_[0-9A-Za-z]{48}$`),
    );
  });

  test('is never the same as another', () => {
    const made = Array.from({ length: 1_000 }, () => newServiceToken('operator', 'demo'));
    expect(new Set(made).size).toBe(made.length);
  });
});
