import { expect, test } from '@jest/globals';
import type { AccountId } from '../../../../generated/ids.js';
import { endAccess } from '../../../../src/domain/credentials/access.js';
import type { AuthorizationCode } from '../../../../src/domain/sign-on/authorization/codes.js';
import type { SignOnChanges } from '../../../../src/domain/sign-on/sign-on.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { signalled } from '../../../support/signalled.js';
import { signOnRig, untilOneWaits } from '../sign-on/rig.js';
import { newCode, newGrant, newSession } from '../sign-on/samples.js';

describeEachDatabase('the end of what a person granted an application on an instance', (under) => {
  test('leaves the grants of others, and ends codes too', async () => {
    const { run, rows, now, newAccount } = await signOnRig(under);
    const accountId = await newAccount();
    const grant = newGrant(accountId, now);
    const { applicationId, instanceId } = grant;
    const code = newCode(accountId, now, { applicationId, instanceId });
    const others = [
      newGrant(await newAccount(), now, { applicationId, instanceId }),
      newGrant(accountId, now, { applicationId: newPublicId('ApplicationId'), instanceId }),
      newGrant(accountId, now, { applicationId, instanceId: newPublicId('InstanceId') }),
    ];
    await run(async ({ codes, grants }) => {
      await codes.insert(code);
      for (const each of [grant, ...others]) {
        await grants.insert(each);
      }
      const of = { accountId, applicationId, instanceId };
      expect(await grants.revokeOfApplication(of, now + 1)).toBe(true);
      expect(await grants.revokeOfApplication(of, now + 2)).toBe(false);
    });
    expect((await rows.grants.find(grant.id))?.revokedAt).toBe(now + 1);
    expect((await rows.codes.find(code.hash))?.status).toBe('EXPIRED');
    for (const other of others) {
      expect(await rows.grants.find(other.id)).toEqual(other);
    }
  });
});

describeEachDatabase('the end of a person’s access', (under) => {
  async function rigWithPerson() {
    const rig = await signOnRig(under);
    const accountId = await rig.newAccount();
    const keep = async (code: AuthorizationCode) => {
      await rig.run(({ codes }) => codes.insert(code));
      return code;
    };
    return { ...rig, accountId, keep, code: () => keep(newCode(accountId, rig.now)) };
  }

  /** As an exchange does it. */
  async function redeem(
    { codes, grants, now }: SignOnChanges,
    { hash, grantId, accountId }: AuthorizationCode,
  ) {
    const redeemed = await codes.redeem(hash, now);
    if (redeemed) {
      await grants.insert(newGrant(accountId, now, { id: grantId }));
    }
    return redeemed;
  }

  test('leaves nothing valid, without effect on others', async () => {
    const { run, rows, now, accountId, newAccount, keep, code } = await rigWithPerson();
    const neighbour = await newAccount();
    const [issued, redeemed, foreign] = [await code(), await code(), await keep(newCode(neighbour, now))];
    const heldBy = (id: AccountId) => ({
      session: newSession(now, { account: { id, authenticatedAt: now } }),
      grant: newGrant(id, now),
    });
    const [own, others] = [heldBy(accountId), heldBy(neighbour)];
    const gone = newGrant(accountId, now, { revokedAt: now - 1 });
    await run(async (changes) => {
      for (const { session, grant } of [own, others]) {
        await changes.sessions.insert(session);
        await changes.grants.insert(grant);
      }
      await changes.grants.insert(gone);
      await redeem(changes, redeemed);
      await endAccess(changes, accountId);
    });

    await expect(rows.sessions.findByToken(own.session.tokenHash)).resolves.toBeUndefined();
    expect((await rows.grants.find(own.grant.id))?.revokedAt).toBe(now);
    expect((await rows.grants.find(redeemed.grantId))?.revokedAt).toBe(now);
    await expect(rows.grants.find(gone.id)).resolves.toEqual(gone);
    expect((await rows.codes.find(issued.hash))?.status).toBe('EXPIRED');
    expect((await rows.codes.find(redeemed.hash))?.status).toBe('REDEEMED');
    await expect(run((changes) => redeem(changes, issued))).resolves.toBe(false);

    await expect(rows.sessions.findByToken(others.session.tokenHash)).resolves.toEqual(others.session);
    await expect(rows.grants.find(others.grant.id)).resolves.toEqual(others.grant);
    await expect(run((changes) => redeem(changes, foreign))).resolves.toBe(true);
  });

  test('also revokes the grant of a redemption that is in progress', async () => {
    const { run, rows, database, now, accountId, code } = await rigWithPerson();
    const presented = await code();
    const [redeemed, goOn] = [signalled(), signalled()];
    const redemption = run(async ({ codes, grants }) => {
      const yes = await codes.redeem(presented.hash, now);
      redeemed.tell();
      await goOn.told;
      await grants.insert(newGrant(accountId, now, { id: presented.grantId }));
      return yes;
    });
    await redeemed.told;
    const ending = run((changes) => endAccess(changes, accountId));
    await untilOneWaits(database);
    goOn.tell();

    await expect(redemption).resolves.toBe(true);
    await ending;
    expect((await rows.grants.find(presented.grantId))?.revokedAt).toBe(now);
  });

  test('refuses a redemption that waited for it', async () => {
    const { run, rows, database, accountId, code } = await rigWithPerson();
    const presented = await code();
    const [ended, goOn] = [signalled(), signalled()];
    const ending = run(async (changes) => {
      await endAccess(changes, accountId);
      ended.tell();
      await goOn.told;
    });
    await ended.told;
    const redemption = run((changes) => redeem(changes, presented));
    await untilOneWaits(database);
    goOn.tell();

    await ending;
    await expect(redemption).resolves.toBe(false);
    await expect(rows.grants.find(presented.grantId)).resolves.toBeUndefined();
  });

  test('among many redemptions leaves no valid grant, in any order', async () => {
    const { run, rows, accountId, code } = await rigWithPerson();
    const presented = await Promise.all(Array.from({ length: 30 }, code));
    const works = presented.map((one) => run((changes) => redeem(changes, one)));
    works.splice(
      15,
      0,
      run((changes) => endAccess(changes, accountId)).then(() => true),
    );
    await Promise.all(works);

    for (const { hash, grantId } of presented) {
      const grant = await rows.grants.find(grantId);
      expect((await rows.codes.find(hash))?.status).toBe(grant ? 'REDEEMED' : 'EXPIRED');
      expect(grant?.revokedAt).not.toBeNull();
    }
  });
});
