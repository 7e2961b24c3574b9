import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { addJobTitle, renameJobTitle } from '../../../../src/domain/platform/organization/job-titles.js';
import {
  createRole,
  deleteRole,
  editRolePermissions,
} from '../../../../src/domain/platform/organization/roles.js';
import { createUnitType } from '../../../../src/domain/platform/organization/unit-types.js';
import { createUnit } from '../../../../src/domain/platform/organization/units.js';
import { updateWorker } from '../../../../src/domain/platform/people/worker-changes.js';
import type { Changes } from '../../../../src/domain/platform/unit-of-work.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { newLocation, newUnits, onboard } from './organization.js';
import { newPlatform, type Platform } from './people.js';

const MOST = 10_000;

type Filled = 'job_titles' | 'locations' | 'roles' | 'unit_types' | 'units';

/** Fills a table with copies of its one row, or its two. Their ids and names end in a number. */
async function fill({ database }: Platform, table: Filled) {
  const rows = await database.reader.selectFrom(table).selectAll().execute();
  const columns = Object.keys(rows[0] ?? {});
  const copied = columns.map((column) =>
    ['id', 'name', 'title'].includes(column) ? sql`${sql.ref(column)} || number` : sql.ref(column),
  );
  await database.write((writer) =>
    sql`
      insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
      with recursive numbers(number) as (
        select 1 union all select number + 1 from numbers where number < ${sql.lit(MOST / rows.length - 1)}
      )
      select ${sql.join(copied)} from ${sql.table(table)}, numbers
    `.execute(writer),
  );
}

describeEachDatabase('a client with as many as it may have', (under) => {
  const refusal = (kinds: string) => `A client has at most ${MOST} ${kinds}. Remove some first.`;

  test('job titles gets no further one, not from workers either, and keeps and renames those it has', async () => {
    const platform = await newPlatform(under);
    const clientId = platform.client.id;
    const add = (title: string) => platform.run((changes) => addJobTitle(changes, { clientId, title }));
    await add('Welder');
    await fill(platform, 'job_titles');
    await expect(add('Fitter')).rejects.toThrow(refusal('job titles'));
    expect(await refusalOf(onboard(platform, { jobTitles: ['Fitter'] }))).toMatchObject({
      code: 'TRANSITION_REFUSED',
    });
    const { id: workerId } = await onboard(platform, { jobTitles: ['Welder'] });
    const update = (jobTitles: string[]) =>
      platform.run((changes) => updateWorker(changes, { workerId, jobTitles, updateMask: ['job_titles'] }));
    await expect(update(['Welder', 'Fitter'])).rejects.toThrow(refusal('job titles'));
    await platform.run((changes) =>
      renameJobTitle(changes, { clientId, title: 'Welder', newTitle: 'Fitter' }),
    );
    expect(await add('Fitter')).toBe('Fitter');
  });

  test('locations gets no further one', async () => {
    const platform = await newPlatform(under);
    await newLocation(platform, 'Pier');
    await fill(platform, 'locations');
    await expect(newLocation(platform, 'Yard')).rejects.toThrow(refusal('locations'));
  });

  test('units gets no further one, alone or with a type', async () => {
    const platform = await newPlatform(under);
    const { unitType } = await newUnits(platform, 'Ward', ['North']);
    await fill(platform, 'units');
    const alone = platform.run((changes) =>
      createUnit(changes, { unitTypeId: unitType.id, name: 'South', subUnits: [] }),
    );
    await expect(alone).rejects.toThrow(refusal('units'));
    await expect(newUnits(platform, 'Team', ['Nights'])).rejects.toThrow(refusal('units'));
  });

  test('units is refused further ones before any of them is inserted', async () => {
    const platform = await newPlatform(under);
    const { client, run } = platform;
    const { unitType } = await newUnits(platform, 'Ward', ['North']);
    await fill(platform, 'units');
    const begun = () => Promise.reject(new Error('The work has begun.'));
    const units = [{ name: 'South', subUnits: [{ name: 'Nights', subUnits: [] }] }];
    const withoutWork = (changes: Changes): Changes => ({
      ...changes,
      unitTypes: { ...changes.unitTypes, insert: begun },
      units: { ...changes.units, insert: begun },
      recordEvent: begun,
    });
    const alone = run((changes) =>
      createUnit(withoutWork(changes), { unitTypeId: unitType.id, name: 'South', subUnits: [] }),
    );
    await expect(alone).rejects.toThrow(refusal('units'));
    const together = run((changes) =>
      createUnitType(withoutWork(changes), { clientId: client.id, name: 'Team', units }),
    );
    await expect(together).rejects.toThrow(refusal('units'));
  });

  test('roles gets no further one, not from an edit either, and may delete one', async () => {
    const platform = await newPlatform(under);
    const { client, run, database } = platform;
    await fill(platform, 'roles');
    const clientId = client.id;
    const create = () => run((changes) => createRole(changes, { clientId, name: 'Clerk', permissions: [] }));
    await expect(create()).rejects.toThrow(refusal('roles'));
    expect(await refusalOf(create())).toMatchObject({ code: 'TRANSITION_REFUSED' });
    await database.write((writer) =>
      writer.updateTable('roles').set({ built_in: 0 }).where('name', '=', 'Admin1').execute(),
    );
    const role = await database.reader
      .selectFrom('roles')
      .select('id')
      .where('name', '=', 'Admin1')
      .executeTakeFirstOrThrow();
    const edit = () =>
      run((changes) =>
        editRolePermissions(changes, { roleId: role.id, permissions: ['payroll:read'], userIds: [] }),
      );
    await expect(edit()).rejects.toThrow(refusal('roles'));
    await run((changes) => deleteRole(changes, { roleId: role.id }));
    expect(await create()).toMatchObject({ name: 'Clerk' });
  });

  test('unit types gets no further one', async () => {
    const platform = await newPlatform(under);
    await newUnits(platform, 'Ward', []);
    await fill(platform, 'unit_types');
    await expect(newUnits(platform, 'Team', [])).rejects.toThrow(refusal('unit types'));
  });
});
