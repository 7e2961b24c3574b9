import { expect, test } from '@jest/globals';
import {
  type AuthorizationCode,
  CODE_LIFETIME_MS,
} from '../../../../src/domain/sign-on/authorization/codes.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { signOnRig } from './rig.js';
import { newCode, newGrant } from './samples.js';

describeEachDatabase('an authorization code', (under) => {
  async function rigWith(fields: Partial<AuthorizationCode> = {}) {
    const rig = await signOnRig(under);
    const code = newCode(await rig.newAccount(), rig.now, fields);
    await rig.run(({ codes }) => codes.insert(code));
    return { ...rig, code, found: () => rig.rows.codes.find(code.hash) };
  }

  test.each<Partial<AuthorizationCode>>([
    {},
    { codeChallenge: null, nonce: null, scopes: ['email'] },
    { status: 'EXPIRED' },
  ])('is returned unchanged kept: %j', async (fields) => {
    const { code, found, rows } = await rigWith(fields);
    await expect(found()).resolves.toEqual(code);
    await expect(rows.codes.find(code.hash.slice(1))).resolves.toBeUndefined();
  });

  test('is redeemed once, however many redeem it at once', async () => {
    const { code, now, found, yesesOf } = await rigWith();
    await expect(yesesOf(50, ({ codes }) => codes.redeem(code.hash, now))).resolves.toBe(1);
    await expect(found()).resolves.toEqual({ ...code, status: 'REDEEMED' });
  });

  test('that was redeemed shows each later comer the grant that it gave', async () => {
    const { code, now, run, rows, yesesOf } = await rigWith();
    const revoked = yesesOf(50, async ({ codes, grants }) => {
      if (await codes.redeem(code.hash, now)) {
        await grants.insert(newGrant(code.accountId, now, { id: code.grantId }));
        return false;
      }
      return grants.revoke(code.grantId, now);
    });
    await expect(revoked).resolves.toBe(1);
    expect((await rows.grants.find(code.grantId))?.revokedAt).toBe(now);
    await expect(run(({ codes }) => codes.redeem(code.hash, now))).resolves.toBe(false);
  });

  test('stays good when the transaction that redeemed it fails', async () => {
    const { code, now, run, found } = await rigWith();
    const failing = run(async ({ codes }) => {
      await codes.redeem(code.hash, now);
      throw new Error('the grant could not be made');
    });
    await expect(failing).rejects.toThrow('the grant could not be made');
    await expect(found()).resolves.toEqual(code);
    await expect(run(({ codes }) => codes.redeem(code.hash, now))).resolves.toBe(true);
  });

  test.each<[what: string, fields: Partial<AuthorizationCode>, after: number, redeemed: boolean]>([
    ['up to its last moment', {}, CODE_LIFETIME_MS - 1, true],
    ['no longer when it is over', {}, CODE_LIFETIME_MS, false],
    ['no longer after that', {}, CODE_LIFETIME_MS + 1, false],
    ['not when it was marked expired', { status: 'EXPIRED' }, 1, false],
    ['not when it was redeemed before', { status: 'REDEEMED' }, 1, false],
  ])('can be redeemed %s', async (_, fields, after, redeemed) => {
    const { code, now, run, found } = await rigWith(fields);
    await expect(run(({ codes }) => codes.redeem(code.hash, now + after))).resolves.toBe(redeemed);
    expect((await found())?.status).toBe(redeemed ? 'REDEEMED' : code.status);
  });
});
