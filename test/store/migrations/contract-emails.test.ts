import { expect, test } from '@jest/globals';
import { type Kysely, Migrator } from 'kysely';
import type { AccountId, ClientId } from '../../../generated/ids.js';
import { updateAccount } from '../../../src/domain/platform/people/account-updates.js';
import { getAccountByEmail } from '../../../src/domain/platform/people/accounts.js';
import { contractEmailOf } from '../../../src/domain/platform/people/email-addresses.js';
import { updateUser } from '../../../src/domain/platform/people/user-updates.js';
import { updateWorker } from '../../../src/domain/platform/people/worker-changes.js';
import { userStore, workerStore } from '../../../src/store/adapters/directory.js';
import { platformUnitOfWork } from '../../../src/store/adapters/platform/unit-of-work.js';
import { migrateToLatest } from '../../../src/store/migrate.js';
import { migrations } from '../../../src/store/migrations/index.js';
import { describeEachDatabase } from '../../support/databases.js';
import { valueIn, valuesIn } from '../../support/gateway/contract-rows.js';
import { refusalOf } from '../../support/platform-writes.js';

// biome-ignore lint/suspicious/noExplicitAny: a schema of an earlier time.
type Earlier = Kysely<any>;

const ALL = { after: undefined, limit: 100 };
const BROKEN = 'ada..moreau@Example.com';
const INTERNATIONAL = 'ben@b\u00fccher.example';
const NOT_REACHED = /^[0-9a-f]{24}@address\.invalid$/;
const times = (at: number) => ({ version: 'v', created_at: at, updated_at: at });
const names = { first_name: 'A', last_name: 'B', full_name: 'A B' };

describeEachDatabase('people whose address is older than the rule', (under) => {
  async function broughtForward() {
    const database = await under.open(await under.newEmptyPlace());
    const earlier = database.patient as unknown as Earlier;
    const provider = { getMigrations: async () => migrations };
    await new Migrator({ db: earlier, provider }).migrateTo('0016-later-attempts');
    const plant = (table: string, row: object) => earlier.insertInto(table).values(row).execute();
    await plant('instances', { id: 'ins_0000000000000000000001', name: 'I', ...times(1) });
    for (const id of ['cli_0000000000000000000001', 'cli_0000000000000000000002']) {
      await plant('clients', { id, instance_id: 'ins_0000000000000000000001', name: id, ...times(1) });
      await plant('data_versions', { subject_id: id, version: 'before' });
    }
    for (const [number, email] of [BROKEN, INTERNATIONAL, 'cleo@example.com'].entries()) {
      const account_id = `acc_000000000000000000000${number}`;
      const email_key = email === INTERNATIONAL ? 'ben@xn--bcher-kva.example' : email.toLowerCase();
      await plant('accounts', {
        id: account_id,
        worker_profile_id: `wpf_000000000000000000000${number}`,
        email,
        email_key,
        ...times(1),
      });
      const client_id = number < 2 ? 'cli_0000000000000000000001' : 'cli_0000000000000000000002';
      const manager_id = number === 1 ? 'usr_0000000000000000000000' : null;
      const own = { client_id, account_id, ...names, ...times(number) };
      await plant('users', {
        id: `usr_000000000000000000000${number}`,
        status: 'ACTIVE',
        manager_id,
        role_id: null,
        ...own,
      });
      await plant('workers', { id: `wrk_000000000000000000000${number}`, email, job_titles: '[]', ...own });
    }
    await migrateToLatest(database.patient);
    return { database, run: platformUnitOfWork(database).run };
  }

  test('are shown with a valid address, also as a manager, and readers of their client see it change', async () => {
    const { database } = await broughtForward();
    const users = await valuesIn(userStore(database).page('cli_0000000000000000000001' as ClientId, ALL));
    expect(users).toMatchObject([
      { email: expect.stringMatching(NOT_REACHED), manager: null },
      { email: 'ben@xn--bcher-kva.example', manager: { email: expect.stringMatching(NOT_REACHED) } },
    ]);
    const workers = workerStore(database);
    const lists = [
      await valuesIn(workers.page('cli_0000000000000000000001' as ClientId, ALL)),
      await valuesIn(workers.pageV2('cli_0000000000000000000001' as ClientId, ALL)),
    ];
    for (const list of lists) {
      expect(list.map(({ email }) => email)).toEqual(users.map(({ email }) => email));
    }
    const others = await valuesIn(userStore(database).page('cli_0000000000000000000002' as ClientId, ALL));
    expect(others).toMatchObject([{ email: 'cleo@example.com' }]);
    const versions = await database.reader
      .selectFrom('data_versions')
      .orderBy('subject_id')
      .selectAll()
      .execute();
    expect(versions).toEqual([
      { subject_id: 'cli_0000000000000000000001', version: expect.not.stringMatching(/^before$/) },
      { subject_id: 'cli_0000000000000000000002', version: 'before' },
    ]);
  });

  test('are found by the address with which they sign in, as it was given', async () => {
    const { run } = await broughtForward();
    const found = await run((changes) => getAccountByEmail(changes, 'ADA..moreau@example.com'));
    expect(found).toMatchObject({ id: 'acc_0000000000000000000000', email: BROKEN });
  });

  test.each([
    ['as it is', BROKEN],
    ['as the gateway shows it', contractEmailOf(BROKEN)],
  ])(
    'can be changed with their address sent along %s, and events show what the gateway shows',
    async (_, sent) => {
      const { database, run } = await broughtForward();
      await run((changes) =>
        updateUser(changes, { userId: 'usr_0000000000000000000000', email: sent, firstName: 'Ada' }),
      );
      await run((changes) =>
        updateAccount(changes, { accountId: 'acc_0000000000000000000000', email: sent, firstName: 'Ada' }),
      );
      await run((changes) =>
        updateWorker(changes, {
          workerId: 'wrk_0000000000000000000000',
          email: sent,
          firstName: 'Ada',
          jobTitles: [],
        }),
      );
      await run((changes) => updateUser(changes, { userId: 'usr_0000000000000000000001', firstName: 'Ben' }));
      const user = await valueIn(
        userStore(database).find('cli_0000000000000000000001', 'usr_0000000000000000000000'),
      );
      const worker = await valueIn(
        workerStore(database).findV2('cli_0000000000000000000001', 'wrk_0000000000000000000000'),
      );
      expect([user, worker]).toMatchObject([
        { email: expect.stringMatching(NOT_REACHED), firstName: 'Ada' },
        { email: user?.email, firstName: 'Ada' },
      ]);
      const rows = await database.reader
        .selectFrom('events')
        .orderBy('seq')
        .select(['type', 'data'])
        .execute();
      const told = rows.map(({ type, data }) => [
        type,
        JSON.parse(data).email,
        JSON.parse(data).manager?.email,
      ]);
      expect(told).toEqual([
        ['user.updated', user?.email, undefined],
        ['worker.updated', user?.email, undefined],
        ['user.updated', 'ben@xn--bcher-kva.example', user?.email],
      ]);
      expect(
        await run((changes) => changes.accounts.find('acc_0000000000000000000000' as AccountId)),
      ).toMatchObject({
        email: BROKEN,
      });
      const kept = await database.reader.selectFrom('workers').orderBy('id').select('email').execute();
      expect(kept[0]).toEqual({ email: BROKEN });
    },
  );

  test('get no other address that the contracts refuse, and are shown with a good one as it is', async () => {
    const { database, run } = await broughtForward();
    const refused = { code: 'INVALID_REQUEST', faults: ['email must be an e-mail address'] };
    const email = 'ada..m@example.com';
    const jobTitles: string[] = [];
    const attempts = [
      run((changes) => updateUser(changes, { userId: 'usr_0000000000000000000000', email })),
      run((changes) => updateAccount(changes, { accountId: 'acc_0000000000000000000000', email })),
      run((changes) => updateWorker(changes, { workerId: 'wrk_0000000000000000000000', email, jobTitles })),
    ];
    for (const attempt of attempts) {
      expect(await refusalOf(attempt)).toEqual(refused);
    }
    const standIn = run((changes) =>
      updateUser(changes, { userId: 'usr_0000000000000000000001', email: contractEmailOf(BROKEN) }),
    );
    expect(await refusalOf(standIn)).toMatchObject({
      faults: [expect.stringContaining('that mail reaches')],
    });
    await run((changes) =>
      updateWorker(changes, { workerId: 'wrk_0000000000000000000000', email: 'Ada@example.com', jobTitles }),
    );
    const shown = await valueIn(
      workerStore(database).findV2('cli_0000000000000000000001', 'wrk_0000000000000000000000'),
    );
    expect(shown).toMatchObject({ email: 'Ada@example.com' });
  });
});
