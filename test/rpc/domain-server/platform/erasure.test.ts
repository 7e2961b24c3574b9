import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { AccountId, ClientId, InstanceId } from '../../../../generated/ids.js';
import {
  AccountStatus,
  PasswordLinkPurpose,
} from '../../../../generated/proto/integration/platform/v1/accounts.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { createApplication } from '../../../../src/domain/operator/applications.js';
import { renameJobTitle } from '../../../../src/domain/platform/organization/job-titles.js';
import { updateUser } from '../../../../src/domain/platform/people/user-updates.js';
import type { UserView } from '../../../../src/domain/platform/rows/people.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import type { CallOptions } from '../../../../src/rpc/callers.js';
import { platformService } from '../../../../src/rpc/domain-server/platform/index.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { sharedMailboxes } from '../../../../src/store/adapters/platform/accounts.js';
import { copyForgetting } from '../../../../src/store/adapters/platform/erasure.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { signOnUnitOfWork } from '../../../../src/store/adapters/sign-on/unit-of-work.js';
import { FORGOTTEN } from '../../../../src/store/adapters/unit-of-work.js';
import type { Database } from '../../../../src/store/database.js';
import { OPERATOR } from '../../../store/adapters/operator/rig.js';
import { newCode, newGrant, newSession } from '../../../store/adapters/sign-on/samples.js';
import { plantSubscription } from '../../../store/adapters/webhooks/sending/rig.js';
import { inspect } from '../../../store/checks/inspect.js';
import { plantConnection, plantIntegration } from '../../../store/rows.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { platformDependencies } from '../../../support/platform-dependencies.js';
import { connectionsWaiting } from '../../../support/postgres/waiting-connections.js';
import { signalled } from '../../../support/signalled.js';
import { refusalOf, rpcRigs, TOKENS } from '../../rig.js';

/** What a caller leaves out. */
const unset = { withoutManager: false, unitIds: [], units: [], subUnits: [], jobTitles: [], statuses: [] };

const PERSON = { email: 'Zebulon.Quixworth@mail.example', firstName: 'Zebulon', lastName: 'Quixworth' };
const OTHER_EMAIL = 'zq@pending.example';
const PHONE = '+45 98 76 54 32';
const HOME = {
  address1: 'Nettlewick Lane 7',
  address2: 'Attic door',
  city: 'Umberfold',
  isoCountryCode: 'DK',
  postalCode: 'DK 98-123',
  zoneCode: 'Wren-shire',
};

/** Parts of what the person is known by, too long for keys and hashes to have them by chance. */
const NEEDLES = [
  ...['zebulon', 'quixworth', 'mail.example', 'pending.example'],
  ...['98 76 54', 'nettlewick', 'attic', 'umberfold', 'dk 98-123', 'wren-shire'],
];

type Unary = Exclude<keyof typeof methods, 'importRecords'>;

// biome-ignore lint/suspicious/noExplicitAny: each answer is looked into by its own test.
type Answer = any;

describeEachDatabase('an erased account', (under) => {
  const rigs = rpcRigs();

  async function newPlatform() {
    const database = await under.openMigrated();
    const ports = { forgetCopies: copyForgetting(database) };
    const unitOfWork = platformUnitOfWork(database);
    const dependencies = platformDependencies(unitOfWork, (id) => ports.forgetCopies(id));
    const rig = await rigs.start([platformService(dependencies)]);
    const client = rig.channel(TOKENS.platform).clientOf(methods);
    const call = (name: Unary, request: object): Promise<Answer> => {
      const unary = client[name] as unknown as (request: object, options: CallOptions) => Promise<Answer>;
      return unary({ ...unset, ...request }, { requestId: 'r', deadlineMs: 20_000 });
    };
    const { instance } = await call('createInstance', { name: 'Harborlight' });
    const newClient = async (name: string): Promise<ClientId> =>
      (await call('createClient', { instanceId: instance.id, name })).client.id;
    return { call, database, instanceId: instance.id as InstanceId, newClient, ports, unitOfWork };
  }

  type Platform = Awaited<ReturnType<typeof newPlatform>>;

  /** A user and a worker with everything that the service stores of a person, who has left. */
  async function formerPerson({ call, database, instanceId, newClient }: Platform) {
    const clientId = await newClient('Tallowfern');
    await subscribe(database, instanceId);
    let key = 0;
    const keyed = (name: Unary, request: object) => {
      key += 1;
      return call(name, { ...request, idempotencyKey: `key ${key}` });
    };
    const { user } = await keyed('createUser', { clientId, ...PERSON, withoutManager: true });
    const { accountId, id: userId } = user;
    await keyed('updateUser', { userId, lastName: 'Quixworth-Umberfold' });
    // One who reports to the person shows the person as manager.
    const { user: report } = await keyed('createUser', { clientId, email: 'report@example.com' });
    expect(report.manager.email).toBe(PERSON.email);
    const location = (await call('createLocation', { clientId, name: 'Quay' })).location;
    const { worker } = await keyed('onboardWorker', {
      ...{ clientId, ...PERSON, phone: PHONE, address: HOME },
      ...{ jobTitles: ['Welder'], locationId: location.id },
    });
    await call('createPasswordLink', { accountId, purpose: PasswordLinkPurpose.INVITATION });
    await call('createEmailVerificationLink', { accountId });
    await keyed('setPassword', { accountId, password: 'a long enough pass phrase' });
    await keyed('updateAccount', { accountId, email: OTHER_EMAIL });
    await call('createEmailChangeLink', { wish: { $case: 'accountId', value: accountId } });
    await plantSignOn(database, { accountId, clientId, instanceId });
    await keyed('deleteUser', { userId });
    await database.write((writer) =>
      writer.updateTable('users').set({ known_email: PERSON.email }).where('id', '=', userId).execute(),
    );
    await keyed('offboardWorker', { workerId: worker.id });
    return { accountId, clientId, location, report, userId, workerId: worker.id };
  }

  test('leaves the person’s name, address, phone or street in no table', async () => {
    const platform = await newPlatform();
    const { accountId } = await formerPerson(platform);
    const before = await foundIn(platform.database);
    expect(Object.keys(before).sort()).toEqual([
      'account_links',
      'account_notices',
      'accounts',
      'email_changes',
      'events',
      'idempotency_keys',
      'users',
      'workers',
    ]);
    await platform.call('eraseAccount', { accountId, idempotencyKey: 'erase' });
    expect(await foundIn(platform.database)).toEqual({});
    const inspections = await inspect(platform.database.reader, { now: Date.now(), eventsMs: 0 });
    expect(inspections.filter(({ count }) => count > 0)).toEqual([]);
    for (const table of OF_THE_PERSON) {
      const rows = platform.database.reader.selectFrom(table).where('account_id', '=', accountId);
      expect([table, await rows.selectAll().execute()]).toEqual([table, []]);
    }
  });

  test('is disabled and nameless for good, with its users and workers, whose organization stays', async () => {
    const platform = await newPlatform();
    const { call } = platform;
    const { accountId, clientId, location, report, userId, workerId } = await formerPerson(platform);
    const request = { accountId, idempotencyKey: 'erase' };
    const first = await call('eraseAccount', request);
    expect(first.account).toMatchObject({
      id: accountId,
      email: `erased-${accountId}@erased.invalid`,
      emailVerified: false,
      status: AccountStatus.DISABLED,
      workerProfileId: expect.stringMatching(/^wpf_/),
      pendingEmails: [],
    });
    expect([first.account.fullName, first.account.passwordSetAt]).toEqual([undefined, undefined]);
    expect(await call('eraseAccount', request)).toEqual(first);
    expect(await call('eraseAccount', { accountId })).toEqual(first);
    expect(await call('getAccount', { key: { $case: 'accountId', value: accountId } })).toEqual({
      account: first.account,
      contexts: [],
    });
    const { user } = await call('getUser', { userId });
    const email = `erased-${userId}@erased.invalid`;
    expect(user).toMatchObject({ id: userId, clientId, accountId, email });
    expect([user.firstName, user.lastName, user.fullName]).toEqual([undefined, undefined, undefined]);
    const { worker } = await call('getWorker', { workerId });
    expect(worker).toMatchObject({
      ...{ id: workerId, clientId, accountId, email: `erased-${workerId}@erased.invalid` },
      ...{ firstName: 'Erased', lastName: 'person', fullName: 'Erased person' },
      ...{ address: {}, jobTitles: ['Welder'], locationId: location.id },
    });
    expect([worker.phone, worker.address.city]).toEqual([undefined, undefined]);
    const { user: reporting } = await call('getUser', { userId: report.id });
    expect(reporting.manager).toMatchObject({ id: userId, email });
  });

  test('shows no two of its users the same address, and none that of the account', async () => {
    const { call, database, newClient } = await newPlatform();
    const clients = [await newClient('Tallowfern'), await newClient('Quillmere')];
    const users = [];
    for (const clientId of clients) {
      const { user } = await call('createUser', { clientId, ...PERSON });
      const report = await call('createUser', { clientId, email: `report.${users.length}@example.com` });
      expect(report.user.manager.email).toBe(PERSON.email);
      await call('deleteUser', { userId: user.id });
      users.push(user);
    }
    const [{ accountId }] = users as [{ accountId: string }];
    await call('eraseAccount', { accountId });
    for (const { id } of users) {
      const { user } = await call('getUser', { userId: id });
      expect(user.email).toBe(`erased-${id}@erased.invalid`);
      const events = database.reader.selectFrom('events').where('entity_id', '=', id).select('data');
      const texts = (await events.execute()).map(({ data }) => data);
      expect(texts.every((text) => text.includes(user.email) && !text.includes(accountId))).toBe(true);
    }
    expect(await foundIn(database)).toEqual({});
  });

  test('changes those who reported to it in the sequence, also if it showed an address alone', async () => {
    const { call, database, newClient } = await newPlatform();
    const clientId = await newClient('Tallowfern');
    const { user } = await call('createUser', { clientId, email: PERSON.email });
    const { user: report } = await call('createUser', { clientId, email: 'report@example.com' });
    await call('deleteUser', { userId: user.id });
    await database.write((writer) =>
      writer.updateTable('users').set({ known_email: OTHER_EMAIL }).where('id', '=', user.id).execute(),
    );
    const places = await changesOf(database);
    await call('eraseAccount', { accountId: user.accountId });
    const later = await changesOf(database);
    for (const { id } of [user, report]) {
      expect(Number(later[id]?.position)).toBeGreaterThan(Number(places[id]?.position));
    }
  });

  test('is no longer named in events of those who reported to it, which are else the same', async () => {
    const platform = await newPlatform();
    const { call, database } = platform;
    const { accountId, clientId, report, userId } = await formerPerson(platform);
    await call('updateUser', { userId: report.id, firstName: 'Rhoswen' });
    const { user: other } = await call('createUser', { clientId, email: 'other@example.com' });
    const events = () =>
      database.reader
        .selectFrom('events')
        .where('entity_id', 'in', [report.id, other.id])
        .orderBy('seq')
        .selectAll()
        .execute();
    const earlier = await events();
    const places = await changesOf(database);
    await call('eraseAccount', { accountId });
    const email = `erased-${userId}@erased.invalid`;
    const manager = { id: userId, firstName: null, lastName: null, fullName: null, email };
    const expected = earlier.map((event) => {
      const data = JSON.parse(event.data);
      return data.manager?.id === userId ? { ...event, data: JSON.stringify({ ...data, manager }) } : event;
    });
    expect(expected.filter(({ data }) => data.includes(email))).toHaveLength(2);
    expect(await events()).toEqual(expected);
    const later = await changesOf(database);
    expect(Number(later[report.id]?.position)).toBeGreaterThan(Number(places[report.id]?.position));
  });

  test.each([{ idempotencyKey: 'erase' }, {}])(
    'is forgotten by a repeated call with %j after one that was cut off behind its commit',
    async (key) => {
      const platform = await newPlatform();
      const { call, database, ports } = platform;
      const { accountId } = await formerPerson(platform);
      const { forgetCopies: forget } = ports;
      ports.forgetCopies = async () => {
        throw new Error('It is cut off.');
      };
      await refusalOf(call('eraseAccount', { accountId, ...key }));
      expect(Object.keys(await foundIn(database))).toEqual(['events', 'idempotency_keys']);
      ports.forgetCopies = forget;
      const { account } = await call('eraseAccount', { accountId, ...key });
      expect(account.email).toBe(`erased-${accountId}@erased.invalid`);
      expect(await foundIn(database)).toEqual({});
    },
  );

  test('is forgotten in small writes, each of which stays when the next one fails', async () => {
    const { call, database, newClient, ports } = await newPlatform();
    const clientId = await newClient('Tallowfern');
    const { user } = await call('createUser', { clientId, ...PERSON });
    const { accountId } = user;
    await call('createUser', { clientId, email: 'report@example.com' });
    await call('deleteUser', { userId: user.id });
    await plantAnswers(database, 250, accountId);
    await plantEvents(database, 2_050);
    let writes = 0;
    const failing = (last: number): Pick<Database, 'reader' | 'write'> => ({
      reader: database.reader,
      write: (work) => {
        writes += 1;
        return writes > last ? Promise.reject(new Error('It fails.')) : database.write(work);
      },
    });
    const left = async () => [await answersLeft(database), (await foundIn(database)).events?.length ?? 0];
    ports.forgetCopies = copyForgetting(failing(2));
    await refusalOf(call('eraseAccount', { accountId }));
    expect(await left()).toEqual([50, 2_051]);
    writes = 0;
    await refusalOf(call('eraseAccount', { accountId }));
    expect(await left()).toEqual([0, 1_051]);
    writes = 0;
    ports.forgetCopies = copyForgetting(failing(Number.POSITIVE_INFINITY));
    await call('eraseAccount', { accountId });
    expect([await left(), writes]).toEqual([[0, 0], 2]);
    await call('eraseAccount', { accountId });
    expect(writes).toBe(2);
  });

  test('is forgotten by one scan at a time', async () => {
    const { database } = await newPlatform();
    const accountIds = [newPublicId('AccountId'), newPublicId('AccountId')];
    let [open, most] = [0, 0];
    const write: Database['write'] = async (work) => {
      open += 1;
      most = Math.max(most, open);
      await answersLeft(database);
      return database.write(work).finally(() => {
        open -= 1;
      });
    };
    const forget = copyForgetting({ reader: database.reader, write });
    for (const accountId of accountIds) {
      await plantAnswers(database, 250, accountId);
    }
    await Promise.all(accountIds.map(forget));
    expect([await answersLeft(database), most]).toEqual([0, 1]);
  });

  test('does not come back into an event whose own person was erased meanwhile', async () => {
    const { call, database, newClient, ports } = await newPlatform();
    const clientId = await newClient('Tallowfern');
    const { user: manager } = await call('createUser', { clientId, ...PERSON });
    const { user: report } = await call('createUser', { clientId, email: 'zebulon.too@example.com' });
    await call('deleteUser', { userId: report.id });
    await call('deleteUser', { userId: manager.id });
    ports.forgetCopies = async (id) => {
      ports.forgetCopies = copyForgetting(database);
      const write: Database['write'] = async (work) => {
        await call('eraseAccount', { accountId: report.accountId });
        return database.write(work);
      };
      await copyForgetting({ reader: database.reader, write })(id);
    };
    await call('eraseAccount', { accountId: manager.accountId });
    expect(await foundIn(database)).toEqual({});
  });

  test('waits for a write that shows the person, and forgets its event and its answer too', async () => {
    const platform = await newPlatform();
    const { call, database, unitOfWork } = platform;
    const { accountId, clientId, report } = await formerPerson(platform);
    const [locked, mayGoOn] = [signalled(), signalled()];
    const repeatable = {
      ...{ ownerId: 'tok_x', method: '/m', key: 'open', requestHash: 'h' },
      encode: (answer: UserView) => Buffer.from(JSON.stringify(answer)),
      decode: () => {
        throw new Error('It is the first call.');
      },
    };
    const open = unitOfWork.run(
      async (changes) => {
        await changes.lock(clientId);
        locked.tell();
        await mayGoOn.told;
        return updateUser(changes, { userId: report.id, firstName: 'Rhoswen' });
      },
      { repeatable },
    );
    await locked.told;
    const erasure = call('eraseAccount', { accountId });
    if (under.kind === 'PostgreSQL') {
      await eventually('the erasure waits', async () => (await connectionsWaiting(database)) > 0);
    }
    mayGoOn.tell();
    const shown = await open;
    expect(shown.manager?.email).toBe(PERSON.email);
    await erasure;
    const events = database.reader.selectFrom('events').where('entity_id', '=', report.id).select('data');
    const names = (await events.execute()).map(({ data }) => JSON.parse(data).firstName);
    expect(names).toEqual([null, 'Rhoswen']);
    expect(await foundIn(database)).toEqual({});
  });

  test('waits for a write that renames a job title, and leaves its worker the new one', async () => {
    const platform = await newPlatform();
    const { call, database, unitOfWork } = platform;
    const { accountId, clientId, workerId } = await formerPerson(platform);
    const [locked, mayGoOn] = [signalled(), signalled()];
    const open = unitOfWork.run(async (changes) => {
      await changes.lock(clientId);
      locked.tell();
      await mayGoOn.told;
      return renameJobTitle(changes, { clientId, title: 'Welder', newTitle: 'Rigger' });
    });
    await locked.told;
    const erasure = call('eraseAccount', { accountId });
    if (under.kind === 'PostgreSQL') {
      await eventually('the erasure waits', async () => (await connectionsWaiting(database)) > 0);
    }
    mayGoOn.tell();
    await open;
    await erasure;
    const { worker } = await call('getWorker', { workerId });
    expect(worker).toMatchObject({ fullName: 'Erased person', jobTitles: ['Rigger'] });
  });

  test('has one event for each user and worker, and earlier ones get the same data, with their deliveries', async () => {
    const platform = await newPlatform();
    const { database } = platform;
    const { accountId, userId, workerId } = await formerPerson(platform);
    const eventsOf = (id: string) =>
      database.reader.selectFrom('events').where('entity_id', '=', id).orderBy('seq').selectAll().execute();
    const pending = () => database.reader.selectFrom('deliveries').orderBy('seq').selectAll().execute();
    const earlier = [await eventsOf(userId), await eventsOf(workerId)];
    const waiting = await pending();
    const places = await changesOf(database);
    await platform.call('eraseAccount', { accountId });
    for (const [index, id] of [userId, workerId].entries()) {
      const events = await eventsOf(id);
      const { data: _, ...newest } = events.at(-1) ?? { data: '' };
      expect(newest).toMatchObject({ type: index === 0 ? 'user.updated' : 'worker.updated' });
      expect(events.slice(0, -1).map(({ data, ...event }) => event)).toEqual(
        earlier[index]?.map(({ data, ...event }) => event),
      );
      expect(new Set(events.map(({ data }) => data)).size).toBe(1);
    }
    const [event] = (await eventsOf(workerId)).slice(-1);
    expect(JSON.parse(event?.data ?? '')).toMatchObject({
      ...{ firstName: 'Erased', phone: null, offboardedAt: expect.any(String), jobTitles: ['Welder'] },
      location: { address1: null, city: null },
    });
    expect((await pending()).slice(0, waiting.length)).toEqual(waiting);
    expect((await pending()).length).toBe(waiting.length + 2);
    const later = await changesOf(database);
    for (const id of [userId, workerId]) {
      expect(later[id]?.version).not.toBe(places[id]?.version);
      expect(Number(later[id]?.position)).toBeGreaterThan(Number(places[id]?.position));
    }
  });

  test('is recorded with counts, and without the person', async () => {
    const platform = await newPlatform();
    const { accountId } = await formerPerson(platform);
    await platform.call('eraseAccount', { accountId });
    await platform.call('eraseAccount', { accountId });
    const records = platform.database.reader
      .selectFrom('audit_events')
      .where('type', '=', 'account.erased')
      .selectAll();
    expect(await records.execute()).toEqual([expect.objectContaining({ subject_id: accountId })]);
    const [record] = await records.execute();
    expect(JSON.parse(record?.attributes ?? '')).toEqual({ users: '1', workers: '1' });
  });

  test('is refused while the person is a user or a worker, and for an unknown account', async () => {
    const { call, newClient } = await newPlatform();
    const clientId = await newClient('Tallowfern');
    const { user } = await call('createUser', { clientId, ...PERSON });
    const { accountId } = user;
    const erase = () => call('eraseAccount', { accountId });
    const member = await refusalOf(erase());
    expect(member).toMatchObject({
      code: ErrorCode.TRANSITION_REFUSED,
      message:
        'The person is still a user or a worker. End that first, with DeleteUser and OffboardWorker for what GetAccount lists.',
    });
    const { worker } = await call('onboardWorker', { clientId, ...PERSON });
    await call('deleteUser', { userId: user.id });
    expect((await refusalOf(erase())).code).toBe(ErrorCode.TRANSITION_REFUSED);
    await call('offboardWorker', { workerId: worker.id });
    await erase();
    const unknown = call('eraseAccount', { accountId: newPublicId('AccountId') });
    expect((await refusalOf(unknown)).code).toBe(ErrorCode.ACCOUNT_NOT_FOUND);
  });

  test('is refused every other write, and its address is given to no other person', async () => {
    const platform = await newPlatform();
    const { call } = platform;
    const { accountId, clientId } = await formerPerson(platform);
    const { account } = await call('eraseAccount', { accountId });
    const password = 'a long enough pass phrase';
    const wish = { $case: 'accountId', value: accountId };
    const writes: [Unary, object][] = [
      ['enableAccount', { accountId }],
      ['updateAccount', { accountId, firstName: 'Zebulon' }],
      ['updateAccount', { accountId, email: 'zq@example.com' }],
      ['setPassword', { accountId, password }],
      ['createPasswordLink', { accountId, purpose: PasswordLinkPurpose.INVITATION }],
      ['createEmailVerificationLink', { accountId }],
      ['createEmailChangeLink', { wish }],
    ];
    for (const [name, request] of writes) {
      const { code, message } = await refusalOf(call(name, request));
      expect([name, code, message]).toEqual([
        name,
        ErrorCode.TRANSITION_REFUSED,
        'The account was erased and cannot be changed. Create a new user or worker for the person.',
      ]);
    }
    expect(await call('disableAccount', { accountId })).toEqual({ account });

    const { user: living } = await call('createUser', { clientId, email: 'living@example.com' });
    const { worker } = await call('onboardWorker', { clientId, ...PERSON });
    for (const email of [account.email, 'erased-me@ERASED.invalid']) {
      const addresses: [Unary, object][] = [
        ['createUser', { clientId, email }],
        ['onboardWorker', { clientId, ...PERSON, email }],
        ['updateUser', { userId: living.id, email }],
        ['updateWorker', { workerId: worker.id, email }],
        ['updateAccount', { accountId: living.accountId, email }],
      ];
      for (const [name, request] of addresses) {
        const { code, fieldViolations } = await refusalOf(call(name, request));
        expect([name, code, fieldViolations[0]?.path]).toEqual([name, ErrorCode.INVALID_REQUEST, 'email']);
      }
    }
  });

  test('refuses the repetition of a call whose answer had the person, or is not stored', async () => {
    const { call, database, newClient } = await newPlatform();
    const clientId = await newClient('Tallowfern');
    const creation = { clientId, ...PERSON, idempotencyKey: 'once' };
    const { user } = await call('createUser', creation);
    const other = { clientId, email: 'other@example.com', withoutManager: true, idempotencyKey: 'other' };
    const kept = await call('createUser', other);
    const half = { ...other, email: 'half@example.com', idempotencyKey: 'half' };
    await call('createUser', half);
    await database.write((writer) =>
      writer.updateTable('idempotency_keys').set({ response: null }).where('key', '=', 'half').execute(),
    );
    await call('deleteUser', { userId: user.id });
    await call('eraseAccount', { accountId: user.accountId });
    expect(await refusalOf(call('createUser', half))).toMatchObject({
      code: ErrorCode.IDEMPOTENCY_KEY_REUSED,
      message: 'The call with this idempotency key was written incompletely. Check its effects.',
    });
    expect(await refusalOf(call('createUser', creation))).toMatchObject({
      code: ErrorCode.IDEMPOTENCY_KEY_REUSED,
      message:
        'This idempotency key was used, and its answer is no longer stored, because a person in it was erased.',
    });
    expect(await call('createUser', other)).toEqual(kept);
  });

  test('leaves its address to a new person, whom nothing links to it', async () => {
    const platform = await newPlatform();
    const { call } = platform;
    const { accountId, clientId, userId } = await formerPerson(platform);
    await call('eraseAccount', { accountId });
    const { user } = await call('createUser', { clientId, ...PERSON });
    expect(user).toMatchObject(PERSON);
    expect(user.id).not.toBe(userId);
    expect(user.accountId).not.toBe(accountId);
    const { account } = await call('getAccount', { key: { $case: 'email', value: PERSON.email } });
    expect(account.id).toBe(user.accountId);
  });

  test('is no longer named by another account of its mailbox', async () => {
    const { call, database, newClient } = await newPlatform();
    const clientId = await newClient('Tallowfern');
    const { user } = await call('createUser', { clientId, ...PERSON });
    const { user: other } = await call('createUser', { clientId, email: 'other@example.com' });
    const of = { id: other.accountId, sameAs: user.accountId };
    await database.write((writer) =>
      writer.updateTable('accounts').set({ same_mailbox_as: of.sameAs }).where('id', '=', of.id).execute(),
    );
    expect(await sharedMailboxes(database)).toEqual([of]);
    await call('deleteUser', { userId: user.id });
    await call('eraseAccount', { accountId: user.accountId });
    expect(await sharedMailboxes(database)).toEqual([]);
  });

  test('is erased once by two at once, and is either joined or erased by who creates a user beside it', async () => {
    const { call, database, newClient } = await newPlatform();
    const outcomes = new Set<boolean>();
    const [clientId, other] = [await newClient('Tallowfern'), await newClient('Quillmere')];
    for (let round = 0; round < 5; round += 1) {
      const email = `person.${round}@example.com`;
      const { user } = await call('createUser', { clientId, email, firstName: 'Zebulon' });
      const { accountId } = user;
      await call('deleteUser', { userId: user.id });
      const erase = () => call('eraseAccount', { accountId }).then(() => true, codeOf);
      const create = () => call('createUser', { clientId: other, email });
      // SQLite runs writes in the order of their calls.
      const isFirst = round % 2 === 1;
      const early = isFirst ? create() : undefined;
      const [once, again, made] = await Promise.all([erase(), erase(), early ?? create()]);
      const isJoined = made.user.accountId === accountId;
      const { account } = await call('getAccount', { key: { $case: 'accountId', value: accountId } });
      expect([once, again]).toEqual(
        isJoined ? [ErrorCode.TRANSITION_REFUSED, ErrorCode.TRANSITION_REFUSED] : [true, true],
      );
      expect(account.email === email).toBe(isJoined);
      const records = database.reader
        .selectFrom('audit_events')
        .where('type', '=', 'account.erased')
        .where('subject_id', '=', accountId);
      expect(await records.selectAll().execute()).toHaveLength(isJoined ? 0 : 1);
      outcomes.add(isJoined);
    }
    if (under.kind === 'SQLite') {
      expect(outcomes).toEqual(new Set([true, false]));
    }
  });

  test('covers a person of many clients', async () => {
    const { call, database, newClient } = await newPlatform();
    const { user } = await call('createUser', { clientId: await newClient('First'), ...PERSON });
    await call('deleteUser', { userId: user.id });
    for (let client = 0; client < 70; client += 1) {
      const clientId = await newClient(`Client ${client}`);
      const { worker } = await call('onboardWorker', { clientId, ...PERSON, phone: PHONE });
      await call('offboardWorker', { workerId: worker.id });
    }
    await call('eraseAccount', { accountId: user.accountId });
    const workers = await database.reader
      .selectFrom('workers')
      .where('account_id', '=', user.accountId)
      .selectAll()
      .execute();
    expect(workers).toHaveLength(70);
    expect(new Set(workers.map(({ full_name, phone }) => `${full_name} ${phone}`))).toEqual(
      new Set(['Erased person null']),
    );
    expect(new Set(workers.map(({ email }) => email)).size).toBe(70);
  });
});

const OF_THE_PERSON = [
  'passwords',
  'account_links',
  'email_changes',
  'account_notices',
  'sessions',
  'consents',
  'login_contexts',
  'authorization_codes',
  'grants',
] as const;

function codeOf(error: unknown): ErrorCode {
  return (error as { code: ErrorCode }).code;
}

/** The rows of every table that have something of the person in a text, plain or in base64. */
async function foundIn({ reader }: Database): Promise<Record<string, Record<string, unknown>[]>> {
  const found: Record<string, Record<string, unknown>[]> = {};
  for (const { name } of await reader.introspection.getTables()) {
    const rows: Record<string, unknown>[] = await reader
      .selectFrom(name as 'events')
      .selectAll()
      .execute();
    const about = rows.filter((row) => Object.values(row).some(hasPerson));
    if (about.length > 0) {
      found[name] = about;
    }
  }
  return found;
}

function hasPerson(value: unknown): boolean {
  const text = String(value);
  const texts = [text, Buffer.from(text, 'base64').toString('utf8')].map((each) => each.toLowerCase());
  return NEEDLES.some((needle) => texts.some((each) => each.includes(needle)));
}

async function plantAnswers(database: Database, count: number, accountId: string): Promise<void> {
  const response = Buffer.from(`\u001a${accountId}`).toString('base64');
  const answers = Array.from({ length: count }, (_, number) => ({
    ...{ owner_id: accountId, method: '/m', key: `${number}`, request_hash: 'h', response, created_at: 1 },
  }));
  await database.write(async (writer) => {
    for (let from = 0; from < answers.length; from += 500) {
      await writer
        .insertInto('idempotency_keys')
        .values(answers.slice(from, from + 500))
        .execute();
    }
  });
}

/** Copies of the only event that has a manager, at one time. */
async function plantEvents(database: Database, count: number): Promise<void> {
  const columns = sql.raw('type, instance_id, client_id, entity_type, entity_id, data, is_test');
  await database.write((writer) =>
    sql`
      with recursive copies (number) as (
        select 1 union all select number + 1 from copies where number < ${count}
      )
      insert into events (id, occurred_at, ${columns})
      select 'evt_' || number, 1, ${columns} from events cross join copies
      where data like '%"manager":{%'
    `.execute(writer),
  );
}

async function answersLeft({ reader }: Database): Promise<number> {
  const answers = reader.selectFrom('idempotency_keys').where('response', '<>', FORGOTTEN);
  return (await answers.select('key').execute()).length;
}

async function changesOf({ reader }: Database) {
  const rows = await reader.selectFrom('changes').selectAll().execute();
  return Object.fromEntries(rows.map((row) => [row.entity_id, row]));
}

/** A subscription, so that there are deliveries that wait. */
async function subscribe(database: Database, instanceId: string): Promise<void> {
  const { id: integration_id } = await plantIntegration(database);
  const of = { integration_id, instance_id: instanceId };
  const { id } = await plantConnection(database, { ...of, configured_at: 1 });
  await plantSubscription(database, { instance_integration_id: id, instance_id: instanceId });
}

/** What a person leaves who has signed in. */
async function plantSignOn(
  database: Database,
  { accountId, clientId, instanceId }: { accountId: AccountId; clientId: ClientId; instanceId: InstanceId },
): Promise<void> {
  const now = Date.now();
  const creation = { name: 'Rota', type: 'public' as const, redirectUris: [], firstParty: false };
  const { application } = await inNameOf(OPERATOR, operatorUnitOfWork(database)).run((changes) =>
    createApplication(changes, 'demo', creation),
  );
  await signOnUnitOfWork(database).run(async (changes) => {
    await changes.codes.insert(newCode(accountId, now));
    await changes.grants.insert(newGrant(accountId, now));
    await changes.sessions.insert(newSession(now, { account: { id: accountId, authenticatedAt: now } }));
    const key = { accountId, applicationId: application.id, instanceId };
    await changes.consents.give(key, ['openid'], now);
    const context = { userType: 'USER', clientId } as const;
    await changes.loginContexts.remember(accountId, instanceId, context, now);
    await changes.notices.insert({
      ...{ id: 'ntc_1', accountId, kind: 'email_changed', email: PERSON.email, createdAt: now },
    });
  });
}
