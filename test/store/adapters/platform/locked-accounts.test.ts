import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { changesIn, platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { commonChanges, lock } from '../../../../src/store/adapters/unit-of-work.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { connectionsWaiting } from '../../../support/postgres/waiting-connections.js';
import { signalled } from '../../../support/signalled.js';
import { invite, newClient, newPlatform } from './people.js';

describe('a write of a limited token that waits for a client after it has locked an account, on PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('lets others lock the account meanwhile, and is made in the end', async () => {
    const platform = await newPlatform(under);
    const { database, instance, client } = platform;
    const { accountId, email } = await invite(platform, client.id);
    const busy = await newClient(platform, instance.id, 'Quillmere');
    const { told: isHeld, tell: held } = signalled();
    const { told: isLetGo, tell: letGo } = signalled();
    const long = database.write(async (writer) => {
      await lock(writer, [busy.id]);
      await writer.selectFrom('clients').select('id').executeTakeFirst();
      held();
      await isLetGo;
    });
    await isHeld;
    const { run } = platformUnitOfWork(database);
    const limited = { run: (work: Parameters<typeof run>[0]) => run(work, { limitedTo: instance.id }) };
    const invitations = Array.from({ length: 3 }, () =>
      invite(limited as typeof platform, busy.id, { email }),
    );
    const ended = Promise.allSettled(invitations);
    await eventually('an invitation that waits', async () => (await connectionsWaiting(database)) > 0);
    for (let signIn = 1; signIn <= 5; signIn += 1) {
      await database.write((writer) => lock(writer, [accountId]));
    }
    letGo();
    await long;
    const statuses = (await ended).map(({ status }) => status);
    expect(statuses.sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await Promise.any(invitations)).toMatchObject({ accountId, clientId: busy.id });
  });
});

describe('the wait for a lock on PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');

  test.each([
    ['short for what a limited token locks after an account', { limitedTo: 'ins_1' }, 'acc_1', '100ms'],
    ['whole before it has locked an account', { limitedTo: 'ins_1' }, 'cli_1', '1min'],
    ['whole for all others', {}, 'acc_1', '1min'],
  ])('is %s', async (_, origin, subject, expected) => {
    const database = await under.openMigrated();
    const { rows } = await database.write(async (writer) => {
      await changesIn(writer, commonChanges(writer, 1), () => undefined, origin).lock(subject);
      return sql`show lock_timeout`.execute(writer);
    });
    expect(rows).toEqual([{ lock_timeout: expected }]);
  });
});
