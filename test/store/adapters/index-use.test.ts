import { describe, expect, test } from '@jest/globals';
import type { AccountId, ClientId, InstanceId, LocationId, UnitId } from '../../../generated/ids.js';
import type { WorkerFilter } from '../../../src/domain/platform/rows/people.js';
import { visitStore } from '../../../src/store/adapters/access.js';
import { changeStore } from '../../../src/store/adapters/changes.js';
import { clientStore, userStore, workerStore } from '../../../src/store/adapters/directory.js';
import { auditRows } from '../../../src/store/adapters/operator/audit-events.js';
import { auditRemoval } from '../../../src/store/adapters/operator/audit-purge.js';
import { organizationStore } from '../../../src/store/adapters/organization.js';
import { accountRows, sharedMailboxes } from '../../../src/store/adapters/platform/accounts.js';
import { clientRows } from '../../../src/store/adapters/platform/organization.js';
import { userRows } from '../../../src/store/adapters/platform/users.js';
import { workerRows } from '../../../src/store/adapters/platform/workers.js';
import { databaseUnderTest } from '../../support/databases.js';
import { plantClient, plantUnit, plantWorker } from '../directory-rows.js';
import { queryPlansOf, type Use } from '../query-plans.js';

const page = { after: { createdAt: 1, id: 'x' }, limit: 250 };
const first = { after: undefined, limit: 250 };
const hash = new Uint8Array(32);

const reads: [title: string, read: Use, plan: RegExp[]][] = [
  [
    'a first page of clients',
    (db) => clientStore(db).page('ins_1', first),
    [/^SEARCH clients USING INDEX clients_by_age \(instance_id=\?\)$/],
  ],
  [
    'a page of clients',
    (db) => clientStore(db).page('ins_1', page),
    [/clients_by_age \(instance_id=\? AND \(created_at,id\)>\(\?,\?\)\)$/],
  ],
  [
    'a page of clients of all instances',
    (db) => clientRows(db.reader).page(page, undefined),
    [/^SEARCH clients USING INDEX clients_in_order \(\(created_at,id\)>\(\?,\?\)\)$/],
  ],
  [
    'a page of users',
    (db) => userStore(db).page('cli_1', page),
    [/^SEARCH users USING INDEX users_present \(client_id=\? AND \(created_at,id\)>\(\?,\?\)\)$/],
  ],
  [
    'a page of users who are not deleted',
    (db) =>
      userRows(db.reader).page(page, {
        clientId: 'cli_1' as ClientId,
        statuses: ['ACTIVE', 'INVITED'],
        emailKeys: undefined,
      }),
    [/^SEARCH users USING INDEX users_present \(client_id=\? AND \(created_at,id\)>\(\?,\?\)\)$/],
  ],
  [
    'a page of workers',
    (db) => workerStore(db).page('cli_1', page),
    [/workers_active \(client_id=\? AND \(created_at,id\)>\(\?,\?\)\)$/],
  ],
  [
    'a page of workers with their place',
    (db) => workerStore(db).pageV2('cli_1', page),
    [/workers_active \(client_id=\? AND \(created_at,id\)>\(\?,\?\)\)$/],
  ],
  [
    'the structure',
    (db) => organizationStore(db).structureOf('cli_1'),
    [/^SEARCH units USING INDEX units_by_age/, /^SEARCH locations USING INDEX locations_by_age/],
  ],
  [
    'the job titles',
    (db) => organizationStore(db).jobTitlesOf('cli_1'),
    [/^SEARCH job_titles USING COVERING INDEX/],
  ],
  [
    'the first owner of a client',
    (db) => userRows(db.reader).firstOwner('cli_1' as ClientId),
    [/^SEARCH users USING INDEX users_by_role \(role_id=\?\)$/, /^SEARCH roles USING INDEX /],
  ],
  [
    'what a person is at present',
    (db) => accountRows(db.reader).contextsOf('acc_1' as AccountId),
    [
      /^SEARCH users USING INDEX users_of_person \(account_id=\?\)$/,
      /^SEARCH workers USING INDEX workers_of_person \(account_id=\?\)$/,
    ],
  ],
  [
    'the user of a client with an address',
    (db) =>
      userRows(db.reader).page(first, {
        clientId: 'cli_1' as ClientId,
        statuses: ['ACTIVE', 'INVITED', 'INACTIVE', 'DELETED'],
        emailKeys: ['x', 'y'],
      }),
    [/^SEARCH account USING INDEX .* \(email_key=\?\)$/, /^SEARCH users USING INDEX users_by_account /],
  ],
  [
    'what a chain of the audit log has behind a place',
    (db) => auditRows(db.reader).growth({ chain: 'ach_1', seq: 7 }),
    [/^SEARCH audit_events USING INDEX audit_events_by_chain \(chain=\? AND seq>\? AND seq<\?\)$/],
  ],
  [
    'a later page of the audit log, before a time',
    (db) => auditRows(db.reader).page(page, { types: [], since: 0, until: 9 }),
    [
      /^SEARCH audit_events USING INDEX audit_events_by_age \(created_at>\? AND \(created_at,id\)<\(\?,\?\)\)$/,
    ],
  ],
  ['a key', (db) => visitStore(db).findKey(hash), [/^SEARCH key USING INDEX .* \(hash=\?\)$/]],
  [
    'a key and its connection',
    (db) => visitStore(db).findInstanceIntegration(hash, 'iin_1'),
    [/^SEARCH instance_integration USING INDEX .*LEFT-JOIN$/],
  ],
  [
    'a key and a client',
    (db) => visitStore(db).findClient(hash, 'iin_1', 'cli_1'),
    [/^SEARCH client USING INDEX .*LEFT-JOIN$/],
  ],
];

describe('on SQLite', () => {
  const under = databaseUnderTest('SQLite');

  const plansOf = (read: Use) => queryPlansOf(under, read);

  test.each(reads)('%s is read from an index, at any size of the tables', async (_, read, expected) => {
    const plans = await plansOf(read);
    for (const plan of expected) {
      expect(plans).toContainEqual(expect.stringMatching(plan));
    }
    expect(plans.filter((plan) => plan.startsWith('SCAN'))).toEqual([]);
  });

  test.each(reads.filter(([title]) => title.includes('page')))('%s is not sorted', async (_, read) => {
    // The few units of each worker are, by themselves.
    const sorts = (await plansOf(read)).filter((plan) => !plan.includes('FOR json_group_array'));
    expect(sorts.join()).not.toContain('TEMP B-TREE');
  });

  test('the ends of the chains of the audit log are read without the records before them', async () => {
    const plans = await plansOf((db) => auditRows(db.reader).ends({ after: '', limit: 100 }));
    const ofRecords = plans.filter((plan) => plan.includes('audit_events'));
    expect(new Set(ofRecords)).toEqual(
      new Set([
        'SEARCH audit_events USING COVERING INDEX audit_events_by_chain (chain>?)',
        'SEARCH audit_events USING COVERING INDEX audit_events_by_chain (chain=? AND seq<?)',
        'SEARCH audit_events USING INDEX audit_events_by_chain (chain=? AND seq<?)',
      ]),
    );
  });

  test('a start reads the accounts that share a mailbox, and no others', async () => {
    expect(await plansOf(sharedMailboxes)).toEqual([
      'SCAN accounts USING COVERING INDEX accounts_sharing_mailboxes',
    ]);
  });

  test('a page of changes is read from one place of an index', async () => {
    const after = { position: 1, type: 'worker', id: 'x' } as const;
    const asked = { after, before: 9, removedAfter: 0, limit: 501 };
    const plans = await plansOf((db) => changeStore(db).page('ins_1' as InstanceId, asked));
    expect(plans).toEqual([
      expect.stringMatching(
        /^SEARCH changes USING COVERING INDEX changes_in_order \(instance_id=\? AND .* AND position<\?\)$/,
      ),
    ]);
  });

  test('a load of all that exists reads nothing that was removed before it began', async () => {
    const after = { position: 0, type: 'client', id: '' } as const;
    const asked = { after, before: 9, removedAfter: 5, limit: 501 };
    const plans = await plansOf((db) => changeStore(db).page('ins_1' as InstanceId, asked));
    expect(plans.filter((plan) => plan.includes(' changes '))).toEqual([
      expect.stringMatching(/^SEARCH changes USING INDEX changes_present \(instance_id=\? AND /),
      expect.stringMatching(
        /^SEARCH changes USING COVERING INDEX changes_in_order \(instance_id=\? AND position>\? AND position<\?\)$/,
      ),
    ]);
  });

  test('some workers of a client are read by their ids, not among all of the client', async () => {
    const plans = await plansOf((db) =>
      workerRows(db.reader).findAll('cli_1' as ClientId, ['wrk_1', 'wrk_2']),
    );
    expect(plans.filter((plan) => plan.includes(' workers '))).toEqual([
      expect.stringMatching(/^SEARCH workers USING INDEX sqlite_autoindex_workers_1 \(id=\?\)$/),
    ]);
  });

  test.each<[string, WorkerFilter, RegExp]>([
    [
      'unit',
      { unitId: 'oun_1' as UnitId },
      /^SEARCH workers USING INDEX sqlite_autoindex_workers_1 \(id=\?\)$/,
    ],
    ['location', { locationId: 'olo_1' as LocationId }, /^SEARCH workers USING INDEX workers_by_location /],
  ])('a new name of a %s reads its workers, not all of the client', async (_, filter, plan) => {
    const client = 'cli_1' as ClientId;
    const plans = await plansOf(async ({ reader }) => {
      const workers = workerRows(reader);
      await workers.countUpTo(1, client, { ...filter, statuses: ['ACTIVE'] });
      await workers.eventBytesUpTo(9, client, filter, {});
      await workers.ids(client, filter);
    });
    const ofWorkers = expect.stringMatching(plan);
    expect(plans.filter((step) => step.includes(' workers '))).toEqual([ofWorkers, ofWorkers, ofWorkers]);
  });

  test('a slice of a search in the audit log between two times reads its own records alone', async () => {
    const record = { type: 'token.issued', outcome: 'succeeded' as const, actor_type: 'account' };
    const records = Array.from({ length: 2_001 }, (_, index) => ({
      ...{ ...record, actor_id: 'acc_1', id: `aud_${index}`, created_at: index, attributes: '{}' },
    }));
    const plans = await plansOf(async (database) => {
      await database.write((writer) => writer.insertInto('audit_events').values(records).execute());
      await auditRows(database.reader).page(first, { types: ['api_key.*'], since: 0, until: 9_999 });
    });
    const by = 'SEARCH audit_events USING INDEX audit_events_by_age';
    const ofLog = plans.filter((plan) => plan.includes('audit_events'));
    expect(ofLog.map((plan) => plan.replace('COVERING ', ''))).toEqual([
      `${by} (created_at>? AND created_at<?)`,
      `${by} ((created_at,id)>(?,?) AND created_at<?)`,
      `${by} (created_at>? AND (created_at,id)<(?,?))`,
      `${by} (created_at>? AND (created_at,id)<(?,?))`,
    ]);
  });

  test('a purge looks for audit records without a chain among the oldest', async () => {
    const plans = await plansOf((database) => auditRemoval(database)(1, 500));
    expect(plans).toContainEqual(
      expect.stringMatching(/^SEARCH audit_events USING INDEX audit_events_by_age \(created_at<\?\)$/),
    );
    expect(plans.join()).not.toContain('audit_events_by_chain');
  });

  test('the units of a page of workers are read by worker', async () => {
    const plans = await plansOf(async (database) => {
      const { id } = await plantClient(database);
      await plantWorker(database, { client_id: id }, [(await plantUnit(database, id)).id]);
      return workerStore(database).pageV2(id, first);
    });
    expect(plans).toContainEqual(expect.stringMatching(/^SEARCH assignment USING INDEX .*\(worker_id=\?\)$/));
  });
});
