import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SealError, SealedBox } from '../../src/keys/sealed-box.js';
import { derivedKeys, firstTokenKeys, subkeyOf } from '../../src/keys/subkeys.js';
import { newRing } from './ring-of-keys.js';

const box = new SealedBox(randomBytes(32));

function changedAt(text: string, place: number, by: number): string {
  const bytes = Buffer.from(text, 'base64url');
  bytes[place % bytes.length] = (bytes[place % bytes.length] as number) ^ by;
  return bytes.toString('base64url');
}

describe('what is sealed', () => {
  test('opens for its name with its key', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (content, name) => {
        expect(box.open(box.seal(content, name), name)).toEqual(Buffer.from(content));
      }),
    );
  });

  test('does not open for another name', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, other) => {
        fc.pre(!Buffer.from(name).equals(Buffer.from(other)));
        expect(() => box.open(box.seal(Buffer.from('secret'), name), other)).toThrow(SealError);
      }),
    );
  });

  test('does not open once any bit of it is changed', () => {
    const sealed = box.seal(Buffer.from('secret'), 'kid');
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (place, by) => {
        expect(() => box.open(changedAt(sealed, place, by), 'kid')).toThrow(SealError);
      }),
    );
  });

  test.each([
    ['with another key', () => new SealedBox(randomBytes(32)).seal(Buffer.from('secret'), 'kid')],
    ['and cut short', () => box.seal(Buffer.from('secret'), 'kid').slice(0, -4)],
    ['as nothing', () => ''],
    ['as a version alone', () => 'AQ'],
    ['by something else', () => 'not what a box seals, but long enough to be something'],
  ])('%s does not open', (_, sealed) => {
    expect(() => box.open(sealed(), 'kid')).toThrow(SealError);
  });

  test('is another text each time, and shows nothing of its content', () => {
    const texts = new Set(Array.from({ length: 20 }, () => box.seal(Buffer.from('secret'), 'kid')));
    expect(texts.size).toBe(20);
    expect([...texts].some((text) => Buffer.from(text, 'base64url').includes('secret'))).toBe(false);
  });
});

describe('subkeys', () => {
  const purposes = ['signing-keys', 'refresh-tokens', 'form-tokens', 'idempotency', 'throttles'] as const;
  const key = Buffer.alloc(32, 7);

  test('are the same whenever they are derived, and one for each purpose and key file', () => {
    const derived = [key, Buffer.alloc(32, 8)].flatMap((each) =>
      purposes.map((purpose) => subkeyOf(each, purpose).toString('hex')),
    );
    expect(new Set(derived).size).toBe(10);
    expect(purposes.map((purpose) => subkeyOf(key, purpose).toString('hex'))).toEqual(derived.slice(0, 5));
    // Pinned: what a released version sealed opens in the next one.
    expect(derived[0]).toBe('0236c9d945345ab315de0992d32e71e393e8269e4fc0d2e45420910b6db43a76');
  });

  test('digest the same bytes differently for each purpose', () => {
    const keysOf = (bytes: Buffer) => derivedKeys(newRing(), firstTokenKeys(bytes));
    const { idempotency, throttles } = keysOf(key);
    expect(idempotency('x')).toEqual(idempotency(Buffer.from('x')));
    expect(idempotency('x')).not.toEqual(throttles('x'));
    expect(idempotency('x')).not.toEqual(keysOf(Buffer.alloc(32, 8)).idempotency('x'));
  });
});
