import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { deleteUser } from '../../../../src/domain/platform/people/user-updates.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { verified } from '../token-keys.js';
import {
  audited,
  exchangeCode,
  grantOf,
  hired,
  newApplication,
  newCode,
  REDIRECT_URI,
  type TokenRig,
  tokenRig,
} from '../token-rig.js';
import { narrowTo, withoutPlace, withPkce } from './withdrawals.js';

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

describe('the exchange of a code', () => {
  const under = databaseUnderTest('SQLite');

  test('gives an access token, a refresh token and an ID token, and keeps the grant', async () => {
    const rig = await tokenRig(under);
    const { code, exchange } = await newCode(rig, { nonce: 'n-0S6' });
    const tokens = await exchangeCode(rig.issuer, rig.application.client, exchange);

    expect(tokens).toEqual({
      accessToken: expect.any(String),
      refreshToken: rig.issuer.refreshTokens.seal(code.grantId, 1),
      idToken: expect.any(String),
      expiresInSeconds: 3_600,
      scope: 'openid profile email',
    });
    const now = rig.clock.now();
    expect(await grantOf(rig, code.grantId)).toEqual({
      id: code.grantId,
      applicationId: rig.application.id,
      accountId: rig.accountId,
      instanceId: rig.instanceId,
      scopes: ['openid', 'profile', 'email'],
      authenticatedAt: code.authenticatedAt,
      sessionId: 'session-1',
      generation: 1,
      rotatedAt: now,
      refreshExpiresAt: now + 30 * 86_400_000,
      refreshEndsAt: now + 365 * 86_400_000,
      expiresAt: now + 30 * 86_400_000,
      revokedAt: null,
    });
    expect(await audited(rig)).toEqual(['token.issued succeeded']);
  });

  test('signs an access token for this server alone, in ES256 and with its own type', async () => {
    const rig = await tokenRig(under);
    const { code, exchange } = await newCode(rig);
    const { accessToken } = await exchangeCode(rig.issuer, rig.application.client, exchange);
    const { claims, header } = await verified(rig.keys, rig.clock.now, accessToken);
    const iat = Math.floor(rig.clock.now() / 1_000);
    expect(header).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    expect(claims).toEqual({
      iss: rig.issuer.issuer,
      aud: rig.issuer.issuer,
      sub: rig.accountId,
      client_id: rig.application.id,
      iat,
      exp: iat + 3_600,
      jti: expect.stringMatching(/^[0-9A-Za-z]{16,}$/),
      scope: 'openid profile email',
      grant_id: code.grantId,
    });
  });

  test.each([
    { title: 'with the time of the sign-in, rounded down', code: {}, more: {} },
    {
      title: 'with that and the nonce of the request',
      code: { nonce: ' n "1" ' },
      more: { nonce: ' n "1" ' },
    },
  ])('signs an ID token $title', async ({ code: fields, more }) => {
    const rig = await tokenRig(under);
    const { exchange } = await newCode(rig, {
      scopes: ['openid'],
      authenticatedAt: 1_789_999_990_999,
      ...fields,
    });
    const { idToken, accessToken } = await exchangeCode(rig.issuer, rig.application.client, exchange);
    const { claims, header } = await verified(rig.keys, rig.clock.now, idToken as string);
    const iat = Math.floor(rig.clock.now() / 1_000);
    expect(header).toMatchObject({ alg: 'RS256', typ: 'JWT' });
    expect(claims).toEqual({
      iss: rig.issuer.issuer,
      sub: rig.accountId,
      aud: rig.application.id,
      iat,
      exp: iat + 3_600,
      auth_time: 1_789_999_990,
      acr: 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
      at_hash: createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url'),
      workerProfileId: expect.stringMatching(/^wpf_/),
      userIds: [{ id: rig.user.id, clientId: rig.clientId }],
      workerIds: [],
      lastLoginContext: { userType: 'USER', clientId: rig.clientId },
      ...more,
    });
  });

  test('says in the ID token what was chosen for this code, whatever was chosen for another since', async () => {
    const rig = await tokenRig(under);
    await hired(rig);
    const { accountId, instanceId, clientId } = rig;
    const { exchange } = await newCode(rig, { context: { userType: 'WORKER', clientId } });
    await rig.issuer.unitOfWork.run(({ loginContexts }) =>
      loginContexts.remember(accountId, instanceId, { userType: 'USER', clientId }, 1),
    );
    const { idToken } = await exchangeCode(rig.issuer, rig.application.client, exchange);
    const { claims } = await verified(rig.keys, rig.clock.now, idToken as string);
    expect(claims.lastLoginContext).toEqual({ userType: 'WORKER', clientId });
  });

  test.each([
    ['RS256', 'sha256', 16],
    ['ES256', 'sha256', 16],
    ['EdDSA', 'sha512', 32],
  ] as const)(
    'signs the ID token with %s where the application is registered for it, and hashes the access token by it',
    async (idTokenAlgorithm, hash, bytes) => {
      const rig = await tokenRig(under);
      const application = await newApplication(rig.issuer, rig.database, rig.instanceId, {
        idTokenAlgorithm,
      });
      const { exchange } = await newCode({ ...rig, application });
      const { idToken, accessToken } = await exchangeCode(rig.issuer, application.client, exchange);
      const { header, claims } = await verified(rig.keys, rig.clock.now, idToken as string);
      expect(header.alg).toBe(idTokenAlgorithm);
      const digest = createHash(hash).update(accessToken).digest();
      expect(claims.at_hash).toBe(digest.subarray(0, bytes).toString('base64url'));
    },
  );

  test('gives no ID token without the scope openid', async () => {
    const rig = await tokenRig(under);
    const { exchange } = await newCode(rig, { scopes: ['email'] });
    const tokens = await exchangeCode(rig.issuer, rig.application.client, exchange);
    expect(tokens).not.toHaveProperty('idToken');
    expect(tokens.scope).toBe('email');
  });

  test('gives no refresh token to an application that may not refresh', async () => {
    const rig = await tokenRig(under);
    const application = await newApplication(rig.issuer, rig.database, rig.instanceId, {
      allowedGrantTypes: ['authorization_code'],
    });
    const { code, exchange } = await newCode({ ...rig, application });
    expect(await exchangeCode(rig.issuer, application.client, exchange)).not.toHaveProperty('refreshToken');
    expect(await grantOf(rig, code.grantId)).toMatchObject({
      refreshExpiresAt: null,
      // The access token, and a minute more in which an answer that got lost may be said again.
      expiresAt: rig.clock.now() + 3_660_000,
    });
  });

  test('takes over the lifetimes that the operator gave the application', async () => {
    const rig = await tokenRig(under);
    const tokenLifetimes = { accessTokenSeconds: 90, refreshTokenSeconds: 7_200, idTokenSeconds: 60 };
    const application = await newApplication(rig.issuer, rig.database, rig.instanceId, { tokenLifetimes });
    const { code, exchange } = await newCode({ ...rig, application });
    const tokens = await exchangeCode(rig.issuer, application.client, exchange);
    const lifetimeOf = async (token: string | undefined) => {
      const { claims } = await verified(rig.keys, rig.clock.now, token as string);
      return (claims.exp as number) - (claims.iat as number);
    };
    expect(tokens.expiresInSeconds).toBe(90);
    expect(await lifetimeOf(tokens.accessToken)).toBe(90);
    expect(await lifetimeOf(tokens.idToken)).toBe(60);
    expect((await grantOf(rig, code.grantId))?.refreshExpiresAt).toBe(rig.clock.now() + 7_200_000);
  });

  test('takes a verifier that proves the challenge', async () => {
    const rig = await tokenRig(under);
    const { exchange } = await newCode(rig, { codeChallenge: CHALLENGE });
    const tokens = exchangeCode(rig.issuer, rig.application.client, { ...exchange, codeVerifier: VERIFIER });
    expect(await tokens).toHaveProperty('accessToken');
  });

  test('lets a public application in with its verifier and no secret', async () => {
    const rig = await tokenRig(under);
    const application = await newApplication(rig.issuer, rig.database, rig.instanceId, { type: 'public' });
    const { exchange } = await newCode({ ...rig, application }, { codeChallenge: CHALLENGE });
    const tokens = exchangeCode(rig.issuer, application.client, { ...exchange, codeVerifier: VERIFIER });
    expect(await tokens).toHaveProperty('refreshToken');
  });

  test('takes a code in its last millisecond and refuses it from the next one on', async () => {
    const rig = await tokenRig(under);
    const [timely, late] = [await newCode(rig), await newCode(rig)];
    rig.clock.advance(599_999);
    expect(await exchangeCode(rig.issuer, rig.application.client, timely.exchange)).toHaveProperty('scope');
    rig.clock.advance(1);
    const refusal = refusalOf(exchangeCode(rig.issuer, rig.application.client, late.exchange));
    expect(await refusal).toMatchObject({ code: 'INVALID_GRANT' });
    expect(await grantOf(rig, late.code.grantId)).toBeUndefined();
  });

  test('a second redemption fails and revokes what the first one gave, which is recorded once', async () => {
    const rig = await tokenRig(under);
    const { code, exchange } = await newCode(rig);
    await exchangeCode(rig.issuer, rig.application.client, exchange);
    for (let again = 0; again < 3; again += 1) {
      rig.clock.advance(1);
      const refusal = refusalOf(exchangeCode(rig.issuer, rig.application.client, exchange));
      expect(await refusal).toMatchObject({ code: 'INVALID_GRANT' });
    }
    expect((await grantOf(rig, code.grantId))?.revokedAt).toBe(rig.clock.now() - 2);
    expect(await audited(rig)).toEqual(['token.issued succeeded', 'code.replayed refused']);
  });

  test.each<[string, (rig: TokenRig) => Promise<unknown>]>([
    [
      'the user that was chosen is deleted',
      ({ issuer, user }) => issuer.unitOfWork.run((changes) => deleteUser(changes, { userId: user.id })),
    ],
    ['its redirect URI is removed', withoutPlace],
    ['its scopes are removed', (rig) => narrowTo(rig, ['openid'])],
    ['the application must use PKCE', withPkce],
  ])('a second redemption revokes also when meanwhile %s', async (_, end) => {
    const rig = await tokenRig(under);
    await hired(rig);
    const { code, exchange } = await newCode(rig, { scopes: ['email'] });
    await exchangeCode(rig.issuer, rig.application.client, exchange);
    await end(rig);
    const again = exchangeCode(rig.issuer, rig.application.client, exchange);
    expect(await refusalOf(again)).toMatchObject({ code: 'INVALID_GRANT' });
    expect((await grantOf(rig, code.grantId))?.revokedAt).toBe(rig.clock.now());
  });

  test.each<[string, (rig: TokenRig, grantId: string) => Promise<unknown>]>([
    [
      'that it revoked',
      ({ issuer, clock }, id) => issuer.unitOfWork.run(({ grants }) => grants.revoke(id, clock.now())),
    ],
    ['that was purged', ({ database }) => database.write((writer) => writer.deleteFrom('grants').execute())],
  ])('a further repetition opens no write, for a grant %s', async (_, end) => {
    const rig = await tokenRig(under);
    const { code, exchange } = await newCode(rig);
    await exchangeCode(rig.issuer, rig.application.client, exchange);
    await end(rig, code.grantId);
    const { unitOfWork } = rig.issuer;
    const run = () => Promise.reject(new Error('It asks for a transaction.'));
    const reading = { ...rig.issuer, unitOfWork: { ...unitOfWork, run } };
    const refusal = refusalOf(exchangeCode(reading, rig.application.client, exchange));
    expect(await refusal).toMatchObject({ code: 'INVALID_GRANT' });
  });

  test('a repetition that is not right in everything revokes nothing', async () => {
    const rig = await tokenRig(under);
    const { code, exchange } = await newCode(rig, { codeChallenge: CHALLENGE });
    const right = { ...exchange, codeVerifier: VERIFIER };
    await exchangeCode(rig.issuer, rig.application.client, right);
    const foreign = await newApplication(rig.issuer, rig.database, rig.instanceId);
    for (const attempt of [
      exchangeCode(rig.issuer, foreign.client, right),
      exchangeCode(rig.issuer, rig.application.client, exchange),
      exchangeCode(rig.issuer, rig.application.client, { ...right, redirectUri: `${REDIRECT_URI}/` }),
    ]) {
      expect(await refusalOf(attempt)).toMatchObject({ code: 'INVALID_GRANT' });
    }
    expect((await grantOf(rig, code.grantId))?.revokedAt).toBeNull();
  });
});
