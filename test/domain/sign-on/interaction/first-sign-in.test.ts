import { describe, expect, test } from '@jest/globals';
import { disableUser, enableUser } from '../../../../src/domain/platform/people/user-updates.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { assertPayload } from '../../../support/platform-writes.js';
import {
  audited,
  type BrowserRig,
  browserRig,
  hire,
  newClient,
  newPerson,
  OTHER_CALLBACK,
  type Person,
} from '../browser-rig.js';
import { answerOf, codeOf, signedInBrowser, TestBrowser } from '../test-browser.js';

const under = databaseUnderTest('SQLite');

async function statuses({ run }: BrowserRig, { accountId }: Person): Promise<Record<string, string>> {
  const users = await run((changes) => changes.users.ofAccount(accountId));
  return Object.fromEntries(users.map(({ clientId, status }) => [clientId, status]));
}

async function updates({ database }: BrowserRig): Promise<{ entity: string; instance: string }[]> {
  const rows = await database.reader
    .selectFrom('events')
    .where('type', '=', 'user.updated')
    .orderBy('entity_id')
    .selectAll()
    .execute();
  for (const row of rows) {
    const entity = { type: row.entity_type, id: row.entity_id };
    const { type, client_id: clientId, instance_id: instanceId } = row;
    const data = JSON.parse(row.data);
    expect(data.status).toBe('ACTIVE');
    const [occurredAt, sequence] = [row.occurred_at, row.sequence as number];
    assertPayload(row.id, { type, occurredAt, sequence, instanceId, clientId, entity, data });
  }
  return rows.map((row) => ({ entity: row.entity_id, instance: row.instance_id }));
}

describe('the first sign-in on an instance', () => {
  test('makes the user of the chosen context ACTIVE with one event; every other user of the person stays INVITED', async () => {
    const rig = await browserRig(under);
    const second = await newClient(rig, rig.here.instanceId, 'Saltmere');
    const person = await newPerson(rig, [rig.here.clientId, second, rig.there.clientId]);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    await browser.signIn(person);
    expect(await updates(rig)).toEqual([]);
    codeOf(await browser.choose({ userType: 'USER', clientId: second }));
    expect(await statuses(rig, person)).toEqual({
      [rig.here.clientId]: 'INVITED',
      [second]: 'ACTIVE',
      [rig.there.clientId]: 'INVITED',
    });
    const [user] = (await rig.run((changes) => changes.users.ofAccount(person.accountId))).filter(
      ({ clientId }) => clientId === second,
    );
    expect(await updates(rig)).toEqual([{ entity: user?.id, instance: rig.here.instanceId }]);
    codeOf(await browser.authorize({ prompt: 'none' }));
    expect(await updates(rig)).toHaveLength(1);
  });

  test.each(['chosen', 'the only one left'])(
    'as a worker, %s, leaves the user of the same client unchanged',
    async (how) => {
      const rig = await browserRig(under);
      const { clientId } = rig.here;
      const person = await newPerson(rig, [clientId]);
      await hire(rig, person, clientId);
      const status = how === 'chosen' ? 'INVITED' : 'INACTIVE';
      await rig.database.write((writer) => writer.updateTable('users').set({ status }).execute());
      const browser = new TestBrowser(rig);
      await browser.authorize();
      const step = await browser.signIn(person);
      codeOf(how === 'chosen' ? await browser.choose({ userType: 'WORKER', clientId }) : step);
      expect(await statuses(rig, person)).toEqual({ [clientId]: status });
      expect(await updates(rig)).toEqual([]);
    },
  );

  test('also happens when single sign-on leads to it, once the person has chosen the user on a page', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId, rig.there.clientId]);
    const browser = await signedInBrowser(rig, person);
    rig.clock.advance(1_000);
    const silent = await browser.authorize({ redirectUri: OTHER_CALLBACK, prompt: 'none' });
    expect(answerOf(silent)).toMatchObject({ error: 'interaction_required' });
    expect(await browser.authorize({ redirectUri: OTHER_CALLBACK })).toMatchObject({
      page: 'choose_context',
    });
    expect(await browser.show('choose_context')).toMatchObject({
      contexts: [{ clientName: 'Greywharf', invited: true }],
    });
    expect(await statuses(rig, person)).toMatchObject({ [rig.there.clientId]: 'INVITED' });
    codeOf(await browser.choose({ userType: 'USER', clientId: rig.there.clientId }));
    expect(await statuses(rig, person)).toEqual({
      [rig.here.clientId]: 'ACTIVE',
      [rig.there.clientId]: 'ACTIVE',
    });
    expect((await updates(rig)).map(({ instance }) => instance).sort()).toEqual(
      [rig.here.instanceId, rig.there.instanceId].sort(),
    );
    const { what, attributes } = (await audited(rig)).at(-1) ?? {};
    expect([what, attributes?.instance_id]).toEqual(['code.issued succeeded', rig.there.instanceId]);
  });

  test('asks under single sign-on for the user first, and only then to allow an application of others', async () => {
    const rig = await browserRig(under);
    const clientId = await rig.newApplication({ firstParty: false });
    const person = await newPerson(rig, [rig.here.clientId, rig.there.clientId]);
    const browser = await signedInBrowser(rig, person);
    const request = { clientId, redirectUri: OTHER_CALLBACK };
    expect(answerOf(await browser.authorize({ ...request, prompt: 'none' }))).toMatchObject({
      error: 'interaction_required',
    });
    expect(await browser.authorize(request)).toMatchObject({ page: 'choose_context' });
    expect(await browser.choose({ userType: 'USER', clientId: rig.there.clientId })).toMatchObject({
      page: 'consent',
    });
    expect(await statuses(rig, person)).toMatchObject({ [rig.there.clientId]: 'INVITED' });
    codeOf(await browser.decide(true));
    expect(await statuses(rig, person)).toMatchObject({ [rig.there.clientId]: 'ACTIVE' });
  });

  test('is none when the person goes no further than the password', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.there.clientId]);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    expect(await browser.signIn(person)).toMatchObject({ page: 'sign_in', cookie: { kind: 'set' } });
    expect(await browser.show('sign_in')).toMatchObject({
      refusals: [{ message: expect.stringMatching(/no access to Brightledger Portal on Harborlight/) }],
    });
    expect(await statuses(rig, person)).toEqual({ [rig.there.clientId]: 'INVITED' });
  });

  test('leaves an INACTIVE user unchanged, and is open to a worker who is no user', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const [user] = await rig.run((changes) => changes.users.ofAccount(person.accountId));
    const userId = user?.id ?? '';
    await signedInBrowser(rig, person);
    await rig.run((changes) => disableUser(changes, { userId }));
    await hire(rig, person, rig.here.clientId);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    codeOf(await browser.signIn(person));
    expect(await statuses(rig, person)).toEqual({ [rig.here.clientId]: 'INACTIVE' });
    const { identities } = rig.signOn.unitOfWork.rows;
    expect(await identities.find(person.accountId, rig.here.instanceId)).toMatchObject({
      lastContext: { userType: 'WORKER' },
    });
  });
});

describe('a person with several contexts', () => {
  async function withTwo() {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    await hire(rig, person, rig.here.clientId);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    return { rig, person, browser, asWorker: { userType: 'WORKER' as const, clientId: rig.here.clientId } };
  }

  test('chooses one, which is offered first at the next sign-in, and used where they cannot be asked', async () => {
    const { rig, person, browser, asWorker } = await withTwo();
    expect(await browser.signIn(person)).toMatchObject({ page: 'choose_context' });
    expect(await browser.show('choose_context')).toMatchObject({
      accountEmail: person.email,
      form: {
        applicationName: 'Brightledger Portal',
        instanceName: 'Harborlight',
        formActionSource: 'https://portal.example.com',
      },
      contexts: [
        { userType: 'USER', clientName: 'Tallowfern', lastUsed: false },
        { userType: 'WORKER', clientName: 'Tallowfern', lastUsed: false },
      ],
      refusals: [],
    });
    codeOf(await browser.choose(asWorker));
    rig.clock.advance(1_000);
    codeOf(await browser.authorize({ prompt: 'none' }));
    await browser.authorize({ prompt: 'login' });
    await browser.signIn(person);
    expect(await browser.show('choose_context')).toMatchObject({
      contexts: [
        { userType: 'WORKER', lastUsed: true },
        { userType: 'USER', lastUsed: false },
      ],
    });
  });

  const contextIn = async ({ database }: BrowserRig) => {
    const codes = database.reader.selectFrom('authorization_codes').orderBy('issued_at', 'desc').selectAll();
    return (await codes.executeTakeFirstOrThrow()).context_user_type;
  };

  test('is not asked again in the session, whatever they choose in another browser', async () => {
    const { rig, person, browser, asWorker } = await withTwo();
    await browser.signIn(person);
    codeOf(await browser.choose(asWorker));
    const other = new TestBrowser(rig);
    rig.clock.advance(1_000);
    await other.authorize();
    expect(await other.signIn(person)).toMatchObject({ page: 'choose_context' });
    codeOf(await other.choose({ ...asWorker, userType: 'USER' }));
    expect(await contextIn(rig)).toBe('USER');
    for (const prompt of ['', 'none']) {
      rig.clock.advance(1_000);
      codeOf(await browser.authorize({ prompt }));
      expect(await contextIn(rig)).toBe('WORKER');
    }
    const { identities } = rig.signOn.unitOfWork.rows;
    // Their last choice is that in the other browser.
    expect(await identities.find(person.accountId, rig.here.instanceId)).toMatchObject({
      lastContext: { userType: 'USER' },
    });
  });

  test('is asked again after each sign-in, in the same browser too', async () => {
    const { rig, person, browser, asWorker } = await withTwo();
    await browser.signIn(person);
    codeOf(await browser.choose(asWorker));
    rig.clock.advance(1_000);
    await browser.authorize({ prompt: 'select_account' });
    expect(await browser.signIn(person)).toMatchObject({ page: 'choose_context' });
    codeOf(await browser.choose({ ...asWorker, userType: 'USER' }));
    rig.clock.advance(1_000);
    codeOf(await browser.authorize());
    expect(await contextIn(rig)).toBe('USER');
  });

  test('is asked again once the chosen one no longer admits them, and on each instance', async () => {
    const { rig, person, browser } = await withTwo();
    await hire(rig, person, rig.there.clientId);
    await hire(rig, person, await newClient(rig, rig.there.instanceId, 'Elsewhere'));
    await browser.signIn(person);
    codeOf(await browser.choose({ userType: 'USER', clientId: rig.here.clientId }));
    rig.clock.advance(1_000);
    expect(await browser.authorize({ redirectUri: OTHER_CALLBACK })).toMatchObject({
      page: 'choose_context',
    });
    await hire(rig, person, await newClient(rig, rig.here.instanceId, 'Saltmere'));
    const [user] = (await rig.run((changes) => changes.users.ofAccount(person.accountId))).filter(
      ({ clientId }) => clientId === rig.here.clientId,
    );
    await rig.run((changes) => disableUser(changes, { userId: user?.id ?? '' }));
    expect(await browser.authorize()).toMatchObject({ page: 'choose_context' });
  });

  test('is asked again for one that is none of theirs', async () => {
    const { rig, person, browser } = await withTwo();
    await browser.signIn(person);
    for (const choice of [
      { userType: 'USER' as const, clientId: rig.there.clientId },
      { userType: undefined, clientId: rig.here.clientId },
      { userType: 'USER' as const, clientId: '__proto__' },
    ]) {
      expect(await browser.choose(choice)).toMatchObject({ page: 'choose_context' });
      expect(await browser.show('choose_context')).toMatchObject({
        refusals: [{ input: 'context', message: expect.any(String) }],
      });
    }
  });

  test('is told when the last of them is gone before they choose', async () => {
    const { rig, person, browser } = await withTwo();
    await browser.signIn(person);
    const csrfToken = await browser.csrfToken('choose_context');
    await rig.database.write((writer) => writer.updateTable('workers').set({ offboarded_at: 1 }).execute());
    // One is left, which is not the one they chose.
    const { clientId } = rig.here;
    expect(await browser.choose({ userType: 'WORKER', clientId }, csrfToken)).toMatchObject({
      page: 'choose_context',
    });
    expect(await browser.show('choose_context')).toMatchObject({
      contexts: [{ userType: 'USER' }],
      refusals: [{ input: 'context' }],
    });
    codeOf(await browser.choose({ userType: 'USER', clientId }));
    const [user] = await rig.run((changes) => changes.users.ofAccount(person.accountId));
    await rig.run((changes) => disableUser(changes, { userId: user?.id ?? '' }));
    expect(await browser.authorize()).toMatchObject({ page: 'sign_in' });
    await rig.run((changes) => enableUser(changes, { userId: user?.id ?? '' }));
    expect(await browser.show('sign_in')).toMatchObject({ kind: 'step', step: { kind: 'redirect' } });
  });
});
