import { describe, expect, test } from '@jest/globals';
import { type PublicIdKind, publicIdPrefixes } from '../../generated/ids.js';
import { firstPublicIdOf, newOrderedPublicId, newPublicId } from '../../src/identifiers/public-id.js';
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

describe('ordered ids', () => {
  const now = Date.UTC(2026, 5, 1);

  test('look like the others', () => {
    expect(newOrderedPublicId('EventId', now)).toMatch(
      new RegExp(`^${publicIdPrefixes.EventId}_[0-9A-Za-z]{22}$`),
    );
  });

  test('stand in the order in which they were made, also within one time, and do not repeat', () => {
    const made = Array.from({ length: 10_000 }, (_, index) =>
      newOrderedPublicId('DeliveryId', now + Math.floor(index / 1_000)),
    );
    expect(made).toEqual([...new Set(made)].toSorted());
  });

  test('of a time come behind the first one of that time and before the first one of the next', () => {
    const id = newOrderedPublicId('DeliveryId', now);
    expect(id > firstPublicIdOf('DeliveryId', now)).toBe(true);
    expect(id < firstPublicIdOf('DeliveryId', now + 1)).toBe(true);
  });

  test('of a time that comes again do not repeat', () => {
    const times = Array.from({ length: 1_000 }, (_, index) => now + (index % 2));
    const made = times.map((time) => newOrderedPublicId('DeliveryId', time));
    expect(new Set(made).size).toBe(made.length);
  });
});

test('every kind that the gateway shows satisfies the schema it is shown under', () => {
  const schemas = Object.entries(contractDocument('gateway').components?.schemas ?? {});
  const shown = schemas.filter(([name]) => name in publicIdPrefixes) as [PublicIdKind, { pattern: string }][];
  expect(shown.length).toBeGreaterThan(5);
  for (const [kind, { pattern }] of shown) {
    expect(newPublicId(kind)).toMatch(new RegExp(pattern));
  }
});
