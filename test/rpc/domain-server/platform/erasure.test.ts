import { expect, test } from '@jest/globals';
import {
  AccountStatus,
  PasswordLinkPurpose,
} from '../../../../generated/proto/integration/platform/v1/accounts.js';
import { renameJobTitle } from '../../../../src/domain/platform/organization/job-titles.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import { sharedMailboxes } from '../../../../src/store/adapters/platform/accounts.js';
import { inspect } from '../../../store/checks/inspect.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { connectionsWaiting } from '../../../support/postgres/waiting-connections.js';
import { signalled } from '../../../support/signalled.js';
import { refusalOf } from '../../rig.js';
import {
  changesOf,
  erasureRig,
  formerPerson,
  foundIn,
  OTHER_EMAIL,
  PERSON,
  PHONE,
  type Unary,
} from './erasure-rig.js';

describeEachDatabase('an erased account', (under) => {
  const newPlatform = erasureRig(under);

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
    const { formerContexts, ...shown } = await call('getAccount', {
      key: { $case: 'accountId', value: accountId },
    });
    expect(shown).toEqual({ account: first.account, contexts: [] });
    const former = formerContexts.map(({ member }: { member: { value: string } }) => member.value);
    expect(former).toEqual(expect.arrayContaining([userId, workerId]));
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
        'The person is still a user or a worker. End that first, with DeleteUser and OffboardWorker for each of the contexts of GetAccount.',
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
