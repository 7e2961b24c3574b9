import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { updateUser } from '../../../../src/domain/platform/people/user-updates.js';
import type { UserView } from '../../../../src/domain/platform/rows/people.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import { FORGOTTEN } from '../../../../src/store/adapters/idempotency-keys.js';
import { copyForgetting } from '../../../../src/store/adapters/platform/erasure.js';
import type { Database } from '../../../../src/store/database.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { connectionsWaiting } from '../../../support/postgres/waiting-connections.js';
import { signalled } from '../../../support/signalled.js';
import { refusalOf } from '../../rig.js';
import { changesOf, erasureRig, formerPerson, foundIn, PERSON } from './erasure-rig.js';

describeEachDatabase('an erased account, after the commit of the erasure', (under) => {
  const newPlatform = erasureRig(under);

  test('is no longer named in events of users who reported to the person; the rest of these events is unchanged', async () => {
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
});

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
