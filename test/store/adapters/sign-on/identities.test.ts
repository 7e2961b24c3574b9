import { expect, test } from '@jest/globals';
import type { AccountId, InstanceId } from '../../../../generated/ids.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { plantClient, plantRole, plantUser, plantWorker } from '../../directory-rows.js';
import { CREATED_AT } from '../../rows.js';
import { signOnRig } from './rig.js';

describeEachDatabase('a person as an instance sees them', (under) => {
  async function rigWithPerson() {
    const rig = await signOnRig(under);
    const accountId = await rig.newAccount();
    const { id: clientId, instanceId } = await plantClient(rig.database, { name: 'Tallowfern' });
    const find = () => rig.rows.identities.find(accountId, instanceId);
    return {
      ...rig,
      accountId,
      clientId,
      instanceId,
      find,
      own: { client_id: clientId, account_id: accountId },
    };
  }

  test('is undefined without an account', async () => {
    const { rows, instanceId } = await rigWithPerson();
    await expect(rows.identities.find(newPublicId('AccountId'), instanceId)).resolves.toBeUndefined();
  });

  test('has an account even where nothing lets them in, or there is no such instance', async () => {
    const { find, rows, accountId } = await rigWithPerson();
    const account = await rows.accounts.find(accountId);
    const known = { account, contexts: [], lastContext: undefined };
    await expect(find()).resolves.toEqual(known);
    const nowhere = 'ins_nowhere' as InstanceId;
    await expect(rows.identities.find(accountId, nowhere)).resolves.toEqual(known);
  });

  test('is their users and workers with names and roles, oldest first, those of one age by their ids', async () => {
    const { database, find, own, clientId, instanceId } = await rigWithPerson();
    const other = await plantClient(database, { name: 'Brackwater', instance_id: instanceId });
    const role = await plantRole(database, clientId, 'Dispatcher');
    const invited = await plantUser(database, {
      ...own,
      ...{ status: 'INVITED', created_at: CREATED_AT + 3 },
      ...{ first_name: 'Ada', last_name: null, full_name: 'Ada' },
    });
    const worker = await plantWorker(database, { ...own, client_id: other.id, created_at: CREATED_AT + 2 });
    const active = await plantUser(database, { ...own, role_id: role.id, created_at: CREATED_AT + 1 });
    const later = await plantWorker(database, { ...own, id: 'wrk_b', created_at: CREATED_AT + 3 });
    const twin = await plantWorker(database, { ...own, id: 'wrk_B', created_at: CREATED_AT + 3 });

    const here = {
      ...{ clientId, clientName: 'Tallowfern', invited: false, roleName: null },
      ...{ firstName: 'Eliseo', lastName: 'Brandt', fullName: 'Eliseo Brandt' },
    };
    const workerNames = { firstName: 'Maren', lastName: 'Okafor', fullName: 'Maren Okafor' };
    const invitedNames = { firstName: 'Ada', lastName: null, fullName: 'Ada' };
    const there = { ...here, clientId: other.id, clientName: 'Brackwater' };
    expect((await find())?.contexts).toEqual([
      { ...here, userType: 'USER', memberId: active.id, roleName: 'Dispatcher' },
      { ...there, ...workerNames, userType: 'WORKER', memberId: worker.id },
      { ...here, ...invitedNames, userType: 'USER', memberId: invited.id, invited: true },
      { ...here, ...workerNames, userType: 'WORKER', memberId: twin.id },
      { ...here, ...workerNames, userType: 'WORKER', memberId: later.id },
    ]);
  });

  test('is none of what no longer lets them in, nor what they are elsewhere, nor what others are here', async () => {
    const { database, find, own, clientId } = await rigWithPerson();
    const elsewhere = await plantClient(database);
    await plantUser(database, { ...own, status: 'INACTIVE' });
    await plantUser(database, { ...own, status: 'DELETED' });
    await plantWorker(database, { ...own, offboarded_at: CREATED_AT });
    await plantUser(database, { ...own, client_id: elsewhere.id });
    await plantWorker(database, { ...own, client_id: elsewhere.id });
    await plantUser(database, { client_id: clientId });
    await plantWorker(database, { client_id: clientId });
    expect((await find())?.contexts).toEqual([]);
  });

  test('was something when they last signed in here, which another instance knows nothing of', async () => {
    const { database, run, rows, find, accountId, clientId, instanceId, now } = await rigWithPerson();
    const elsewhere = await plantClient(database);
    const context = { userType: 'WORKER' as const, clientId };
    await run(({ loginContexts }) => loginContexts.remember(accountId, instanceId, context, now));
    expect((await find())?.lastContext).toEqual(context);
    const abroad = await rows.identities.find(accountId, elsewhere.instanceId);
    expect(abroad).toMatchObject({ account: { id: accountId }, lastContext: undefined });
  });

  test('that is disabled is shown as such, for the rules to judge', async () => {
    const { database, find, own, accountId, now } = await rigWithPerson();
    await plantUser(database, own);
    await database.write((writer) =>
      writer
        .updateTable('accounts')
        .set({ disabled_at: now })
        .where('id', '=', accountId as AccountId)
        .execute(),
    );
    const identity = await find();
    expect(identity?.account.disabledAt).toBe(now);
    expect(identity?.contexts).toHaveLength(1);
  });

  test('inside a transaction has what the transaction wrote', async () => {
    const { database, run, find, own, accountId, clientId, instanceId, now } = await rigWithPerson();
    await plantUser(database, { ...own, status: 'INVITED' });
    const within = await run(async ({ identities, loginContexts, users }) => {
      const [user] = await users.ofAccount(accountId);
      await users.update({ id: (user as NonNullable<typeof user>).id, status: 'ACTIVE' });
      await loginContexts.remember(accountId, instanceId, { userType: 'USER', clientId }, now);
      return identities.find(accountId, instanceId);
    });
    expect(within).toMatchObject({ contexts: [{ invited: false }], lastContext: { userType: 'USER' } });
    await expect(find()).resolves.toEqual(within);
  });
});
