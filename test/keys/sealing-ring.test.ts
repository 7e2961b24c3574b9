import { describe, expect, test } from '@jest/globals';
import { SealError, SealedBox } from '../../src/keys/sealed-box.js';
import { SealingRing } from '../../src/keys/sealing-ring.js';
import { newKey } from '../../src/keys/secrets-key.js';
import { subkeyOf } from '../../src/keys/subkeys.js';
import { newRing } from './ring-of-keys.js';

const content = Buffer.from('a secret');
const [first, second, third] = [newKey(), newKey(), newKey()] as const;

describe('a ring of encryption keys', () => {
  test('begins each seal with the id of its key, and seals with the one in use', () => {
    const ring = newRing(first);
    expect(ring.box('webhook-secrets').seal(content, 'sec_1')).toMatch(new RegExp(`^${first.id}\\.[\\w-]+$`));
    ring.hold([first, second]);
    expect(ring.box('webhook-secrets').seal(content, 'sec_1')).toMatch(new RegExp(`^${first.id}\\.`));
    ring.use(second.id, first.id);
    expect(ring.box('webhook-secrets').seal(content, 'sec_1')).toMatch(new RegExp(`^${second.id}\\.`));
  });

  test('opens seals of every generation, those of releases without ids among them', () => {
    const ring = new SealingRing([first, second, third]);
    const box = ring.box('signing-keys');
    const withoutId = new SealedBox(subkeyOf(first.bytes, 'signing-keys')).seal(content, 'kid');
    const seals = [first, second, third].map(({ id }) => {
      ring.use(id, first.id);
      return box.seal(content, 'kid');
    });
    for (const seal of [withoutId, ...seals]) {
      expect(box.open(seal, 'kid')).toEqual(content);
    }
  });

  test('opens no seal of a key that it lost, and names that key', () => {
    const ring = new SealingRing([first, second]);
    ring.use(first.id, first.id);
    const seal = ring.box('signing-keys').seal(content, 'kid');
    ring.use(second.id, first.id);
    ring.hold([second]);
    expect(() => ring.box('signing-keys').open(seal, 'kid')).toThrow(SealError);
    expect(() => ring.box('signing-keys').open(seal, 'kid')).toThrow(first.id);
    ring.hold([second, first]);
    expect(ring.box('signing-keys').open(seal, 'kid')).toEqual(content);
  });

  test.each<[string, (seal: string) => string]>([
    ['under the id of another key', (seal) => seal.replace(first.id, second.id)],
    ['without its id', (seal) => seal.slice(first.id.length)],
    ['with an id of nothing', (seal) => seal.replace(first.id, 'ek_0000000000000000')],
    ['of another purpose', () => newRing(first).box('token-keys').seal(content, 'kid')],
    ['of another name', () => newRing(first).box('signing-keys').seal(content, 'other')],
  ])('opens no seal %s', (_, change) => {
    const ring = new SealingRing([second, first]);
    ring.use(first.id, second.id);
    const box = ring.box('signing-keys');
    expect(() => box.open(change(box.seal(content, 'kid')), 'kid')).toThrow(SealError);
  });
});
