import { describe, expect, test } from '@jest/globals';
import { addRedirectUri, updateApplication } from '../../../../src/domain/operator/applications.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { randomText, verified } from '../token-keys.js';
import {
  audited,
  grantOf,
  newApplication,
  operate,
  rotateRefreshToken,
  signedIn,
  type TokenRig,
  tokenRig,
} from '../token-rig.js';
import { narrowTo, WITHDRAWALS, withoutPlace } from './withdrawals.js';

const DAY_MS = 86_400_000;

function refresh(rig: TokenRig, refreshToken: string, scope?: string) {
  return rotateRefreshToken(rig.issuer, rig.application.client, { refreshToken, scope });
}

describe('a refresh', () => {
  const under = databaseUnderTest('SQLite');

  test('gives a fresh access token and the one successor, and no ID token', async () => {
    const rig = await tokenRig(under);
    const { refreshToken, accessToken, grantId } = await signedIn(rig);
    rig.clock.advance(3_000_000);
    const tokens = await refresh(rig, refreshToken);
    expect(tokens).toEqual({
      accessToken: expect.any(String),
      refreshToken: rig.issuer.refreshTokens.seal(grantId, 2),
      expiresInSeconds: 3_600,
      scope: 'openid profile email',
    });
    const [before, after] = [
      await verified(rig.keys, rig.clock.now, accessToken),
      await verified(rig.keys, rig.clock.now, tokens.accessToken),
    ];
    expect(after.claims).toEqual({
      ...before.claims,
      iat: (before.claims.iat as number) + 3_000,
      exp: (before.claims.exp as number) + 3_000,
      jti: expect.any(String),
    });
    expect(after.claims.jti).not.toBe(before.claims.jti);
    expect(await audited(rig)).toEqual(['token.issued succeeded']);
  });

  test('renews the lifetime each time', async () => {
    const rig = await tokenRig(under);
    let { refreshToken, grantId } = await signedIn(rig);
    for (let round = 0; round < 4; round += 1) {
      rig.clock.advance(29 * DAY_MS);
      refreshToken = (await refresh(rig, refreshToken)).refreshToken as string;
    }
    expect(await grantOf(rig, grantId)).toMatchObject({
      generation: 5,
      rotatedAt: rig.clock.now(),
      refreshExpiresAt: rig.clock.now() + 30 * DAY_MS,
      expiresAt: rig.clock.now() + 30 * DAY_MS,
    });
  });

  test('is too late with the millisecond in which the token ends, and that is no reuse', async () => {
    const rig = await tokenRig(under);
    const { refreshToken, grantId } = await signedIn(rig);
    rig.clock.advance(30 * DAY_MS);
    expect(await refusalOf(refresh(rig, refreshToken))).toMatchObject({ code: 'INVALID_GRANT' });
    expect((await grantOf(rig, grantId))?.revokedAt).toBeNull();
  });

  test('repeats the same successor for a minute, with another access token', async () => {
    const rig = await tokenRig(under);
    const { refreshToken, grantId } = await signedIn(rig);
    const first = await refresh(rig, refreshToken);
    rig.clock.advance(60_000);
    const again = await refresh(rig, refreshToken, 'email');
    expect(again.refreshToken).toBe(first.refreshToken);
    expect(again.scope).toBe('email');
    expect(rig.observed).toMatchObject([
      {
        type: 'refresh_token.retried',
        outcome: 'succeeded',
        actor: { type: 'application', id: rig.application.id },
        subject: { type: 'account', id: rig.accountId },
        attributes: { grant_id: grantId, instance_id: rig.instanceId },
      },
    ]);
    expect(await grantOf(rig, grantId)).toMatchObject({
      generation: 2,
      rotatedAt: rig.clock.now() - 60_000,
      revokedAt: null,
    });
    rig.clock.advance(1);
    expect(await refusalOf(refresh(rig, refreshToken))).toMatchObject({ code: 'INVALID_GRANT' });
    expect((await grantOf(rig, grantId))?.revokedAt).toBe(rig.clock.now());
  });

  test('with a token that has a used successor revokes the family, within the window too', async () => {
    const rig = await tokenRig(under);
    const { refreshToken, grantId } = await signedIn(rig);
    const { refreshToken: second } = await refresh(rig, refreshToken);
    const { refreshToken: third } = await refresh(rig, second as string);
    expect(await refusalOf(refresh(rig, refreshToken))).toMatchObject({ code: 'INVALID_GRANT' });
    expect((await grantOf(rig, grantId))?.revokedAt).toBe(rig.clock.now());
    expect(await refusalOf(refresh(rig, third as string))).toMatchObject({ code: 'INVALID_GRANT' });
    const refused = (await audited(rig)).filter((line) => line.endsWith('refused'));
    expect(refused).toEqual(['refresh_token.reused refused']);
  });

  test.each([
    { asked: undefined, given: 'openid profile email' },
    { asked: '', given: 'openid profile email' },
    { asked: 'email openid', given: 'openid email' },
    { asked: 'email email', given: 'email' },
  ])('asked for the scope “$asked” gives “$given”', async ({ asked, given }) => {
    const rig = await tokenRig(under);
    const { refreshToken } = await signedIn(rig);
    expect((await refresh(rig, refreshToken, asked)).scope).toBe(given);
  });

  test('that narrowed the scope leaves what was granted to the next one', async () => {
    const rig = await tokenRig(under);
    const { refreshToken } = await signedIn(rig);
    const { refreshToken: next } = await refresh(rig, refreshToken, 'openid');
    expect((await refresh(rig, next as string)).scope).toBe('openid profile email');
  });

  test.each(['email profile', ' openid', 'openid ', 'openid  profile', 'OPENID', '__proto__', 'openid\0'])(
    'asked for the scope “%s” of a grant of openid and profile is refused and uses nothing up',
    async (asked) => {
      const rig = await tokenRig(under);
      const { refreshToken, grantId } = await signedIn(rig, { scopes: ['openid', 'profile'] });
      const refusal = await refusalOf(refresh(rig, refreshToken, asked));
      expect(refusal).toEqual({ code: 'INVALID_SCOPE', faults: [] });
      expect(await grantOf(rig, grantId)).toMatchObject({ generation: 1, revokedAt: null });
    },
  );

  test('leaves out what the operator has taken from the scopes of the application', async () => {
    const rig = await tokenRig(under);
    const { refreshToken } = await signedIn(rig);
    await narrowTo(rig, ['openid', 'email']);
    const { refreshToken: next, scope } = await refresh(rig, refreshToken);
    expect(scope).toBe('openid email');
    expect(await refusalOf(refresh(rig, next as string, 'profile'))).toMatchObject({ code: 'INVALID_SCOPE' });
  });

  test.each(WITHDRAWALS)('is refused when $title', async ({ title, prepare, withdraw }) => {
    const rig = await tokenRig(under);
    await prepare?.(rig);
    const { refreshToken, grantId } = await signedIn(rig);
    await withdraw(rig);
    const error = title.includes('application') ? 'UNAUTHORIZED_CLIENT' : 'INVALID_GRANT';
    expect(await refusalOf(refresh(rig, refreshToken))).toMatchObject({ code: error });
    expect((await grantOf(rig, grantId))?.generation).toBe(1);
  });

  test('is possible again once the application has a redirect URI of the instance again', async () => {
    const rig = await tokenRig(under);
    const { refreshToken, grantId } = await signedIn(rig);
    await withoutPlace(rig);
    expect(await refusalOf(refresh(rig, refreshToken))).toMatchObject({ code: 'INVALID_GRANT' });
    const again = { uri: 'https://portal.example.com/new', instanceId: rig.instanceId };
    await operate(rig, (changes) => addRedirectUri(changes, rig.application.id, again));
    expect(await refresh(rig, refreshToken)).toHaveProperty('accessToken');
    expect((await grantOf(rig, grantId))?.generation).toBe(2);
  });

  test('is refused to an application that may not refresh any more', async () => {
    const rig = await tokenRig(under);
    const { refreshToken } = await signedIn(rig);
    const fields = { applicationId: rig.application.id, allowedGrantTypes: ['authorization_code'] as const };
    await operate(rig, (changes) => updateApplication(changes, fields));
    const refusal = await refusalOf(refresh(rig, refreshToken));
    expect(refusal).toMatchObject({ code: 'UNAUTHORIZED_CLIENT' });
  });

  test('with the token of another application is refused and on record, and the token stays good', async () => {
    const rig = await tokenRig(under);
    const { refreshToken, grantId } = await signedIn(rig);
    const other = await newApplication(rig.issuer, rig.database, rig.instanceId);
    await refresh(rig, refreshToken);
    rig.clock.advance(60_000);
    const theft = rotateRefreshToken(rig.issuer, other.client, { refreshToken });
    expect(await refusalOf(theft)).toMatchObject({ code: 'INVALID_GRANT' });
    expect(await grantOf(rig, grantId)).toMatchObject({ generation: 2, revokedAt: null });
    expect(rig.observed).toMatchObject([
      {
        type: 'refresh_token.refused',
        outcome: 'refused',
        actor: { type: 'application', id: other.id },
        subject: { type: 'account', id: rig.accountId },
        attributes: { grant_id: grantId, instance_id: rig.instanceId },
      },
    ]);
  });

  test.each([
    {
      title: 'of a family that never was',
      token: ({ issuer }: TokenRig) => issuer.refreshTokens.seal(randomText(16), 1),
    },
    { title: 'that is no token of ours', token: () => randomText(52) },
    { title: 'that is empty', token: () => '' },
    { title: 'with a NUL', token: () => 'a\0b' },
  ])('with a token $title is refused', async ({ token }) => {
    const rig = await tokenRig(under);
    expect(await refusalOf(refresh(rig, token(rig)))).toMatchObject({ code: 'INVALID_GRANT' });
  });

  test('with a generation that has not been given yet is refused and revokes nothing', async () => {
    const rig = await tokenRig(under);
    const { grantId } = await signedIn(rig);
    const early = rig.issuer.refreshTokens.seal(grantId, 2);
    expect(await refusalOf(refresh(rig, early))).toMatchObject({ code: 'INVALID_GRANT' });
    expect(await grantOf(rig, grantId)).toMatchObject({ generation: 1, revokedAt: null });
  });
});
