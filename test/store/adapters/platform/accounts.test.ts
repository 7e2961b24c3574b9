import { expect, test } from '@jest/globals';
import type { InstanceId } from '../../../../generated/ids.js';
import {
  type AccountUpdate,
  disableAccount,
  enableAccount,
  updateAccount,
} from '../../../../src/domain/platform/people/account-updates.js';
import { getAccount, getAccountByEmail } from '../../../../src/domain/platform/people/accounts.js';
import { deleteUser } from '../../../../src/domain/platform/people/user-updates.js';
import { getUser } from '../../../../src/domain/platform/people/users.js';
import type { Account } from '../../../../src/domain/platform/rows/people.js';
import { accountRows } from '../../../../src/store/adapters/platform/accounts.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { plantAccount, plantUser } from '../../directory-rows.js';
import { inStatus, invite, newClient, newPlatform, type Platform } from './people.js';

function update({ run }: Platform, { id }: { id: string }, fields: Omit<AccountUpdate, 'accountId'>) {
  return run((changes) => updateAccount(changes, { accountId: id, ...fields }));
}

function read({ run }: Platform, id: string): Promise<Account> {
  return run((changes) => getAccount(changes, id));
}

/** A person who is a user of two clients. */
async function wellConnected(platform: Platform) {
  const other = await newClient(platform, platform.instance.id, 'Quillmere');
  const email = 'ada@example.com';
  const users = [
    await invite(platform, platform.client.id, { email, firstName: 'Ada', lastName: 'Moreau' }),
    await invite(platform, other.id, { email }),
  ];
  await platform.newEvents();
  return { other, users, account: await read(platform, users[0]?.accountId as string) };
}

describeEachDatabase('accounts', (under) => {
  test('are listed in the order of bytes, whatever that of the database is', async () => {
    const platform = await newPlatform(under);
    for (const email of ['a{b@example.com', 'ab@example.com', 'a-b@example.com']) {
      await invite(platform, platform.client.id, { email });
    }
    const found = await platform.run(({ accounts }) => accounts.page(undefined, 9, 'a'));
    const emails = ['a-b@example.com', 'ab@example.com', 'a{b@example.com'];
    expect(found.map(({ email }) => email)).toEqual(emails);
  });

  test('are listed page by page in the order of their addresses, also by the beginning of one', async () => {
    const platform = await newPlatform(under);
    const addresses = ['bo@example.com', 'ada@other.example', 'Ada.Moreau@example.com', 'a_a@example.com'];
    for (const email of addresses) {
      await invite(platform, platform.client.id, { email });
    }
    const accounts = accountRows(platform.database.reader);
    const pagesOf = async (prefix?: string) => {
      const found: Awaited<ReturnType<typeof accounts.page>> = [];
      for (let after: string | undefined; ; after = found.at(-1)?.emailKey) {
        const page = await accounts.page(after, 1, prefix);
        found.push(...page);
        if (page.length === 0) {
          return found.map(({ email }) => email);
        }
      }
    };
    const all = await pagesOf();
    expect([...all].sort()).toEqual([...addresses].sort());
    expect(all).toEqual((await accounts.page(undefined, 9, undefined)).map(({ email }) => email));
    expect((await pagesOf('ada')).sort()).toEqual(['Ada.Moreau@example.com', 'ada@other.example']);
    expect(await pagesOf('a_')).toEqual(['a_a@example.com']);
    expect(await pagesOf('da')).toEqual([]);
    expect(await pagesOf('ada@other.example')).toEqual(['ada@other.example']);
  });

  test('an account is made with the first user and found by its id and by its address in any case', async () => {
    const platform = await newPlatform(under);
    const { account } = await wellConnected(platform);
    expect(account).toMatchObject({
      id: expect.stringMatching(/^acc_[0-9A-Za-z]{22}$/),
      workerProfileId: expect.stringMatching(/^wpf_[0-9A-Za-z]{22}$/),
      email: 'ada@example.com',
      emailVerifiedAt: null,
      firstName: 'Ada',
      lastName: 'Moreau',
      disabledAt: null,
    });
    const found = platform.run((changes) => getAccountByEmail(changes, ' ADA@example.com'));
    expect(await found).toEqual(account);
    const missing = { code: 'ACCOUNT_NOT_FOUND', faults: [] };
    expect(await refusalOf(read(platform, 'acc_missing'))).toEqual(missing);
    expect(await refusalOf(platform.run((changes) => getAccountByEmail(changes, 'no@example.com')))).toEqual(
      missing,
    );
    expect(await refusalOf(update(platform, { id: 'acc_missing' }, { firstName: 'Ada' }))).toEqual(missing);
    for (const change of [enableAccount, disableAccount]) {
      expect(await refusalOf(platform.run((changes) => change(changes, 'acc_missing')))).toEqual(missing);
    }
  });

  test('its contexts are the users and workers the person is, without those that were', async () => {
    const platform = await newPlatform(under);
    const { account, users, other } = await wellConnected(platform);
    const third = await newClient(platform, platform.instance.id, 'Aside');
    const gone = await invite(platform, third.id, { email: account.email });
    await platform.run((changes) => deleteUser(changes, { userId: gone.id }));
    await inStatus(platform, users[1] as { id: string }, 'INACTIVE');
    const contexts = await platform.run((changes) => changes.accounts.contextsOf(account.id));
    const same = { instanceId: platform.instance.id, knownEmail: null };
    expect(contexts).toEqual([
      { member: { kind: 'user', id: users[0]?.id }, clientId: platform.client.id, ...same, enabled: true },
      { member: { kind: 'user', id: users[1]?.id }, clientId: other.id, ...same, enabled: false },
    ]);
  });

  test('its former contexts are the newest 1,000 users, on one instance or on all', async () => {
    const platform = await newPlatform(under);
    const { database, client, instance } = platform;
    const { id } = await plantAccount(database);
    const row = { account_id: id, client_id: client.id, status: 'DELETED' as const };
    for (let created_at = 1; created_at <= 1_001; created_at += 1) {
      await plantUser(database, { ...row, id: `usr_${created_at}`, created_at });
    }
    const formerOn = (instanceId?: InstanceId) =>
      platform.run((changes) => changes.accounts.formerContextsOf(id, instanceId));
    const [everywhere, there] = [await formerOn(), await formerOn(instance.id)];
    expect(everywhere.map(({ member }) => member.id)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => `usr_${1_001 - index}`),
    );
    expect(there).toEqual(everywhere);
    await expect(formerOn('ins_elsewhere' as InstanceId)).resolves.toEqual([]);
  });

  test('the names around it are those of what the person is now, and of the first five on an instance', async () => {
    const platform = await newPlatform(under);
    const email = 'ada@example.com';
    const places = Array.from({ length: 7 }, (_, index) => `Place${index}`);
    let accountId = '' as Account['id'];
    for (const [index, name] of places.entries()) {
      const client = await newClient(platform, platform.instance.id, name);
      const user = await invite(platform, client.id, { email, firstName: `Ada${index}` });
      accountId = user.accountId;
      if (index === 0) {
        await platform.run((changes) => deleteUser(changes, { userId: user.id }));
      }
    }
    const names = await accountRows(platform.database.reader).namesAround(accountId);
    expect(names).toEqual(expect.arrayContaining([email, 'Ada0 ', 'Harborlight', 'Ada5', 'Place5']));
    const ofClients = names.filter((name) => name.startsWith('Place'));
    expect(ofClients.sort()).toEqual(places.slice(1, 6).sort());
    expect(names).not.toContain('Ada6');
  });

  test('its names are its own: users keep theirs, and no event is recorded', async () => {
    const platform = await newPlatform(under);
    const { account, users } = await wellConnected(platform);
    const before = await platform.dataVersions();
    const updated = await update(platform, account, {
      lastName: ' Moreau-Diaz ',
      updateMask: ['first_name', 'last_name'],
    });
    expect(updated).toMatchObject({ firstName: null, lastName: 'Moreau-Diaz', updatedAt: platform.now() });
    expect(updated.version).not.toBe(account.version);
    expect(await read(platform, account.id)).toEqual(updated);
    expect(await platform.run((changes) => getUser(changes, users[0]?.id as string))).toEqual(users[0]);
    expect(await platform.newEvents()).toEqual([]);
    expect((await platform.dataVersions())[platform.client.id]).toBe(before[platform.client.id]);
  });

  test('a new address of a person of one client is unverified and recorded as an event', async () => {
    const platform = await newPlatform(under);
    const user = await invite(platform, platform.client.id, { email: 'ada@example.com' });
    const account = { id: user.accountId };
    const before = await platform.dataVersions();
    await platform.newEvents();
    const moved = await update(platform, account, { email: 'moreau@example.com', firstName: 'A.' });
    expect(moved).toMatchObject({ email: 'moreau@example.com', emailVerifiedAt: null, firstName: 'A.' });
    const [told, ...others] = await platform.newEvents();
    expect([told?.type, told?.data.userId, told?.data.email]).toEqual([
      'user.updated',
      user.id,
      'moreau@example.com',
    ]);
    expect(others).toEqual([]);
    expect((await platform.dataVersions())[platform.client.id]).not.toBe(before[platform.client.id]);
  });

  test('a new address of a person of two clients waits, without an event', async () => {
    const platform = await newPlatform(under);
    const { account } = await wellConnected(platform);
    const before = await platform.dataVersions();
    for (const email of ['moreau@example.com', 'Ada@Example.com']) {
      expect(await update(platform, account, { email })).toEqual(account);
    }
    expect(await platform.newEvents()).toEqual([]);
    const pending = await platform.run((changes) => changes.emailChanges.ofAccount(account.id));
    expect(pending).toMatchObject([{ email: 'Ada@Example.com', asker: 'platform', linkHash: null }]);
    expect(await platform.dataVersions()).toMatchObject({ [platform.client.id]: before[platform.client.id] });
  });

  test.each<{ what: string; fields: Omit<AccountUpdate, 'accountId'>; code: string; faults: string[] }>([
    {
      what: 'faulty fields',
      fields: { email: '@', firstName: ' ', lastName: 'x'.repeat(201) },
      code: 'INVALID_REQUEST',
      faults: [
        'email must be an e-mail address',
        'first_name must not be empty',
        'last_name must not be longer than 200 characters',
      ],
    },
    {
      what: 'the address of another account',
      fields: { firstName: 'A.', email: 'Taken@example.com' },
      code: 'ALREADY_EXISTS',
      faults: ['email must not be the address of another account'],
    },
    {
      what: 'a version that is not the present one',
      fields: { firstName: 'A.', expectedVersion: 'another' },
      code: 'VERSION_CONFLICT',
      faults: [],
    },
  ])('an update with $what is refused and leaves everything as it was', async ({ fields, code, faults }) => {
    const platform = await newPlatform(under);
    const { account } = await wellConnected(platform);
    await invite(platform, platform.client.id, { email: 'taken@example.com' });
    await platform.newEvents();
    expect(await refusalOf(update(platform, account, fields))).toEqual({ code, faults });
    expect(await read(platform, account.id)).toEqual(account);
    expect(await platform.newEvents()).toEqual([]);
  });

  test('of two concurrent requests for one address, one gets it and the other is refused as taken', async () => {
    const platform = await newPlatform(under);
    const { client } = platform;
    const people = [
      await invite(platform, client.id),
      await invite(platform, client.id, { withoutManager: true }),
    ];
    const email = 'wanted@example.com';
    const outcomes = await Promise.allSettled(
      people.map(({ accountId }) => update(platform, { id: accountId }, { email })),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'ERROR_CODE_ALREADY_EXISTS' },
    });
  });

  test('disabling and enabling record no event, and repeating either changes nothing', async () => {
    const platform = await newPlatform(under);
    const { account } = await wellConnected(platform);
    const disabled = await platform.run((changes) => disableAccount(changes, account.id));
    expect(disabled).toMatchObject({ disabledAt: platform.now(), updatedAt: platform.now() });
    expect(disabled.version).not.toBe(account.version);
    expect(await platform.run((changes) => disableAccount(changes, account.id))).toEqual(disabled);
    const enabled = await platform.run((changes) => enableAccount(changes, account.id));
    expect(enabled.disabledAt).toBeNull();
    expect(await platform.run((changes) => enableAccount(changes, account.id))).toEqual(enabled);
    expect(await read(platform, account.id)).toEqual(enabled);
    expect(await platform.newEvents()).toEqual([]);
  });
});
