import { beforeAll, describe, expect, test } from '@jest/globals';
import { SignJWT, UnsecuredJWT } from 'jose';
import type { TokenAlgorithm } from '../../src/domain/operator/rows/applications.js';
import { MAX_ID_TOKEN_LENGTH } from '../../src/domain/sign-on/keys/signing.js';
import type { SigningKey } from '../../src/domain/sign-on/keys/signing-keys.js';
import { forge, ISSUER, oneOfEach, ringRig, signingKey } from './ring-rig.js';

const CLAIMS = { iss: ISSUER, sub: 'acc_1', aud: 'app_1', iat: 1, exp: 2 };
let keys: SigningKey[];
let rs256: SigningKey;
let es256: SigningKey;

beforeAll(async () => {
  keys = await oneOfEach();
  [rs256, es256] = keys as [SigningKey, SigningKey];
});

describe('an ID token of ours', () => {
  test.each<TokenAlgorithm>(['RS256', 'ES256', 'EdDSA'])(
    'with %s names its person, its audience and when it was issued, also long after its expiry',
    async (algorithm) => {
      const { ring } = ringRig(keys);
      const token = await ring.sign(algorithm, 'JWT', CLAIMS);
      await expect(ring.read(token)).resolves.toEqual({
        accountId: 'acc_1',
        applicationId: 'app_1',
        issuedAtSeconds: 1,
      });
    },
  );

  test('is read with several hundred clients of the person', async () => {
    const { ring } = ringRig(keys);
    const userIds = Array.from({ length: 450 }, (_, index) => `usr_${index}`.padEnd(100, 'x'));
    const token = await ring.sign('RS256', 'JWT', { ...CLAIMS, userIds });
    expect(token.length).toBeGreaterThan(60_000);
    await expect(ring.read(token)).resolves.toMatchObject({ accountId: 'acc_1' });
  });

  test('still says so when its key is retired, and no longer when it was withdrawn', async () => {
    const { ring, database } = ringRig(keys);
    const token = await ring.sign('RS256', 'JWT', CLAIMS);
    database.rows = [{ ...rs256, supersededAt: 5, retiresAt: 10, retiredAt: 10 }];
    await ring.reload();
    await expect(ring.read(token)).resolves.toMatchObject({ accountId: 'acc_1' });
    database.rows = [{ ...rs256, supersededAt: 5, retiresAt: 10, retiredAt: 9 }];
    await ring.reload();
    await expect(ring.read(token)).resolves.toBeUndefined();
  });
});

describe('what is no ID token of ours', () => {
  const forgeries: [what: string, token: () => string | Promise<string>][] = [
    ['nothing', () => ''],
    ['a word', () => 'token'],
    ['three words', () => 'a.b.c'],
    ['an access token', () => forge(rs256, CLAIMS, { typ: 'at+jwt' })],
    ['a token without a type', () => forge(rs256, CLAIMS, { typ: undefined })],
    ['a token without a kid', () => forge(rs256, CLAIMS, { kid: undefined })],
    ['one with a kid that is no text', () => forge(rs256, CLAIMS, { kid: 7 as never })],
    ['one with the kid of another key', () => forge(rs256, CLAIMS, { kid: es256.kid })],
    ['one with a kid out of the prototype', () => forge(rs256, CLAIMS, { kid: '__proto__' })],
    ['one of a key of our algorithm, and not ours', async () => forge(await signingKey('ES256'), CLAIMS)],
    [
      'one signed by a stranger under our kid',
      async () => forge(await signingKey('ES256'), CLAIMS, { kid: es256.kid }),
    ],
    ['one of another issuer', () => forge(rs256, { ...CLAIMS, iss: 'https://demo.example.com' })],
    ['one without an issuer', () => forge(rs256, { ...CLAIMS, iss: undefined })],
    ['one without a subject', () => forge(rs256, { ...CLAIMS, sub: undefined })],
    ['one about a number', () => forge(rs256, { ...CLAIMS, sub: 7 })],
    ['one for several', () => forge(rs256, { ...CLAIMS, aud: ['app_1', 'app_2'] })],
    ['an unsigned one', () => new UnsecuredJWT(CLAIMS).encode()],
    [
      'one with our public key as its secret',
      () =>
        new SignJWT(CLAIMS)
          .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: rs256.kid })
          .sign(Buffer.from(JSON.stringify(rs256.publicJwk))),
    ],
    [
      'one that brings its own key',
      async () => {
        const theirs = await signingKey('ES256');
        return forge(theirs, CLAIMS, { jwk: theirs.publicJwk, kid: es256.kid });
      },
    ],
    ['a huge one', () => forge(rs256, { ...CLAIMS, more: 'x'.repeat(MAX_ID_TOKEN_LENGTH) })],
  ];

  test.each(forgeries)('says nothing: %s', async (_, token) => {
    await expect(ringRig(keys).ring.read(await token())).resolves.toBeUndefined();
  });

  test('says nothing when a character of it is changed', async () => {
    const { ring } = ringRig(keys);
    const token = await ring.sign('ES256', 'JWT', CLAIMS);
    const parts = token.split('.');
    for (const place of [0, 1, 2]) {
      const changed = parts.map((part, index) =>
        index === place ? part.slice(0, 9) + (part[9] === 'A' ? 'B' : 'A') + part.slice(10) : part,
      );
      await expect(ring.read(changed.join('.'))).resolves.toBeUndefined();
    }
    await expect(ring.read(`${parts[0]}.${parts[1]}.`)).resolves.toBeUndefined();
  });
});
