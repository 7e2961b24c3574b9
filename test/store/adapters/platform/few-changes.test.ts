import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { limitedTo } from '../../../../src/domain/platform/instance-limit.js';
import { renameJobTitle } from '../../../../src/domain/platform/organization/job-titles.js';
import { deleteLocation, updateLocation } from '../../../../src/domain/platform/organization/locations.js';
import {
  createRole,
  deleteRole,
  editRolePermissions,
} from '../../../../src/domain/platform/organization/roles.js';
import { deleteUnit, updateUnit } from '../../../../src/domain/platform/organization/units.js';
import { updateUser } from '../../../../src/domain/platform/people/user-updates.js';
import type { Changes } from '../../../../src/domain/platform/unit-of-work.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { type DatabaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { newLocation, newUnits, onboard } from './organization.js';
import { invite, newPlatform, type Platform } from './people.js';

const MOST = 5_000;
const MOST_REPORTS = 25_000;

type Kind = 'users' | 'workers';

type Work = (changes: Changes) => Promise<unknown>;
type Crowd = Awaited<ReturnType<typeof crowded>>;

/** Adds copies of the only row of a table. Their ids have the form of ids and end in a number. */
async function multiply({ database }: Platform, table: 'users' | 'workers' | 'worker_units', copies: number) {
  const [row = {}] = await database.reader.selectFrom(table).selectAll().execute();
  const columns = Object.keys(row);
  const copied = columns.map((column) =>
    ['id', 'worker_id'].includes(column)
      ? sql`substr(${sql.ref(column)}, 1, length(${sql.ref(column)}) - 6) || (number + 100000)`
      : sql.ref(column),
  );
  await database.write((writer) =>
    sql`
      insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
      with recursive numbers(number) as (
        select 1 union all select number + 1 from numbers where number < ${sql.lit(copies)}
      )
      select ${sql.join(copied)} from ${sql.table(table)}, numbers
    `.execute(writer),
  );
}

/** A client of so many workers or users, all alike: of one unit, location and title, or of one role. */
async function crowded(under: DatabaseUnderTest, kind: Kind, count: number) {
  const platform = await newPlatform(under);
  const { client, database, run } = platform;
  const { units } = await newUnits(platform, 'Department', ['Finance']);
  const unitId = units[0]?.id as string;
  const location = await newLocation(platform, 'Quay');
  await onboard(platform, { jobTitles: ['Welder'], unitIds: [unitId], locationId: location.id });
  const role = await run((changes) =>
    createRole(changes, { clientId: client.id, name: 'Crew', permissions: [] }),
  );
  await invite(platform, client.id, { roleId: role.id, withoutManager: true });
  for (const table of kind === 'users' ? (['users'] as const) : (['workers', 'worker_units'] as const)) {
    await multiply(platform, table, count - 1);
  }
  const manager = await invite(platform, client.id, { firstName: 'Ada', withoutManager: true });
  const changeAll = (table: Kind, values: object) =>
    database.write((writer) => writer.updateTable(table).set(values).execute());
  return {
    platform,
    clientId: client.id,
    unitId,
    locationId: location.id,
    roleId: role.id,
    manager,
    changeAll,
  };
}

/** Fails where the work has begun, whose statements may be many or take long. */
function withoutWork(changes: Changes): Changes {
  const begun = () => Promise.reject(new Error('The work has begun.'));
  return {
    ...changes,
    workers: { ...changes.workers, findAll: begun, rewrite: begun, unassign: begun },
    users: { ...changes.users, withRole: begun, update: begun, rewrite: begun },
    units: { ...changes.units, update: begun, delete: begun },
    locations: { ...changes.locations, update: begun, delete: begun },
    recordEvent: begun,
  };
}

type Write = (crowd: Crowd) => Promise<Work>;

/** Only the last one changes the crowd, before its write. */
const OF_WORKERS: Record<string, Write> = {
  'a new name for a job title':
    async ({ clientId }) =>
    (changes) =>
      renameJobTitle(changes, { clientId, title: 'Welder', newTitle: 'Fitter' }),
  'a new name for a unit':
    async ({ unitId }) =>
    (changes) =>
      updateUnit(changes, { unitId, name: 'F' }),
  'a new name for a location':
    async ({ locationId }) =>
    (changes) =>
      updateLocation(changes, { locationId, name: 'Pier' }),
  'the deletion of a location':
    async ({ locationId }) =>
    (changes) =>
      deleteLocation(changes, { locationId }),
  'the deletion of a unit of offboarded workers': async ({ unitId, changeAll }) => {
    await changeAll('workers', { offboarded_at: 1 });
    return (changes) => deleteUnit(changes, { unitId });
  },
};

/** Only the last one changes the crowd, before its write. */
const OF_USERS: Record<string, Write> = {
  'other permissions for a role':
    async ({ roleId }) =>
    (changes) =>
      editRolePermissions(changes, { roleId, permissions: ['p'], userIds: [] }),
  'other permissions for named users': async ({ roleId, platform }) => {
    const rows = await platform.database.reader
      .selectFrom('users')
      .where('role_id', '=', roleId)
      .select('id')
      .execute();
    return (changes) =>
      editRolePermissions(changes, { roleId, permissions: ['p'], userIds: rows.map(({ id }) => id) });
  },
  'the deletion of a role that deleted users had': async ({ roleId, changeAll }) => {
    await changeAll('users', { status: 'DELETED' });
    return (changes) => deleteRole(changes, { roleId });
  },
};

const OF_REPORTS: Record<string, Write> = {
  'a new name for their manager': async ({ manager, changeAll }) => {
    await changeAll('users', { manager_id: manager.id });
    return (changes) => updateUser(changes, { userId: manager.id, firstName: 'Eve' });
  },
};

describeEachDatabase('with a token of one instance', (under) => {
  /** As the platform calls with such a token. */
  const limited = ({ instance, database }: Platform) =>
    limitedTo(instance.id, platformUnitOfWork(database)).run;
  const refusal = (most: number, kind: Kind) =>
    `With a token of one instance, a call can change at most ${most} ${kind}. The platform can make this call with a token of all instances.`;

  test.each([
    [MOST, 'workers', OF_WORKERS],
    [MOST, 'users', OF_USERS],
    [MOST_REPORTS, 'users', OF_REPORTS],
  ] as const)(
    'a write is refused before its work where it would change more than %i %s',
    async (most, kind, writes) => {
      // One crowd, because a refused write leaves it as it was.
      const crowd = await crowded(under, kind, most + 1);
      const run = limited(crowd.platform);
      for (const [title, write] of Object.entries(writes)) {
        const work = await write(crowd);
        const before = await crowd.platform.dataVersions();
        const refusedEarly = run((changes) => work(withoutWork(changes))).catch(({ message }) => message);
        expect([title, await refusedEarly]).toEqual([title, expect.stringContaining(refusal(most, kind))]);
        expect([title, await refusalOf(run(work))]).toEqual([
          title,
          { code: 'TRANSITION_REFUSED', faults: [] },
        ]);
        expect([title, await crowd.platform.dataVersions()]).toEqual([title, before]);
      }
    },
  );

  test('fewer are refused if their events have more than 16 MiB, unless with a token of all instances', async () => {
    const crowd = await crowded(under, 'workers', 300);
    const { clientId, locationId, platform, changeAll } = crowd;
    const titlesOf = (count: number) => {
      const titles = Array.from({ length: count }, (_, number) => `${'職'.repeat(190)}${number}`);
      return { job_titles: JSON.stringify(['Welder', ...titles]) };
    };
    await changeAll('workers', titlesOf(99));
    const rename = (title: string, newTitle: string) => (changes: Changes) =>
      renameJobTitle(changes, { clientId, title, newTitle });
    const renaming = limited(platform)((changes) => rename('Welder', 'Fitter')(withoutWork(changes)));
    await expect(renaming).rejects.toMatchObject({
      code: 'ERROR_CODE_TRANSITION_REFUSED',
      message: expect.stringContaining('at most about 16 MiB'),
    });
    expect(await platform.run(rename('Welder', 'Fitter'))).toMatchObject({ updatedWorkers: 300 });
    await platform.run(rename('Fitter', 'Welder'));
    // A new title has no event for them, and the deletion of the location has.
    await changeAll('workers', { offboarded_at: 1 });
    expect(await limited(platform)(rename('Welder', 'Fitter'))).toMatchObject({ updatedWorkers: 300 });
    await expect(
      limited(platform)((changes) => deleteLocation(withoutWork(changes), { locationId })),
    ).rejects.toThrow('at most about 16 MiB');
    await platform.run(rename('Fitter', 'Welder'));
    await changeAll('workers', { offboarded_at: null, ...titlesOf(80) });
    expect(await limited(platform)(rename('Welder', 'Fitter'))).toMatchObject({ updatedWorkers: 300 });
  });

  test('as many workers as allowed change together, and with a token of all instances any number', async () => {
    const crowd = await crowded(under, 'workers', MOST);
    const { clientId, platform } = crowd;
    const rename = (title: string, newTitle: string) => (changes: Changes) =>
      renameJobTitle(changes, { clientId, title, newTitle });
    expect(await limited(platform)(rename('Welder', 'Fitter'))).toMatchObject({ updatedWorkers: MOST });
    await onboard(platform, { jobTitles: ['Fitter'] });
    expect(await platform.run(rename('Fitter', 'Welder'))).toMatchObject({ updatedWorkers: MOST + 1 });
  });
});
