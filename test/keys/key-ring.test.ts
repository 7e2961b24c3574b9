import { beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from 'jose';
import type { TokenAlgorithm } from '../../src/domain/operator/rows/applications.js';
import type { SigningKey } from '../../src/domain/sign-on/keys/signing-keys.js';
import { ErrorCode } from '../../src/errors/service-error.js';
import { KnownKeys } from '../../src/keys/known-keys.js';
import { type Box, SealError, SealedBox } from '../../src/keys/sealed-box.js';
import { SecretsKeyError } from '../../src/keys/secrets-key.js';
import { eventually } from '../support/eventually.js';
import { box, ISSUER, oneOfEach, ringRig, signingKey } from './ring-rig.js';

const CLAIMS = { iss: ISSUER, sub: 'acc_1', aud: 'app_1' };
let keys: SigningKey[];

beforeAll(async () => {
  keys = await oneOfEach();
});

const kidOf = (token: string) => decodeProtectedHeader(token).kid;

describe('signing', () => {
  test.each<TokenAlgorithm>(['RS256', 'ES256', 'EdDSA'])(
    'with %s makes a token that verifies with the published set',
    async (algorithm) => {
      const { ring, activeKid } = ringRig(keys);
      const token = await ring.sign(algorithm, 'at+jwt', CLAIMS);
      expect(decodeProtectedHeader(token)).toEqual({
        alg: algorithm,
        typ: 'at+jwt',
        kid: activeKid(algorithm),
      });
      const published = (await ring.publicKeys()).keys.map(({ publicJwk }) => publicJwk as JWK);
      const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: published }), { issuer: ISSUER });
      expect(payload).toEqual(CLAIMS);
    },
  );

  test('passes to the next key at its time, without reading anything', async () => {
    const { ring, clock, database } = ringRig(keys);
    const next = await signingKey('ES256', { activatesAt: clock.now() + 5_000 });
    database.rows = [next, ...keys];
    const [first] = keys.filter(({ algorithm }) => algorithm === 'ES256');
    expect(kidOf(await ring.sign('ES256', 'JWT', CLAIMS))).toBe(first?.kid);
    clock.advance(4_999);
    expect(kidOf(await ring.sign('ES256', 'JWT', CLAIMS))).toBe(first?.kid);
    clock.advance(1);
    expect(kidOf(await ring.sign('ES256', 'JWT', CLAIMS))).toBe(next.kid);
    expect(database.loads).toBe(1);
  });

  test('without a key is an internal error that names the missing algorithm', async () => {
    const { ring } = ringRig([]);
    await expect(ring.sign('RS256', 'JWT', CLAIMS)).rejects.toMatchObject({
      code: ErrorCode.INTERNAL_ERROR,
      internal: 'no RS256 key is there to sign with',
    });
  });
});

describe('a node without the encryption key', () => {
  test('signs as soon as its key file has it, although the rows stay as they are', async () => {
    let held = new SealedBox(Buffer.alloc(32, 6));
    const open: Box['open'] = (...sealed) => held.open(...sealed);
    const { ring, activeKid } = ringRig(keys, { seal: box.seal, open });
    await expect(ring.sign('ES256', 'JWT', CLAIMS)).rejects.toThrow(SealError);
    held = box;
    expect(kidOf(await ring.sign('ES256', 'JWT', CLAIMS))).toBe(activeKid('ES256'));
  });

  test('signs with what it has opened, although the row was sealed anew with a key that it lacks', async () => {
    const { ring, clock, database, activeKid } = ringRig(keys);
    await ring.sign('ES256', 'JWT', CLAIMS);
    const other = new SealedBox(Buffer.alloc(32, 6));
    database.rows = keys.map((key) => {
      const content = box.open(key.sealedPrivateKey, key.kid);
      return { ...key, sealedPrivateKey: other.seal(content, key.kid) };
    });
    clock.advance(60_000);
    expect(kidOf(await ring.sign('ES256', 'JWT', CLAIMS))).toBe(activeKid('ES256'));
    expect(database.loads).toBe(2);
  });
});

describe('the start', () => {
  test('succeeds with the key file that sealed the keys', async () => {
    await expect(ringRig(keys).ring.ready()).resolves.toBeUndefined();
  });

  test('is refused with a sentence for the operator if the key file is another one', async () => {
    const { ring } = ringRig(keys, new SealedBox(Buffer.alloc(32, 6)));
    await expect(ring.ready()).rejects.toThrow(SecretsKeyError);
    await expect(ring.ready()).rejects.toThrow(/were sealed with another key file/);
  });

  test('is refused where one sealed key was replaced by another', async () => {
    const [rs256, es256, eddsa] = keys as [SigningKey, SigningKey, SigningKey];
    const swapped = { ...es256, sealedPrivateKey: eddsa.sealedPrivateKey };
    await expect(ringRig([rs256, swapped, eddsa]).ring.ready()).rejects.toThrow(SecretsKeyError);
  });
});

describe('the published set', () => {
  test('holds coming, present and past keys, public halves only, and no retired one', async () => {
    const { ring, clock, database } = ringRig(keys);
    const coming = await signingKey('ES256', { activatesAt: clock.now() + 1_000 });
    const retired = await signingKey('ES256', { supersededAt: 1, retiresAt: 2, retiredAt: 3 });
    database.rows = [coming, ...keys, retired];
    const { keys: set, maxAgeSeconds } = await ring.publicKeys();
    expect([set.map(({ kid }) => kid), maxAgeSeconds]).toEqual([
      [coming, ...keys].map(({ kid }) => kid),
      300,
    ]);
    for (const { kid, algorithm, publicJwk } of set) {
      expect(publicJwk).toMatchObject({ kid, alg: algorithm, use: 'sig' });
      expect(
        Object.keys(publicJwk).filter((name) => ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'].includes(name)),
      ).toEqual([]);
    }
  });

  test('is the last one known while the database is away, and reports it', async () => {
    const { ring, clock, database, errors } = ringRig(keys);
    const before = await ring.publicKeys();
    database.away = true;
    clock.advance(3_600_000);
    await expect(ring.publicKeys()).resolves.toEqual(before);
    expect(errors).toEqual([new Error('The database is away.')]);
  });

  test('is none while the database was never there', async () => {
    const { ring, database } = ringRig(keys);
    database.away = true;
    await expect(ring.publicKeys()).rejects.toThrow('The database is away.');
  });
});

describe('a key that is withdrawn', () => {
  const withdrawn = (key: SigningKey, now: number) => ({ ...key, supersededAt: now, retiredAt: now });

  test('is gone within fifteen seconds on every node', async () => {
    const { ring, clock, database } = ringRig(keys);
    const [key] = keys as [SigningKey];
    expect(await ring.isKnown(key.kid)).toBe(true);
    database.rows = [withdrawn(key, clock.now()), ...keys.slice(1)];
    clock.advance(15_000);
    expect(await ring.isKnown(key.kid)).toBe(false);
    expect((await ring.publicKeys()).keys.map(({ kid }) => kid)).not.toContain(key.kid);
  });

  test('is gone at once on the node that withdrew it', async () => {
    const { ring, clock, database } = ringRig(keys);
    const [key] = keys as [SigningKey];
    const next = await signingKey('RS256', { activatesAt: clock.now() });
    await ring.sign('RS256', 'JWT', CLAIMS);
    database.rows = [next, withdrawn(key, clock.now()), ...keys.slice(1)];
    await ring.reload();
    expect(await ring.isKnown(key.kid)).toBe(false);
    expect(kidOf(await ring.sign('RS256', 'JWT', CLAIMS))).toBe(next.kid);
  });
});

describe('reading the keys', () => {
  test('happens in the background once they are ten seconds old', async () => {
    const { ring, clock, database } = ringRig(keys);
    await ring.publicKeys();
    clock.advance(9_999);
    await ring.publicKeys();
    expect(database.loads).toBe(1);
    clock.advance(1);
    await Promise.all([ring.publicKeys(), ring.publicKeys(), ring.sign('ES256', 'JWT', CLAIMS)]);
    expect(database.loads).toBe(2);
    clock.advance(9_999);
    await ring.publicKeys();
    expect(database.loads).toBe(2);
  });

  test('is repeated at once for an unknown kid, yet not for each of a thousand', async () => {
    const { ring, clock, database } = ringRig(keys);
    await ring.publicKeys();
    const late = await signingKey('ES256');
    database.rows = [...keys, late];
    expect(await ring.isKnown(late.kid)).toBe(true);
    expect(database.loads).toBe(2);
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => ring.isKnown(`nobody-${index}`)));
    expect(database.loads).toBe(2);
    clock.advance(1_000);
    expect(await ring.isKnown('nobody')).toBe(false);
    expect(database.loads).toBe(3);
  });

  test('for a new kid is awaited by all callers that ask for it', async () => {
    const { ring, database } = ringRig(keys);
    await ring.publicKeys();
    const late = await signingKey('ES256');
    database.rows = [...keys, late];
    const answers = await Promise.all([1, 2, 3].map(() => ring.isKnown(late.kid)));
    expect([answers, database.loads]).toEqual([[true, true, true], 2]);
  });

  test('finds a key that another node has just made if it is wanted', async () => {
    const { ring, database } = ringRig(keys);
    await ring.publicKeys();
    const late = await signingKey('ES256');
    database.rows = [...keys, late];
    const kids = async (wanted?: string) => (await ring.publicKeys(wanted)).keys.map(({ kid }) => kid);
    expect(await kids()).not.toContain(late.kid);
    expect(await kids(late.kid)).toContain(late.kid);
    expect(database.loads).toBe(2);
  });

  test('for an unknown kid is an outage while it fails, also for callers in the second after it', async () => {
    const { ring, clock, database } = ringRig(keys);
    await ring.publicKeys();
    database.away = true;
    for (const _ of [1, 2]) {
      await expect(ring.isKnown('unknown')).rejects.toThrow('The database is away.');
    }
    expect(database.loads).toBe(2);
    database.away = false;
    clock.advance(1_000);
    await expect(ring.isKnown('unknown')).resolves.toBe(false);
  });

  test('anew after a change sees what was committed while another reading was under way', async () => {
    const reads: ((rows: readonly SigningKey[]) => void)[] = [];
    const known = new KnownKeys({
      load: () => new Promise((resolve) => reads.push(resolve)),
      clock: () => 0,
      onError: () => undefined,
    });
    const first = known.all();
    const reloaded = known.reload();
    reads[0]?.([]);
    await first;
    await eventually('a second reading', () => reads.length === 2);
    reads[1]?.(keys);
    await reloaded;
    await expect(known.all()).resolves.toBe(keys);
  });
});
