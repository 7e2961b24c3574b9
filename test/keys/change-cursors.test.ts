import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { InstanceIntegrationId } from '../../generated/ids.js';
import type { ReaderPlace } from '../../src/domain/directory/changes.js';
import { ENTITY_TYPES } from '../../src/domain/directory/stores.js';
import { ErrorCode } from '../../src/errors/service-error.js';
import { changeCursors } from '../../src/keys/change-cursors.js';

const { write, read } = changeCursors(randomBytes(32));
const READER = 'iin_HnuQOy4YQg1OdOSCDbMAkY' as InstanceIntegrationId;
const OTHER = 'iin_0000000000000000000000' as InstanceIntegrationId;
/** The cursor shows the same four characters of it. */
const SIMILAR = 'iin_HnuQ000000000000000000' as InstanceIntegrationId;

const number = fc.nat(Number.MAX_SAFE_INTEGER);
const anyPlace: fc.Arbitrary<ReaderPlace> = fc
  .record({
    life: fc.stringMatching(/^[0-9a-f]{12}$/),
    after: fc.record({
      position: number,
      // The last one is of a newer release.
      type: fc.constantFrom(...ENTITY_TYPES, 'zone'),
      id: fc.stringMatching(/^[a-z]{3}_[0-9A-Za-z]{22}$/),
    }),
    beganAt: number,
    isLoading: fc.boolean(),
    newest: number,
  })
  // A load that began at the beginning is over.
  .map((at) => ({ ...at, isLoading: at.isLoading && at.beganAt > 0 }));
const place: ReaderPlace = {
  life: '8c1f02d4a7b9',
  after: { position: 1_000_003, type: 'worker', id: 'wrk_l50ycP5H6CnQHxa7Xt2y3d' },
  beganAt: 1_000_001,
  isLoading: true,
  newest: 1_000_007,
};

const refused = expect.objectContaining({
  code: ErrorCode.INVALID_REQUEST,
  message: 'The cursor or page token is not from this list.',
});
const sealIn = (cursor: string) => cursor.split('.')[2] as string;
const bytesIn = (cursor: string) => Buffer.from(sealIn(cursor), 'base64url');

describe('a cursor of the sequence of changes', () => {
  test('gives its place back, is the same each time, and fits the contract', () => {
    fc.assert(
      fc.property(anyPlace, (at) => {
        const cursor = write(at, READER);
        expect(cursor.length).toBeLessThanOrEqual(128);
        expect(encodeURIComponent(cursor)).toBe(cursor);
        expect(read(cursor, READER)).toEqual(at);
        expect(write(at, READER)).toBe(cursor);
      }),
    );
  });

  test('holds every number up to the largest safe integer', () => {
    for (const most of [0, 1, 2 ** 32, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER]) {
      const after = { ...place.after, position: most };
      for (const isLoading of most === 0 ? [false] : [true, false]) {
        const at = { ...place, after, beganAt: most, isLoading, newest: most };
        expect(read(write(at, READER), READER)).toEqual(at);
      }
    }
  });

  test('is refused for another instance integration', () => {
    expect(() => read(write(place, READER), OTHER)).toThrow(refused);
  });

  test('that is none is refused', () => {
    const text = fc.oneof(
      fc.string(),
      anyPlace.map((at) => write(at, READER).slice(0, -1)),
      anyPlace.map((at) => `.${write(at, READER)}`),
      anyPlace.map((at) => `${write(at, READER)}\n`),
    );
    fc.assert(
      fc.property(text, (cursor) => {
        expect(() => read(cursor, READER)).toThrow(refused);
      }),
    );
  });

  test('shows the entity, and nothing of the positions and their size', () => {
    fc.assert(
      fc.property(anyPlace, fc.integer({ min: 1, max: 1_000 }), (at, more) => {
        const { life, after, beganAt, newest } = at;
        const cursor = write(at, READER);
        expect(cursor).toMatch(new RegExp(`^${after.type}\\.${after.id}\\.[\\w-]{62}\\.HnuQ$`));
        const later = { ...at, after: { ...after, position: (after.position + more) % 2 ** 53 } };
        expect(sealIn(write(later, READER))).not.toBe(sealIn(cursor));
        const bytes = bytesIn(cursor);
        expect(bytes.includes(Buffer.from(life, 'hex'))).toBe(false);
        for (const hidden of [after.position, beganAt, newest]) {
          const [integer, double] = [Buffer.alloc(8), Buffer.alloc(8)];
          integer.writeBigUInt64BE(BigInt(hidden));
          double.writeDoubleBE(hidden);
          expect([bytes.includes(integer), bytes.includes(double)]).toEqual([false, false]);
        }
      }),
    );
  });

  test('is as different from that of the next position, entity or reader as if it were random', () => {
    const at = (position: number, id = place.after.id) => ({
      ...place,
      after: { ...place.after, position, id },
    });
    const cursors = [
      ...Array.from({ length: 200 }, (_, position) => write(at(position), READER)),
      write(at(1, 'wrk_0000000000000000000000'), READER),
      write(at(1), OTHER),
      write(at(1), SIMILAR),
    ];
    for (const [from, to] of [
      [0, 16],
      [16, 24],
      [24, 32],
      [32, 46],
    ]) {
      const parts = cursors.map((cursor) => bytesIn(cursor).toString('hex', from, to));
      expect(new Set(parts).size).toBe(cursors.length);
    }
  });

  test.each<[string, (cursor: string) => string]>([
    ['another entity', (cursor) => cursor.replace('wrk_l50', 'wrk_l51')],
    ['an entity of another kind', (cursor) => cursor.replace('worker', 'user')],
    ['an entity of no known kind', (cursor) => cursor.replace('worker', 'banker')],
    [
      'the seal of another cursor',
      (cursor) => {
        const after = { ...place.after, id: 'wrk_0000000000000000000000' };
        return cursor.replace(sealIn(cursor), sealIn(write({ ...place, after }, READER)));
      },
    ],
    [
      'the seal of an instance integration with a similar id',
      (cursor) => cursor.replace(sealIn(cursor), sealIn(write(place, SIMILAR))),
    ],
    ['another spelling of its seal', (cursor) => cursor.replace(sealIn(cursor), respelled(sealIn(cursor)))],
  ])('has no place with %s', (_, changed) => {
    const cursor = write(place, READER);
    expect(changed(cursor)).not.toBe(cursor);
    expect(read(changed(cursor), READER)).toBeUndefined();
  });

  test('has no place once any bit of its seal is changed', () => {
    const cursor = write(place, READER);
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (where, by) => {
        const bytes = bytesIn(cursor);
        bytes[where % bytes.length] = (bytes[where % bytes.length] as number) ^ by;
        const changed = cursor.replace(sealIn(cursor), bytes.toString('base64url'));
        expect(read(changed, READER)).toBeUndefined();
      }),
    );
  });

  test('has no place where the database has another key, as in a copy from before the key', () => {
    const later = changeCursors(randomBytes(32));
    expect(later.read(write(place, READER), READER)).toBeUndefined();
  });
});

/** The last character has four bits that are not of the bytes. */
function respelled(seal: string): string {
  const last = seal.charCodeAt(seal.length - 1);
  const spelled = `${seal.slice(0, -1)}${String.fromCharCode(last + 1)}`;
  expect(Buffer.from(spelled, 'base64url')).toEqual(Buffer.from(seal, 'base64url'));
  return spelled;
}
