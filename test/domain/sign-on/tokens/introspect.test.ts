import { describe, expect, test } from '@jest/globals';
import { updateApplication } from '../../../../src/domain/operator/applications.js';
import { introspectToken } from '../../../../src/domain/sign-on/tokens/introspect.js';
import { revokeToken } from '../../../../src/domain/sign-on/tokens/revoke.js';
import type { PresentedToken } from '../../../../src/domain/sign-on/tokens/standing.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { randomText, verifiedAccessToken } from '../token-keys.js';
import {
  newApplication,
  newPlace,
  operate,
  rotateRefreshToken,
  signedIn,
  type TokenRig,
  tokenRig,
} from '../token-rig.js';
import { narrowTo, WITHDRAWALS } from './withdrawals.js';

async function tokensOf(rig: TokenRig, fields: Parameters<typeof signedIn>[1] = {}) {
  const { accessToken, refreshToken } = await signedIn(rig, fields);
  const token = await verifiedAccessToken(rig.keys, rig.clock.now, accessToken);
  return {
    access: { kind: 'access', token } as const,
    refresh: { kind: 'refresh', token: refreshToken } as const,
  };
}

function introspect(rig: TokenRig, presented: PresentedToken) {
  return introspectToken(rig.issuer, rig.application.client, presented);
}

describe('introspection', () => {
  const under = databaseUnderTest('SQLite');

  test('tells what an access token stands for', async () => {
    const rig = await tokenRig(under);
    const { access } = await tokensOf(rig);
    rig.clock.advance(1_000);
    expect(await introspect(rig, access)).toEqual({
      scope: 'openid profile email',
      clientId: rig.application.id,
      sub: rig.accountId,
      issuedAt: 1_790_000_000_000,
      expiresAt: 1_790_003_600_000,
      tokenId: access.token.tokenId,
    });
  });

  test('tells what a refresh token stands for', async () => {
    const rig = await tokenRig(under);
    const { refresh } = await tokensOf(rig);
    expect(await introspect(rig, refresh)).toEqual({
      scope: 'openid profile email',
      clientId: rig.application.id,
      sub: rig.accountId,
      issuedAt: 1_790_000_000_123,
      expiresAt: 1_790_000_000_123 + 30 * 86_400_000,
    });
  });

  test('takes only the newest refresh token of a family for active, and all its access tokens', async () => {
    const rig = await tokenRig(under);
    const { access, refresh } = await tokensOf(rig);
    const { refreshToken } = await rotateRefreshToken(rig.issuer, rig.application.client, {
      refreshToken: refresh.token,
    });
    expect(await introspect(rig, refresh)).toBeUndefined();
    expect(await introspect(rig, { kind: 'refresh', token: refreshToken as string })).toBeDefined();
    expect(await introspect(rig, access)).toBeDefined();
  });

  test('leaves out scopes that the operator has removed', async () => {
    const rig = await tokenRig(under);
    const { access, refresh } = await tokensOf(rig);
    await narrowTo(rig, ['openid']);
    expect((await introspect(rig, access))?.scope).toBe('openid');
    expect((await introspect(rig, refresh))?.scope).toBe('openid');
  });

  test('takes no token for active that is refused because all its scopes were removed', async () => {
    const rig = await tokenRig(under);
    const { access, refresh } = await tokensOf(rig, { scopes: ['openid', 'profile'] });
    await narrowTo(rig, ['email']);
    const asked = rotateRefreshToken(rig.issuer, rig.application.client, { refreshToken: refresh.token });
    expect((await refusalOf(asked)).code).toBe('INVALID_SCOPE');
    expect(await introspect(rig, refresh)).toBeUndefined();
    expect(await introspect(rig, access)).toBeUndefined();
    await narrowTo(rig, ['profile', 'email']);
    expect((await introspect(rig, access))?.scope).toBe('profile');
    expect((await introspect(rig, refresh))?.scope).toBe('profile');
  });

  test.each(WITHDRAWALS.filter(({ title }) => !title.includes('application')))(
    'takes nothing for active when $title',
    async ({ prepare, withdraw }) => {
      const rig = await tokenRig(under);
      await prepare?.(rig);
      const { access, refresh } = await tokensOf(rig);
      expect([await introspect(rig, access), await introspect(rig, refresh)]).not.toContain(undefined);
      await withdraw(rig);
      expect(await introspect(rig, access)).toBeUndefined();
      expect(await introspect(rig, refresh)).toBeUndefined();
    },
  );

  test('reports every token of a revoked grant as inactive', async () => {
    const rig = await tokenRig(under);
    const { access, refresh } = await tokensOf(rig);
    await revokeToken(rig.issuer, rig.application.client, refresh);
    expect(await introspect(rig, access)).toBeUndefined();
    expect(await introspect(rig, refresh)).toBeUndefined();
  });

  test('takes no token for active after its end', async () => {
    const rig = await tokenRig(under);
    const { access, refresh } = await tokensOf(rig);
    rig.clock.advance(3_600_000);
    expect(await introspect(rig, access)).toBeUndefined();
    rig.clock.advance(30 * 86_400_000 - 3_600_000);
    expect(await introspect(rig, refresh)).toBeUndefined();
  });

  test('takes no refresh token for active where the application may not refresh any more', async () => {
    const rig = await tokenRig(under);
    const { access, refresh } = await tokensOf(rig);
    const fields = { applicationId: rig.application.id, allowedGrantTypes: ['authorization_code'] as const };
    await operate(rig, (changes) => updateApplication(changes, fields));
    expect(await introspect(rig, refresh)).toBeUndefined();
    expect(await introspect(rig, access)).toBeDefined();
  });

  test.each<[string, (rig: TokenRig) => Promise<PresentedToken>]>([
    ['what is no token', async () => undefined],
    ['a refresh token that is none', async () => ({ kind: 'refresh', token: randomText(52) })],
    [
      'a refresh token of a family that never was',
      async ({ issuer }) => ({ kind: 'refresh', token: issuer.refreshTokens.seal(randomText(16), 1) }),
    ],
    [
      'an access token of a withdrawn key',
      async (rig) => {
        const { access } = await tokensOf(rig);
        return { kind: 'access', token: { ...access.token, kid: 'withdrawn' } };
      },
    ],
    [
      'an access token that names another person than its grant',
      async (rig) => {
        const { access } = await tokensOf(rig);
        const { accountId } = await newPlace(rig.issuer);
        return { kind: 'access', token: { ...access.token, accountId } };
      },
    ],
  ])('takes %s for inactive', async (_, presentedIn) => {
    const rig = await tokenRig(under);
    expect(await introspect(rig, await presentedIn(rig))).toBeUndefined();
    expect(rig.observed).toEqual([]);
  });

  test.each(['access', 'refresh'] as const)(
    'takes the %s token of another application for inactive, and it is on record',
    async (kind) => {
      const rig = await tokenRig(under);
      const other = await newApplication(rig.issuer, rig.database, rig.instanceId);
      const tokens = await tokensOf({ ...rig, application: other });
      expect(await introspect(rig, tokens[kind])).toBeUndefined();
      expect(rig.observed).toMatchObject([
        {
          type: `${kind}_token.refused`,
          outcome: 'refused',
          actor: { type: 'application', id: rig.application.id },
          subject: { type: 'account', id: rig.accountId },
          attributes: { grant_id: tokens.access.token.grantId, instance_id: rig.instanceId },
        },
      ]);
    },
  );

  test('is refused to public applications and to disabled ones', async () => {
    const rig = await tokenRig(under);
    const application = await newApplication(rig.issuer, rig.database, rig.instanceId, { type: 'public' });
    const asked = introspectToken(rig.issuer, application.client, undefined);
    expect(await refusalOf(asked)).toMatchObject({ code: 'UNAUTHORIZED_CLIENT' });
    await WITHDRAWALS.find(({ title }) => title.includes('application'))?.withdraw(rig);
    expect(await refusalOf(introspect(rig, undefined))).toMatchObject({ code: 'UNAUTHORIZED_CLIENT' });
  });
});
