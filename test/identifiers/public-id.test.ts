import { expect, test } from '@jest/globals';
import { type PublicIdKind, publicIdPrefixes } from '../../generated/ids.js';
import { newPublicId } from '../../src/identifiers/public-id.js';
import { contractDocument } from '../support/contract-document.js';

const kinds = Object.entries(publicIdPrefixes) as [PublicIdKind, string][];

test.each(kinds)('a new %s is %s_ and 22 letters or digits', (kind, prefix) => {
  expect(newPublicId(kind)).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{22}$`));
});

test('no two kinds share a prefix', () => {
  const prefixes = kinds.map(([, prefix]) => prefix);
  expect(new Set(prefixes).size).toBe(prefixes.length);
});

test('ids do not repeat', () => {
  const made = Array.from({ length: 10_000 }, () => newPublicId('WorkerId'));
  expect(new Set(made).size).toBe(made.length);
});

test('every kind that the gateway shows satisfies the schema it is shown under', () => {
  const schemas = Object.entries(contractDocument('gateway').components?.schemas ?? {});
  const shown = schemas.filter(([name]) => name in publicIdPrefixes) as [PublicIdKind, { pattern: string }][];
  expect(shown.length).toBeGreaterThan(5);
  for (const [kind, { pattern }] of shown) {
    expect(newPublicId(kind)).toMatch(new RegExp(pattern));
  }
});
