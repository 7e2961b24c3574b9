import { expect, test } from '@jest/globals';
import { AccountStatus } from '../../../../generated/proto/integration/platform/v1/accounts.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { UserStatus } from '../../../../generated/proto/integration/platform/v1/users.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import type { CallOptions } from '../../../../src/rpc/call-metadata.js';
import { platformService } from '../../../../src/rpc/domain-server/platform/index.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { platformDependencies } from '../../../support/platform-dependencies.js';
import { refusalOf, rpcRigs, TOKENS } from '../../rig.js';

/** What a caller leaves out. */
const unset = {
  withoutManager: false,
  permissions: [],
  userIds: [],
  statuses: [],
  pageSize: 0,
  pageToken: '',
};

describeEachDatabase('users, roles and accounts over gRPC', (under) => {
  const rigs = rpcRigs();

  /** A client of a new instance, and how to call the service about it. */
  async function newClient() {
    const rig = await rigs.start([
      platformService(platformDependencies(platformUnitOfWork(await under.openMigrated()))),
    ]);
    const client = rig.channel(TOKENS.platform).clientOf(methods);
    type Client = typeof client;
    const call = <Name extends keyof Client>(name: Name, request: Partial<Parameters<Client[Name]>[0]>) => {
      const unary = client[name] as (request: object, options: CallOptions) => ReturnType<Client[Name]>;
      return unary({ ...unset, ...request }, { requestId: 'r', deadlineMs: 20_000 });
    };
    const { instance } = await call('createInstance', { name: 'Harborlight' });
    const made = await call('createClient', {
      instanceId: instance?.id as string,
      name: 'Tallowfern',
    });
    return { call, instanceId: instance?.id as string, clientId: made.client?.id as string };
  }

  test.each([500, 20])(
    'pages of %d large roles end before a message is too large, and have each role once',
    async (pageSize) => {
      const { call, clientId } = await newClient();
      const permissions = Array.from({ length: 500 }, (_, index) => `${index}`.padEnd(200, '.'));
      const ids: string[] = [];
      for (let number = 1; number <= 38; number += 1) {
        const { role } = await call('createRole', { clientId, name: `Role ${number}`, permissions });
        ids.push(role?.id ?? '');
      }
      const pages: string[][] = [];
      let pageToken = '';
      do {
        const page = await call('listRoles', { clientId, pageSize, pageToken });
        pages.push(page.roles.map(({ id }) => id));
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
      expect(pages.map(({ length }) => length)).toEqual(pageSize === 500 ? [22, 18] : [20, 20]);
      // Behind the two that every client has. Those of one millisecond are in the order of their ids.
      expect(pages.flat().slice(2).sort()).toEqual(ids.sort());
    },
  );

  test('accounts are listed, and no beginning of an address is longer than one', async () => {
    const { call, clientId } = await newClient();
    await call('createUser', { clientId, email: 'Ada@example.com', firstName: 'Ada', lastName: 'Moreau' });
    await call('createUser', { clientId, email: 'bo@example.com', withoutManager: true });
    const first = await call('listAccounts', { pageSize: 1 });
    const { accounts, nextPageToken } = await call('listAccounts', { pageToken: first.nextPageToken });
    expect([...first.accounts, ...accounts]).toEqual([
      {
        id: expect.stringMatching(/^acc_/),
        email: 'Ada@example.com',
        emailVerified: false,
        fullName: 'Ada Moreau',
        status: AccountStatus.ENABLED,
        createdAt: expect.any(Date),
      },
      expect.objectContaining({ email: 'bo@example.com', fullName: undefined }),
    ]);
    expect(nextPageToken).toBe('');
    // The last account of the page goes to the end of the list.
    const [{ id: accountId } = { id: '' }] = first.accounts;
    await call('updateAccount', { accountId, email: 'zoe@example.com' });
    const { accounts: others } = await call('listAccounts', { pageToken: first.nextPageToken });
    expect(others.map(({ email }) => email)).toEqual(['bo@example.com', 'zoe@example.com']);
    await call('updateAccount', { accountId, email: 'Ada@example.com' });
    const found = await call('listAccounts', { emailPrefix: ' ADA@EXA' });
    expect(found.accounts).toEqual(first.accounts);
    await call('createUser', { clientId, email: 'cy@163.example', withoutManager: true });
    const numbered = await call('listAccounts', { emailPrefix: 'cy@163' });
    expect(numbered.accounts).toEqual([expect.objectContaining({ email: 'cy@163.example' })]);
    const refused = call('listAccounts', { emailPrefix: 'a'.repeat(255) });
    expect(await refusalOf(refused)).toMatchObject({ code: ErrorCode.INVALID_REQUEST });
  });

  test('a user goes from its creation to its end', async () => {
    const { call, clientId } = await newClient();
    const creation = { clientId, email: 'ada@example.com', firstName: 'Ada', idempotencyKey: 'once' };
    const { user } = await call('createUser', creation);
    expect(user).toMatchObject({
      clientId,
      email: 'ada@example.com',
      firstName: 'Ada',
      fullName: 'Ada',
      status: UserStatus.INVITED,
      role: { name: 'Owner' },
    });
    expect(user?.lastName).toBeUndefined();
    expect(user?.manager).toBeUndefined();
    expect(user?.createdAt).toBeInstanceOf(Date);
    expect(await call('createUser', creation)).toEqual({ user });

    const userId = user?.id as string;
    const second = await call('createUser', { clientId, email: 'ben@example.com' });
    expect(second.user?.manager).toEqual({
      id: userId,
      firstName: 'Ada',
      fullName: 'Ada',
      email: 'ada@example.com',
    });
    const renamed = await call('updateUser', {
      userId,
      lastName: 'Moreau',
      updateMask: ['first_name', 'last_name'],
      expectedVersion: user?.version as string,
    });
    expect(renamed.user).toMatchObject({ lastName: 'Moreau', fullName: 'Moreau' });
    expect(renamed.user?.firstName).toBeUndefined();
    const early = await refusalOf(call('disableUser', { userId }));
    expect(early.code).toBe(ErrorCode.TRANSITION_REFUSED);
    expect((await refusalOf(call('enableUser', { userId }))).code).toBe(ErrorCode.TRANSITION_REFUSED);
    const deleted = await call('deleteUser', { userId });
    expect(deleted.user?.status).toBe(UserStatus.DELETED);
    expect(await call('getUser', { userId })).toEqual(deleted);
  });

  test('users are listed oldest first, by page, by status and by address', async () => {
    const { call, clientId } = await newClient();
    const ids: string[] = [];
    for (const name of ['ada', 'ben', 'cleo']) {
      const { user } = await call('createUser', { clientId, email: `${name}@example.com` });
      ids.push(user?.id as string);
    }
    await call('deleteUser', { userId: ids[1] as string });
    const listed = async (request: object) => {
      const { users, nextPageToken } = await call('listUsers', { clientId, statuses: [], ...request });
      return { ids: users.map(({ id }) => id), nextPageToken };
    };
    expect(new Set((await listed({})).ids)).toEqual(new Set([ids[0], ids[2]]));
    expect((await listed({ statuses: [UserStatus.DELETED] })).ids).toEqual([ids[1]]);
    expect((await listed({ email: 'CLEO@example.com' })).ids).toEqual([ids[2]]);
    expect((await listed({ email: 'ben@example.com' })).ids).toEqual([]);
    const first = await listed({ pageSize: 1 });
    const second = await listed({ pageSize: 1, pageToken: first.nextPageToken });
    expect(new Set([...first.ids, ...second.ids])).toEqual(new Set([ids[0], ids[2]]));
    expect(second.nextPageToken).toBe('');

    const unknown = await refusalOf(listed({ statuses: [UserStatus.ACTIVE, UserStatus.UNSPECIFIED] }));
    expect(unknown.fieldViolations).toMatchObject([{ path: 'statuses[1]' }]);
    expect((await refusalOf(listed({ clientId: 'cli_missing' }))).code).toBe(ErrorCode.CLIENT_NOT_FOUND);
  });

  test('roles are made, edited and deleted', async () => {
    const { call, clientId } = await newClient();
    const { role } = await call('createRole', {
      clientId,
      name: 'Clerk',
      permissions: ['payroll:read'],
    });
    const roleId = role?.id as string;
    expect(await call('getRole', { roleId })).toEqual({ role });
    await call('createUser', { clientId, email: 'ada@example.com', roleId });
    const edited = await call('editRolePermissions', {
      roleId,
      permissions: ['payroll:*'],
      userIds: [],
    });
    expect(edited).toMatchObject({
      repointedUsers: 1,
      role: { name: 'Clerk (2)', permissions: ['payroll:*'] },
    });
    expect(await call('deleteRole', { roleId })).toEqual({});
    const { roles } = await call('listRoles', { clientId });
    expect(roles.map(({ builtIn }) => builtIn)).toEqual([true, true, false]);
    expect(roles[2]).toEqual(edited.role);
    const missing = await refusalOf(call('listRoles', { clientId: 'cli_missing' }));
    expect(missing.code).toBe(ErrorCode.CLIENT_NOT_FOUND);
  });

  test('an account is found by its id and its address, and admits no sign-in while it is disabled', async () => {
    const { call, clientId, instanceId } = await newClient();
    const { user } = await call('createUser', { clientId, email: 'ada@example.com', firstName: 'Ada' });
    const accountId = user?.accountId as string;
    const context = { member: { $case: 'userId', value: user?.id }, clientId, instanceId };
    const found = await call('getAccount', { key: { $case: 'email', value: 'ADA@example.com' } });
    expect(found).toEqual({
      account: expect.objectContaining({
        id: accountId,
        email: 'ada@example.com',
        emailVerified: false,
        fullName: 'Ada',
        status: AccountStatus.ENABLED,
      }),
      contexts: [{ ...context, allowsSignIn: true }],
      formerContexts: [],
    });
    const byId = { key: { $case: 'accountId' as const, value: accountId } };
    expect(await call('getAccount', byId)).toEqual(found);

    await call('disableAccount', { accountId });
    const disabled = await call('getAccount', byId);
    expect(disabled.account?.status).toBe(AccountStatus.DISABLED);
    expect(disabled.contexts).toEqual([{ ...context, allowsSignIn: false }]);
    const enabled = await call('enableAccount', { accountId });
    expect(enabled.account?.status).toBe(AccountStatus.ENABLED);
    await call('updateAccount', { accountId, email: 'moreau@example.com' });
    const { user: told } = await call('getUser', { userId: user?.id as string });
    expect(told?.email).toBe('moreau@example.com');
    await call('deleteUser', { userId: user?.id as string });
    const former = await call('getAccount', byId);
    expect([former.contexts, former.formerContexts]).toEqual([[], [{ ...context, allowsSignIn: false }]]);
    expect((await refusalOf(call('getAccount', {}))).fieldViolations).toMatchObject([{ path: 'key' }]);
  });
});
