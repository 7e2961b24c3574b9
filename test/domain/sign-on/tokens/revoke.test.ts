import { describe, expect, test } from '@jest/globals';
import { revokeToken } from '../../../../src/domain/sign-on/tokens/revoke.js';
import type { PresentedToken } from '../../../../src/domain/sign-on/tokens/standing.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { randomText, verifiedAccessToken } from '../token-keys.js';
import {
  audited,
  grantOf,
  newApplication,
  rotateRefreshToken,
  signedIn,
  type TokenRig,
  tokenRig,
} from '../token-rig.js';
import { WITHDRAWALS } from './withdrawals.js';

function revoke(rig: TokenRig, presented: PresentedToken) {
  return revokeToken(rig.issuer, rig.application.client, presented);
}

const KINDS: readonly [string, (rig: TokenRig) => Promise<{ presented: PresentedToken; grantId: string }>][] =
  [
    [
      'a refresh token',
      async (rig) => {
        const { refreshToken: token, grantId } = await signedIn(rig);
        return { presented: { kind: 'refresh', token }, grantId };
      },
    ],
    [
      'a refresh token that was replaced long ago',
      async (rig) => {
        const { refreshToken: token, grantId } = await signedIn(rig);
        const { refreshToken } = await rotateRefreshToken(rig.issuer, rig.application.client, {
          refreshToken: token,
        });
        await rotateRefreshToken(rig.issuer, rig.application.client, {
          refreshToken: refreshToken as string,
        });
        return { presented: { kind: 'refresh', token }, grantId };
      },
    ],
    [
      'an access token',
      async (rig) => {
        const { accessToken, grantId } = await signedIn(rig);
        const token = await verifiedAccessToken(rig.keys, rig.clock.now, accessToken);
        return { presented: { kind: 'access', token }, grantId };
      },
    ],
  ];

describe('revocation', () => {
  const under = databaseUnderTest('SQLite');

  test.each(KINDS)('with %s ends the grant, and says the same when it is repeated', async (_, given) => {
    const rig = await tokenRig(under);
    const { presented, grantId } = await given(rig);
    await revoke(rig, presented);
    const at = rig.clock.now();
    rig.clock.advance(1);
    await revoke(rig, presented);
    expect((await grantOf(rig, grantId))?.revokedAt).toBe(at);
    const revocations = (await audited(rig)).filter((line) => line.startsWith('token.revoked'));
    expect(revocations).toEqual(['token.revoked succeeded']);
  });

  test.each(KINDS)(
    'with %s of another application is refused, on record, and ends nothing',
    async (_, given) => {
      const rig = await tokenRig(under);
      const other = await newApplication(rig.issuer, rig.database, rig.instanceId);
      const { presented, grantId } = await given({ ...rig, application: other });
      expect(await refusalOf(revoke(rig, presented))).toEqual({ code: 'INVALID_GRANT', faults: [] });
      expect((await grantOf(rig, grantId))?.revokedAt).toBeNull();
      expect(rig.observed).toMatchObject([
        {
          type: `${presented?.kind}_token.refused`,
          outcome: 'refused',
          actor: { type: 'application', id: rig.application.id },
          subject: { type: 'account', id: rig.accountId },
          attributes: { grant_id: grantId, instance_id: rig.instanceId },
        },
      ]);
    },
  );

  test('leaves the other grants of the person alone', async () => {
    const rig = await tokenRig(under);
    const [one, other] = [await signedIn(rig), await signedIn(rig)];
    await revoke(rig, { kind: 'refresh', token: one.refreshToken });
    expect((await grantOf(rig, other.grantId))?.revokedAt).toBeNull();
  });

  test.each<[string, PresentedToken]>([
    ['nothing that could be a token', undefined],
    ['a refresh token that is none', { kind: 'refresh', token: randomText(52) }],
    ['an empty refresh token', { kind: 'refresh', token: '' }],
  ])('with %s is a success', async (_, presented) => {
    const rig = await tokenRig(under);
    await expect(revoke(rig, presented)).resolves.toBeUndefined();
    expect(await audited(rig)).toEqual([]);
    expect(rig.observed).toEqual([]);
  });

  test('is open to public applications', async () => {
    const rig = await tokenRig(under);
    const application = await newApplication(rig.issuer, rig.database, rig.instanceId, { type: 'public' });
    const codeChallenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const codeVerifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    const owned = { ...rig, application };
    const { refreshToken, grantId } = await signedIn(owned, { codeChallenge }, { codeVerifier });
    await revoke(owned, { kind: 'refresh', token: refreshToken });
    expect((await grantOf(rig, grantId))?.revokedAt).toBe(rig.clock.now());
  });

  test('works for a person who may not sign in any more, and not for a disabled application', async () => {
    const rig = await tokenRig(under);
    const { refreshToken: token, grantId } = await signedIn(rig);
    const [deletion] = WITHDRAWALS.filter(({ title }) => title === 'the only user is deleted');
    await deletion?.withdraw(rig);
    await revoke(rig, { kind: 'refresh', token });
    expect((await grantOf(rig, grantId))?.revokedAt).toBe(rig.clock.now());
    await WITHDRAWALS.find(({ title }) => title.includes('application'))?.withdraw(rig);
    expect(await refusalOf(revoke(rig, undefined))).toMatchObject({ code: 'UNAUTHORIZED_CLIENT' });
  });
});
