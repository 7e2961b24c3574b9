import { expect, test } from '@jest/globals';
import type { AccountId, InstanceId } from '../../../../generated/ids.js';
import {
  AccountStatus,
  PasswordLinkPurpose,
} from '../../../../generated/proto/integration/platform/v1/accounts.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { takeEmail } from '../../../../src/domain/platform/people/email-changes.js';
import type { Changes, PlatformUnitOfWork } from '../../../../src/domain/platform/unit-of-work.js';
import { ErrorCode, type ServiceError } from '../../../../src/errors/service-error.js';
import type { CallOptions } from '../../../../src/rpc/call-metadata.js';
import { platformService } from '../../../../src/rpc/domain-server/platform/index.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import type { Database } from '../../../../src/store/database.js';
import { locationRecord, openImport } from '../../../store/adapters/platform/import-call.js';
import { inStatus } from '../../../store/adapters/platform/people.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { platformDependencies } from '../../../support/platform-dependencies.js';
import { rpcRigs } from '../../rig.js';

const LIMITED = 'limited to the first instance';
const unset = { permissions: [], userIds: [], statuses: [], pageSize: 0, pageToken: '', jobTitles: [] };
const more = { units: [], subUnits: [], unitIds: [], withoutManager: true };
const OPTIONS: CallOptions = { requestId: 'r', deadlineMs: 20_000 };

/** What a token of another instance makes that does not name anything of one. */
const LISTS: readonly string[] = ['listInstances', 'listClients'];
/** Not about any one instance. */
const OF_ALL: readonly string[] = [
  'createInstance',
  'updateAccount',
  'enableAccount',
  'disableAccount',
  'eraseAccount',
  'setPassword',
  'createPasswordLink',
  'createEmailVerificationLink',
  'createEmailChangeLink',
  'listAccountNotices',
  'listAccounts',
  'acknowledgeAccountNotices',
  'listIntegrationNotices',
  'acknowledgeIntegrationNotices',
  'listAccountAccess',
  'withdrawConsent',
];
/** How people get in, and what came of it. */
const CREDENTIALS = ['passwords', 'account_links', 'sessions', 'grants'] as const;
/** Ends what a person is. */
const ENDS = /^(delete|offboard)/;
const unary = Object.entries(methods).flatMap(([name, method]) => (method.requestStream ? [] : [name]));

describeEachDatabase('a platform token that is limited to one instance', (under) => {
  const rigs = rpcRigs();
  // biome-ignore lint/suspicious/noExplicitAny: requests and answers of all methods alike.
  let call: (token: string, name: string, request: object) => Promise<any>;
  let address: string;
  let own: Record<string, string>;
  let foreign: Record<string, string>;
  let database: Database;
  /** What writes have waited for. */
  let locked: string[] = [];

  /** Two instances, and tokens for the first one and for both. */
  async function prepare() {
    let instanceId: InstanceId | undefined;
    database = await under.openMigrated();
    const platform = platformUnitOfWork(database);
    const watched: PlatformUnitOfWork = {
      ...platform,
      run: (work, ...rest) => platform.run((changes) => work(watchingLocks(changes)), ...rest),
    };
    const service = platformService(platformDependencies(watched));
    const rig = await rigs.start([service], {
      authenticate: (token) => ({
        caller: 'platform',
        instanceId: token === LIMITED ? instanceId : undefined,
      }),
    });
    address = rig.address;
    const clients = new Map<
      string,
      Record<string, (request: object, options: CallOptions) => Promise<unknown>>
    >();
    for (const token of [LIMITED, 'whole']) {
      clients.set(token, rig.channel(token).clientOf(methods) as never);
    }
    call = (token, name, request) =>
      clients.get(token)?.[name]?.({ ...unset, ...more, ...request }, OPTIONS) as Promise<unknown>;
    own = await world('ada');
    foreign = await world('ben');
    instanceId = own.instanceId as InstanceId;
    locked = [];
  }

  const watchingLocks = (changes: Changes): Changes => ({
    ...changes,
    lock: (...ids) => {
      locked.push(...ids);
      return changes.lock(...ids);
    },
  });

  /** An instance with one of everything. */
  async function world(person: string): Promise<Record<string, string>> {
    const { instance } = await call('whole', 'createInstance', { name: `Instance of ${person}` });
    const instanceId = instance.id;
    const { client } = await call('whole', 'createClient', { instanceId, name: `Client of ${person}` });
    const clientId = client.id;
    const email = `${person}@example.com`;
    const { user } = await call('whole', 'createUser', { clientId, email });
    const { role } = await call('whole', 'createRole', { clientId, name: 'Crew', permissions: ['p'] });
    const { unitType } = await call('whole', 'createUnitType', { clientId, name: 'Department' });
    const { unit } = await call('whole', 'createUnit', { unitTypeId: unitType.id, name: 'Sales' });
    const { location } = await call('whole', 'createLocation', { clientId, name: 'Quay' });
    await call('whole', 'addJobTitle', { clientId, title: 'Deckhand' });
    const { worker } = await call('whole', 'onboardWorker', {
      clientId,
      email: `worker.${person}@example.com`,
      firstName: 'W',
      lastName: 'W',
    });
    const { account } = await call('whole', 'getAccount', { key: { $case: 'email', value: email } });
    return {
      instanceId,
      clientId,
      email,
      userId: user.id,
      roleId: role.id,
      unitTypeId: unitType.id,
      unitId: unit.id,
      locationId: location.id,
      workerId: worker.id,
      accountId: account.id,
    };
  }

  /** All that any method asks for; each takes what it knows. */
  function naming(ids: Record<string, string>): object {
    return {
      ...ids,
      email: `new.${Math.random()}@example.com`,
      key: { $case: 'accountId', value: ids.accountId },
      wish: { $case: 'accountId', value: ids.accountId },
      noticeIds: [],
      name: `Name ${Math.random()}`,
      title: 'Deckhand',
      newTitle: 'Mate',
      firstName: 'New',
      lastName: 'Name',
      password: 'tallow fern by the quay 42',
      purpose: PasswordLinkPurpose.INVITATION,
      permissions: ['q'],
    };
  }

  async function outcomeOf(token: string, name: string, request: object): Promise<string> {
    try {
      await call(token, name, request);
      return 'answered';
    } catch (error) {
      return (error as ServiceError).code;
    }
  }

  test('finds nothing of another instance and keeps no write of it waiting, whatever it calls', async () => {
    await prepare();
    for (const name of unary.filter((method) => !LISTS.includes(method))) {
      const expected = OF_ALL.includes(name) ? /_CALLER_NOT_ALLOWED$/ : /_NOT_FOUND$/;
      expect(`${name} ${await outcomeOf(LIMITED, name, naming(foreign))}`).toMatch(expected);
    }
    // Others wait for what it locks.
    expect(Object.values(foreign).filter((id) => locked.includes(id))).toEqual([]);
  });

  test('lists its own instance and the clients of that', async () => {
    await prepare();
    const { instances } = await call(LIMITED, 'listInstances', {});
    expect(instances.map(({ id }: { id: string }) => id)).toEqual([own.instanceId]);
    const { clients } = await call(LIMITED, 'listClients', {});
    expect(clients.map(({ id }: { id: string }) => id)).toEqual([own.clientId]);
    expect((await call(LIMITED, 'listClients', { instanceId: foreign.instanceId })).clients).toEqual([]);
  });

  test('reads all of its instance', async () => {
    await prepare();
    for (const name of unary.filter((method) => /^(get|list)/.test(method) && !OF_ALL.includes(method))) {
      const request = { ...naming(own), email: undefined };
      expect([name, await outcomeOf(LIMITED, name, request)]).toEqual([name, 'answered']);
    }
  });

  test.each([false, true])(
    'imports into its own instance only, also while others call (dry run: %s)',
    async (dryRun) => {
      await prepare();
      const importing = openImport(address, LIMITED);
      importing.begin({ dryRun });
      importing.lines({ line: 1, record: locationRecord(own.clientId as string, 'Pier') });
      await importing.next();
      await call('whole', 'createLocation', { clientId: foreign.clientId, name: 'Slip' });
      locked = [];
      importing.lines({ line: 2, record: locationRecord(foreign.clientId as string, 'Pier') });
      importing.end();
      const { responses } = await importing.rest();
      expect(responses.at(-1)).toMatchObject({ read: 2, imported: 1, refused: 1, done: true });
      expect(responses.flatMap(({ refusedLines }) => refusedLines)).toMatchObject([
        { line: 2, error: { code: ErrorCode.CLIENT_NOT_FOUND } },
      ]);
      expect(Object.values(foreign).filter((id) => locked.includes(id))).toEqual([]);
      const named = database.reader.selectFrom('locations').where('name', '=', 'Pier').select('client_id');
      expect(await named.execute()).toEqual(dryRun ? [] : [{ client_id: own.clientId }]);
    },
  );

  const inAnotherInstance = () =>
    call('whole', 'createUser', { clientId: foreign.clientId, email: own.email });
  const workingInAnotherInstance = () =>
    call('whole', 'onboardWorker', { ...naming(foreign), email: own.email });

  /** As if the person had signed in as the user. */
  const signedInBefore = (userId: string) => inStatus({ database }, { id: userId }, 'ACTIVE');

  /** What a person of the instance is elsewhere. */
  const ELSEWHERE: [what: string, become: () => Promise<unknown>][] = [
    ['nobody', async () => undefined],
    ['no account, with a password', () => call('whole', 'setPassword', naming(own))],
    ['a user', inAnotherInstance],
    ['a worker', workingInAnotherInstance],
    [
      'a deleted user',
      async () => {
        const { user } = await inAnotherInstance();
        await call('whole', 'deleteUser', { userId: user.id });
      },
    ],
    [
      'an offboarded worker',
      async () => {
        const { worker } = await workingInAnotherInstance();
        await call('whole', 'offboardWorker', { workerId: worker.id });
      },
    ],
  ];

  /** The person as others see them: credentials, status, and requests of other instances. */
  async function personRows(): Promise<unknown> {
    const { reader } = database;
    const account = reader.selectFrom('accounts').where('id', '=', own.accountId as string);
    const events = reader.selectFrom('events').where('instance_id', '=', foreign.instanceId as string);
    return [
      await account.selectAll().execute(),
      await events.select('id').execute(),
      ...(await Promise.all(
        CREDENTIALS.map((table) =>
          reader
            .selectFrom(table as 'passwords')
            .selectAll()
            .execute(),
        ),
      )),
    ];
  }

  /** What takes the person away comes last. */
  const inOrder = unary.toSorted((a, b) => Number(ENDS.test(a)) - Number(ENDS.test(b)));

  test.each(ELSEWHERE)(
    'changes nothing of a person who is %s elsewhere, and is handed no secret, whatever it calls',
    async (_, become) => {
      await prepare();
      await become();
      // Only one who has signed in can be disabled.
      await signedInBefore(own.userId as string);
      const before = await personRows();
      const answered = new Set<string>();
      for (const name of inOrder) {
        const { email } = own;
        for (const request of [
          naming(own),
          { ...naming(own), email, wish: { $case: 'userId', value: own.userId } },
        ]) {
          const outcome = await outcomeOf(LIMITED, name, request);
          if (outcome === 'answered') {
            answered.add(name);
          }
          if (OF_ALL.includes(name)) {
            expect([name, outcome]).toEqual([name, ErrorCode.CALLER_NOT_ALLOWED]);
          }
        }
      }
      expect(await personRows()).toEqual(before);
      const aboutPeople = unary.filter((name) => /User|Worker|Account/.test(name));
      expect(aboutPeople.filter((name) => !OF_ALL.includes(name) && !answered.has(name))).toEqual([]);
    },
  );

  test('reads only what its own instance has added to an account', async () => {
    await prepare();
    const { email, accountId } = foreign;
    await call('whole', 'updateAccount', { accountId, firstName: 'Secret', lastName: 'Name' });
    await call('whole', 'setPassword', naming(foreign));
    await signedInBefore(foreign.userId as string);
    await call('whole', 'updateUser', { userId: foreign.userId, email: 'private@example.com' });
    await call('whole', 'updateAccount', { accountId, email: 'wished.by.the.platform@example.com' });
    const { user } = await call(LIMITED, 'createUser', { clientId: own.clientId, email });
    await signedInBefore(user.id);
    await call(LIMITED, 'updateUser', { userId: user.id, email: 'own@example.com' });
    const { account, contexts } = await call(LIMITED, 'getAccount', {
      key: { $case: 'email', value: email },
    });
    expect({
      ...account,
      pendingEmails: account.pendingEmails.map(({ email }: { email: string }) => email),
    }).toEqual({
      id: accountId,
      email,
      emailVerified: false,
      status: AccountStatus.UNSPECIFIED,
      workerProfileId: expect.any(String),
      version: '',
      pendingEmails: ['own@example.com'],
    });
    expect(contexts).toEqual([
      {
        member: { $case: 'userId', value: user.id },
        clientId: own.clientId,
        instanceId: own.instanceId,
        allowsSignIn: true,
      },
    ]);
    await call('whole', 'disableAccount', { accountId });
    const disabled = await call(LIMITED, 'getAccount', { key: { $case: 'email', value: email } });
    expect([disabled.account.status, disabled.contexts]).toEqual([AccountStatus.UNSPECIFIED, contexts]);
    await call('whole', 'deleteUser', { userId: foreign.userId });
    const formerFor = async (token: string) =>
      (await call(token, 'getAccount', { key: { $case: 'accountId', value: accountId } })).formerContexts;
    expect([await formerFor(LIMITED), await formerFor('whole')]).toEqual([
      [],
      [expect.objectContaining({ member: { $case: 'userId', value: foreign.userId } })],
    ]);
  });

  test('follows the address of no person who has not signed in there as a user', async () => {
    await prepare();
    const { email, accountId } = foreign as { email: string; accountId: AccountId };
    const { clientId, instanceId } = own;
    const { client: beside } = await call(LIMITED, 'createClient', { instanceId, name: 'Beside' });
    const { user } = await call(LIMITED, 'createUser', { clientId, email });
    const { user: gone } = await call(LIMITED, 'createUser', { clientId: beside.id, email });
    await call(LIMITED, 'deleteUser', { userId: gone.id });
    const managed = { clientId, managerUserId: user.id, withoutManager: false, email: 'cleo@example.com' };
    const { user: report } = await call(LIMITED, 'createUser', managed);
    const names = { firstName: 'Ben', lastName: 'Okafor' };
    await call(LIMITED, 'onboardWorker', { clientId: beside.id, email, ...names });
    await call('whole', 'setPassword', naming(foreign));
    const latest = 'private@new-home.example.com';
    await platformUnitOfWork(database).run(async (changes) => {
      await changes.lock(accountId);
      await takeEmail(changes, accountId, latest, { isProved: true });
    });

    const byId = { key: { $case: 'accountId', value: accountId } };
    const byLatest = { key: { $case: 'email', value: latest }, clientId, email: latest };
    const emailsOf = async (token: string) => [
      (await call(token, 'getUser', { userId: user.id })).user.email,
      (await call(token, 'getUser', { userId: gone.id })).user.email,
      (await call(token, 'getUser', { userId: report.id })).user.manager.email,
      (await call(token, 'getAccount', byId)).account.email,
    ];
    expect(await emailsOf(LIMITED)).toEqual([email, email, email, email]);
    expect(await emailsOf('whole')).toEqual([email, email, email, latest]);
    expect((await call(LIMITED, 'listUsers', byLatest)).users).toEqual([]);
    expect(await outcomeOf(LIMITED, 'getAccount', byLatest)).toBe(ErrorCode.ACCOUNT_NOT_FOUND);

    // Then only a worker, which takes no consent.
    await call(LIMITED, 'deleteUser', { userId: user.id });
    expect((await call(LIMITED, 'getAccount', byId)).account.email).toBe('');
    expect(await outcomeOf(LIMITED, 'getAccount', byLatest)).toBe(ErrorCode.ACCOUNT_NOT_FOUND);
  });

  test('gets the same answer whether or not a requested address belongs to a person elsewhere', async () => {
    await prepare();
    await signedInBefore(own.userId as string);
    const answers = [];
    for (const email of [foreign.email as string, 'nobody@example.com']) {
      const { user } = await call(LIMITED, 'updateUser', { userId: own.userId, email });
      answers.push({ email: user.email, pending: user.pendingEmail.email === email });
    }
    expect(answers).toEqual(Array(2).fill({ email: own.email, pending: true }));
  });

  test('cannot ask for another address of a person who is only invited, and learns nothing by trying', async () => {
    await prepare();
    const ask = async (token: string, userId: string, email: string) => {
      const asked = call(token, 'updateUser', { userId, email, firstName: 'Bo' });
      const { code, message } = await asked.catch((error: ServiceError) => error);
      return { code, message };
    };
    const refusal = {
      code: ErrorCode.TRANSITION_REFUSED,
      message: expect.stringContaining('delete the user and create one with the right address'),
    };
    const { user: joined } = await call(LIMITED, 'createUser', {
      clientId: own.clientId,
      email: foreign.email,
    });
    for (const userId of [own.userId as string, joined.id]) {
      for (const email of [`worker.${foreign.email}`, 'nobody@example.com']) {
        expect(await ask(LIMITED, userId, email)).toEqual(refusal);
      }
    }
    // Nor for an address of a person of its own, which only a token of all instances may know to be taken.
    expect(await ask(LIMITED, joined.id, own.email as string)).toEqual(refusal);
    const { user } = await call('whole', 'getUser', { userId: joined.id });
    expect([user.email, user.firstName, user.pendingEmail]).toEqual([foreign.email, undefined, undefined]);
    expect(await database.reader.selectFrom('email_changes').selectAll().execute()).toEqual([]);
    // The platform's token sees that the person belongs to two clients; it cannot ask for the client either.
    expect(await ask('whole', joined.id, 'nobody@example.com')).toEqual(refusal);
  });

  test('corrects a mistyped address by deleting the user and creating one, as the refusal says', async () => {
    await prepare();
    const { clientId, roleId } = own;
    const invited = { clientId, roleId, firstName: 'Cleo' };
    const { user: mistyped } = await call(LIMITED, 'createUser', { ...invited, email: 'clio@example.com' });
    await call(LIMITED, 'deleteUser', { userId: mistyped.id });
    const { user } = await call(LIMITED, 'createUser', { ...invited, email: 'cleo@example.com' });
    expect(user).toMatchObject({ email: 'cleo@example.com', status: mistyped.status, role: mistyped.role });
    expect(user.accountId).not.toBe(mistyped.accountId);
    // With a token of all instances an unclaimed account gets the address at once.
    const { user: fresh } = await call('whole', 'createUser', { clientId, email: 'eva@example.com' });
    const updated = await call('whole', 'updateUser', { userId: fresh.id, email: 'eve@example.com' });
    expect(updated.user).toMatchObject({ email: 'eve@example.com', accountId: fresh.accountId });
  });
});
