import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { migratorOf } from '../../../src/store/migrate.js';
import { migrations } from '../../../src/store/migrations/index.js';
import { describeEachDatabase } from '../../support/databases.js';
import { plantClient, plantUnit, plantWorker } from '../directory-rows.js';

const BEFORE = '0033-shared-mailboxes';

describeEachDatabase('units of workers', (under) => {
  async function broughtForward() {
    const database = await under.open(await under.newEmptyPlace());
    const migrator = migratorOf(database.migrator, migrations);
    expect((await migrator.migrateTo(BEFORE)).error).toBeUndefined();
    const client_id = (await plantClient(database)).id;
    const units = [await plantUnit(database, client_id), await plantUnit(database, client_id)];
    const ids = units.map(({ id }) => id);
    const first = await plantWorker(database, { client_id }, ids);
    const second = await plantWorker(database, { client_id }, ids.slice(1));
    const rows = () =>
      database.reader
        .selectFrom('worker_units')
        .selectAll()
        .orderBy('worker_id')
        .orderBy('unit_id')
        .execute();
    const before = await rows();
    expect((await migrator.migrateToLatest()).error).toBeUndefined();
    return { database, rows, before, units: ids, workers: [first.id, second.id] };
  }

  test('stay assigned, in their order', async () => {
    const { rows, before } = await broughtForward();
    expect(before).toHaveLength(3);
    expect(await rows()).toEqual(before);
  });

  test('still refer to units and workers that exist, and once', async () => {
    const { database, units, workers } = await broughtForward();
    const assign = (worker_id: string, unit_id: string) =>
      database.write((writer) =>
        sql`insert into worker_units (worker_id, unit_id, position) values (${worker_id}, ${unit_id}, 9)`.execute(
          writer,
        ),
      );
    await expect(assign(workers[0] as string, 'oun_unknown')).rejects.toThrow(/foreign key/i);
    await expect(assign('wrk_unknown', units[0] as string)).rejects.toThrow(/foreign key/i);
    await expect(assign(workers[0] as string, units[0] as string)).rejects.toThrow(/unique/i);
    await expect(
      database.write((writer) => sql`delete from units where id = ${units[1]}`.execute(writer)),
    ).rejects.toThrow(/foreign key/i);
  });

  test('still mark their workers as changed when they are renamed', async () => {
    const { database, units, workers } = await broughtForward();
    const positions = async () => {
      const found = database.reader.selectFrom('changes').where('entity_id', 'in', workers);
      const rows = await found.orderBy('entity_id').select('position').execute();
      return rows.map(({ position }) => Number(position));
    };
    const before = await positions();
    await database.write((writer) =>
      sql`update units set name = 'New name' where id = ${units[1]}`.execute(writer),
    );
    const after = await positions();
    expect(after.map((position, index) => position > (before[index] as number))).toEqual([true, true]);
  });
});
