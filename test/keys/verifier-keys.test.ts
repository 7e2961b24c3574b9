import { beforeAll, describe, expect, test } from '@jest/globals';
import type { SigningKey } from '../../src/domain/sign-on/keys/signing-keys.js';
import { VerifiedTokens } from '../../src/keys/access-token-verifier.js';
import { eventually } from '../support/eventually.js';
import { oneOfEach, ringRig, signingKey } from './ring-rig.js';
import { HOUR_MS, verifierRig } from './verifier-rig.js';

let keys: SigningKey[];
let es256: SigningKey;
let next: SigningKey;

beforeAll(async () => {
  keys = await oneOfEach();
  es256 = keys[1] as SigningKey;
  next = await signingKey('ES256');
});

describe('the keys of the verifier', () => {
  test('are fetched once for many tokens', async () => {
    const { verifier, domain, token } = verifierRig(keys);
    const texts = await Promise.all([1, 2, 3].map((jti) => token(es256, { jti: `${jti}` })));
    await Promise.all([...texts, ...texts].map((text) => verifier.verify(text)));
    expect(domain.fetches).toBe(1);
  });

  test('are fetched again at their age, while the ones at hand are used', async () => {
    const { verifier, clock, domain, token } = verifierRig(keys);
    const text = await token(es256);
    await verifier.verify(text);
    clock.advance(299_999);
    await verifier.verify(text);
    expect(domain.fetches).toBe(1);
    clock.advance(1);
    await expect(verifier.verify(text)).resolves.toBeDefined();
    expect(domain.fetches).toBe(2);
  });

  test('are fetched again after the clock was set back', async () => {
    const { verifier, clock, domain, token } = verifierRig(keys);
    const text = await token(es256);
    await verifier.verify(text);
    clock.advance(-10_000);
    await verifier.verify(text);
    expect(domain.fetches).toBe(2);
    clock.advance(10_000);
    await verifier.verify(text);
    expect(domain.fetches).toBe(2);
  });

  test('are fetched at once for an unknown kid, and unknown callers cannot make it fetch more often', async () => {
    const { verifier, clock, domain, token } = verifierRig(keys);
    await verifier.verify(await token(es256));
    domain.keys = [next, ...keys];
    clock.advance(1_000);
    await expect(verifier.verify(await token(next))).resolves.toMatchObject({ kid: next.kid });
    expect(domain).toMatchObject({ fetches: 2, wanted: next.kid });
    const forged = await Promise.all(
      Array.from({ length: 20 }, (_, index) => token(next, {}, { kid: `nobody-${index}` })),
    );
    const verifyForged = async () =>
      expect(await Promise.all(forged.map((text) => verifier.verify(text)))).toEqual(
        forged.map(() => undefined),
      );
    await verifyForged();
    clock.advance(999);
    await verifyForged();
    expect(domain.fetches).toBe(2);
    clock.advance(1);
    await verifyForged();
    expect(domain.fetches).toBe(3);
  });

  test.each([[{ toString: 1 }], [7], [null], [['a']]])(
    'are not fetched for a token whose kid is %j, which is no text',
    async (kid) => {
      const { verifier, domain, token } = verifierRig(keys);
      await expect(verifier.verify(await token(es256, {}, { kid }))).resolves.toBeUndefined();
      expect(domain.fetches).toBe(1);
    },
  );

  test('are looked up for a new kid also while an old set is replaced, whose answer comes later', async () => {
    const { verifier, clock, domain, token } = verifierRig(keys);
    const text = await token(es256);
    await verifier.verify(text);
    const before = domain.keys;
    clock.advance(300_000);
    const answer = domain.hold();
    await verifier.verify(text);
    domain.keys = [next, ...before];
    await expect(verifier.verify(await token(next))).resolves.toMatchObject({ kid: next.kid });
    await answer(before);
    await expect(verifier.verify(await token(next, { jti: 'later' }))).resolves.toBeDefined();
    expect(domain.fetches).toBe(3);
  });

  test('are not replaced by older ones of a domain that has not learned of a rotation yet', async () => {
    const [first, second] = [ringRig(keys), ringRig(keys)];
    await Promise.all([first, second].map(({ ring }) => ring.publicKeys()));
    const { verifier, clock, domain, token } = verifierRig(keys);
    await verifier.verify(await token(es256));
    const now = clock.now();
    const rotated = [
      next,
      ...keys.map((key) => ({ ...key, supersededAt: now, retiresAt: now, retiredAt: now })),
    ];
    first.database.rows = rotated;
    second.database.rows = rotated;
    const verifiedBy = async ({ ring }: typeof first, key: SigningKey, jti: string) => {
      clock.advance(1_000);
      domain.ask = (wantedKid) => ring.publicKeys(wantedKid);
      return verifier.verify(await token(key, { jti }));
    };
    await expect(verifiedBy(first, next, '1')).resolves.toBeDefined();
    await expect(verifiedBy(second, es256, '2')).resolves.toBeUndefined();
    await expect(verifier.verify(await token(next, { jti: '3' }))).resolves.toBeDefined();
  });

  test('that could not be looked up are an outage, without a fetch for each caller', async () => {
    const { verifier, clock, domain, token } = verifierRig(keys);
    await verifier.verify(await token(es256));
    domain.keys = [next];
    domain.away = true;
    clock.advance(1_000);
    const text = await token(next);
    for (const _ of [1, 2, 3]) {
      await expect(verifier.verify(text)).rejects.toThrow('The domain is away.');
    }
    expect(domain.fetches).toBe(2);
    domain.away = false;
    clock.advance(1_000);
    await expect(verifier.verify(text)).resolves.toMatchObject({ kid: next.kid });
  });

  test('continue to serve while the domain is away, and are replaced when it is back', async () => {
    const { verifier, clock, domain, token } = verifierRig(keys);
    const text = await token(es256, { exp: Math.floor(clock.now() / 1_000) + 48 * 3_600 });
    await verifier.verify(text);
    domain.away = true;
    clock.advance(24 * HOUR_MS);
    await expect(verifier.verify(text)).resolves.toBeDefined();
    await expect(verifier.verify(await token(es256, { jti: 'other' }))).resolves.toBeDefined();
    domain.away = false;
    domain.keys = [next];
    clock.advance(10_000);
    await verifier.verify(text);
    await expect(verifier.verify(await token(next))).resolves.toBeDefined();
  });

  test('that could not be fetched are an outage, not an invalid token', async () => {
    const { verifier, domain, token } = verifierRig(keys);
    domain.away = true;
    await expect(verifier.verify(await token(es256))).rejects.toThrow('The domain is away.');
    domain.away = false;
    await expect(verifier.verify(await token(es256))).resolves.toBeDefined();
  });

  test('invalidate the tokens that they had verified when they are withdrawn', async () => {
    const { verifier, clock, domain, token } = verifierRig(keys);
    const text = await token(es256);
    await expect(verifier.verify(text)).resolves.toBeDefined();
    domain.keys = [next];
    clock.advance(300_000);
    await eventually('the other set', async () => (await verifier.verify(text)) === undefined);
  });

  test('may hold others that are of no use here', async () => {
    const { verifier, domain, token } = verifierRig([]);
    domain.keys = keys.filter(({ algorithm }) => algorithm !== 'ES256');
    await expect(verifier.verify(await token(es256))).resolves.toBeUndefined();
  });
});

describe('tokens that were verified a moment ago', () => {
  const until = (expiresAt: number) => ({ expiresAt: new Date(expiresAt) });

  test('are ten thousand at most, and the longest unused ones go', () => {
    const tokens = new VerifiedTokens();
    for (let index = 0; index < 10_000; index += 1) {
      tokens.add(`${index}`, until(10), 0);
    }
    tokens.find('0', 1);
    tokens.add('another', until(10), 0);
    expect([tokens.find('0', 1), tokens.find('1', 1), tokens.find('another', 1)]).toEqual([
      until(10),
      undefined,
      until(10),
    ]);
  });

  test('are not kept where the keys changed meanwhile', () => {
    const tokens = new VerifiedTokens();
    const { generation } = tokens;
    tokens.clear();
    tokens.add('late', until(10), generation);
    expect(tokens.find('late', 1)).toBeUndefined();
  });
});
