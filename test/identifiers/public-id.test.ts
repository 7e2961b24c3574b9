import { describe, expect, test } from '@jest/globals';
import { type PublicIdKind, publicIdPrefixes } from '../../generated/ids.js';
import { newNeighbouringId, newPublicId } from '../../src/identifiers/public-id.js';
import { contractDocument } from '../support/contract/contract-document.js';

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

describe('ids that are made one behind the other', () => {
  const LENGTH = 22;
  const made = Array.from({ length: 10_000 }, () => newPublicId('EventId').slice(-LENGTH));
  const pairs = made.slice(1).map((id, index) => [made[index] as string, id] as const);

  /** Six standard deviations of independent trials: exceeded by chance once in 500 million runs. */
  const expectAbout = (hits: number, trials: number, chance: number) => {
    const deviation = Math.sqrt(trials * chance * (1 - chance));
    expect(Math.abs(hits - trials * chance)).toBeLessThan(6 * deviation);
  };

  test('are in no order', () => {
    expectAbout(pairs.filter(([one, next]) => one < next).length, pairs.length, 1 / 2);
  });

  test.each(Array.from({ length: LENGTH }, (_, place) => place))(
    'have any character in place %s, whatever the one before has there',
    (place) => {
      const same = pairs.filter(([one, next]) => one[place] === next[place]).length;
      expectAbout(same, pairs.length, 1 / 62);
      const counts = new Map<string, number>();
      for (const id of made) {
        counts.set(id[place] as string, (counts.get(id[place] as string) ?? 0) + 1);
      }
      expect(counts.size).toBe(62);
      for (const count of counts.values()) {
        expectAbout(count, made.length, 1 / 62);
      }
    },
  );
});

describe('neighbouring ids', () => {
  const made = Array.from({ length: 10_000 }, () => newNeighbouringId('DeliveryId'));
  const countOf = (start: number, end?: number) => new Set(made.map((id) => id.slice(start, end))).size;
  const beginning = 'whd_'.length;

  test('have the shape of any id', () => {
    expect(made.filter((id) => !/^whd_[0-9A-Za-z]{22}$/.test(id))).toEqual([]);
  });

  test('share six characters with a thousand others at most', () => {
    expect(countOf(beginning, beginning + 6)).toBeGreaterThanOrEqual(10);
    expect(countOf(beginning, beginning + 6)).toBeLessThanOrEqual(11);
  });

  test('have sixteen characters of their own', () => {
    expect(countOf(beginning + 6)).toBe(made.length);
    const inOrder = made.slice(1).filter((id, index) => id > (made[index] as string)).length;
    expect(Math.abs(inOrder - made.length / 2)).toBeLessThan(6 * Math.sqrt(made.length / 4));
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
