import { beforeAll, describe, expect, test } from '@jest/globals';
import { SignJWT, UnsecuredJWT } from 'jose';
import type { SigningKey } from '../../src/domain/sign-on/keys/signing-keys.js';
import { ISSUER, oneOfEach, signingKey } from './ring-rig.js';
import { HOUR_MS, verifierRig } from './verifier-rig.js';

let keys: SigningKey[];
let rs256: SigningKey;
let es256: SigningKey;
let stranger: SigningKey;

beforeAll(async () => {
  keys = await oneOfEach();
  [rs256, es256] = keys as [SigningKey, SigningKey];
  stranger = await signingKey('ES256');
});

describe('an access token', () => {
  test('of ours is told in full', async () => {
    const { verifier, clock, token } = verifierRig(keys);
    const issuedAt = new Date(clock.now());
    await expect(verifier.verify(await token(es256))).resolves.toEqual({
      kid: es256.kid,
      tokenId: 'token-1',
      grantId: 'grant-1',
      clientId: 'app_1',
      accountId: 'acc_1',
      scope: 'openid email',
      issuedAt,
      expiresAt: new Date(issuedAt.getTime() + HOUR_MS),
    });
  });

  test('is good until its end and a quarter of an hour for clocks, the second time as the first', async () => {
    const { verifier, clock, token } = verifierRig(keys);
    const text = await token(es256);
    clock.advance(HOUR_MS + HOUR_MS / 4 - 1);
    await expect(verifier.verify(text)).resolves.toBeDefined();
    await expect(verifier.verify(text)).resolves.toBeDefined();
    clock.advance(1);
    await expect(verifier.verify(text)).resolves.toBeUndefined();
    await expect(verifierRig(keys).verifier.verify(text)).resolves.toBeDefined();
  });

  test('of a person without any scope is one', async () => {
    const { verifier, token } = verifierRig(keys);
    await expect(verifier.verify(await token(es256, { scope: '' }))).resolves.toMatchObject({ scope: '' });
  });
});

describe('what is no access token of ours', () => {
  type Token = ReturnType<typeof verifierRig>['token'];
  const seconds = 1_790_000_000;
  const forgeries: [what: string, token: (token: Token) => string | Promise<string>][] = [
    ['nothing', () => ''],
    ['a word', () => 'token'],
    ['three dots', () => '...'],
    ['an ID token', (token) => token(es256, {}, { typ: 'JWT' })],
    ['one without a type', (token) => token(es256, {}, { typ: undefined })],
    ['one of another algorithm, with our key', (token) => token(rs256)],
    ['one without a kid', (token) => token(es256, {}, { kid: undefined })],
    ['one of a stranger', (token) => token(stranger)],
    ['one of a stranger under our kid', (token) => token(stranger, {}, { kid: es256.kid })],
    [
      'one that brings its own key',
      (token) => token(stranger, {}, { kid: es256.kid, jwk: stranger.publicJwk }),
    ],
    ['one with a kid out of the prototype', (token) => token(es256, {}, { kid: '__proto__' })],
    ['one of another issuer', (token) => token(es256, { iss: 'https://demo.example.com' })],
    ['one for another audience', (token) => token(es256, { aud: 'https://api.example.com' })],
    ['one for us and another audience', (token) => token(es256, { aud: [ISSUER, 'other'] })],
    ['one that is over', (token) => token(es256, { exp: seconds - 900 })],
    ['one without an end', (token) => token(es256, { exp: undefined })],
    ['one with a text as its expiry', (token) => token(es256, { exp: '9999999999' })],
    ['one with a fractional expiry', (token) => token(es256, { exp: seconds + 0.5 })],
    ['one that says not when it was issued', (token) => token(es256, { iat: undefined })],
    ['one without a grant', (token) => token(es256, { grant_id: undefined })],
    ['one with a grant that is no text', (token) => token(es256, { grant_id: { id: 'grant-1' } })],
    ['one without an application', (token) => token(es256, { client_id: undefined })],
    ['one without an id', (token) => token(es256, { jti: undefined })],
    ['one without a subject', (token) => token(es256, { sub: undefined })],
    ['one with a list of scopes', (token) => token(es256, { scope: ['openid'] })],
    ['one beyond four kibibytes', (token) => token(es256, { more: 'x'.repeat(4_096) })],
    [
      'an unsigned one',
      () => new UnsecuredJWT({ iss: ISSUER, aud: ISSUER }).setExpirationTime('1h').encode(),
    ],
    [
      'one with our public key as its secret',
      () =>
        new SignJWT({ iss: ISSUER, aud: ISSUER })
          .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: es256.kid })
          .sign(Buffer.from(JSON.stringify(es256.publicJwk))),
    ],
  ];

  test.each(forgeries)('is refused: %s', async (_, make) => {
    const { verifier, token } = verifierRig(keys);
    const text = await make(token);
    await expect(verifier.verify(text)).resolves.toBeUndefined();
    await expect(verifier.verify(text)).resolves.toBeUndefined();
    await expect(verifier.verify(await token(es256))).resolves.toBeDefined();
  });

  test('is refused when one character of a good one is changed, after the good one was seen', async () => {
    const { verifier, token } = verifierRig(keys);
    const text = await token(es256);
    await verifier.verify(text);
    for (const place of [2, text.indexOf('.') + 9, text.lastIndexOf('.') + 9]) {
      const other = text[place] === 'A' ? 'B' : 'A';
      const changed = text.slice(0, place) + other + text.slice(place + 1);
      await expect(verifier.verify(changed)).resolves.toBeUndefined();
    }
  });
});
