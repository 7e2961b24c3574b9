import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { InstanceId } from '../../../generated/ids.js';
import { createInstance } from '../../../src/domain/platform/organization/instances.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import { changeStore } from '../../../src/store/adapters/changes.js';
import { platformUnitOfWork } from '../../../src/store/adapters/platform/unit-of-work.js';
import type { Database } from '../../../src/store/database.js';
import { MOVED_FILE } from '../../../src/store/moves/moved-file.js';
import { mirrorOf } from '../../support/changes/mirror.js';
import { writeAtRandom } from '../../support/changes/random-writes.js';
import { databaseUnderTest } from '../../support/databases.js';
import { randomFrom } from '../../support/random-from.js';
import { move } from './rig.js';

const sqlite = databaseUnderTest('SQLite');
const postgres = databaseUnderTest('PostgreSQL');

async function newSource() {
  const { dataDir } = await sqlite.newPlace();
  await (await sqlite.openStore({ dataDir })).close();
  const before = await sqlite.open({ dataDir });
  const { id: instanceId } = await platformUnitOfWork(before).run((changes) =>
    createInstance(changes, { name: 'Harborlight' }),
  );
  const write = (on: Database, seed: number) =>
    writeAtRandom(on, platformUnitOfWork(on), { instanceId, times: 30, random: randomFrom(seed) });
  await write(before, 1);
  return { dataDir, before, instanceId, write };
}

async function moveFrom(dataDir: string): Promise<Database> {
  const { databaseUrl = '' } = await postgres.newEmptyPlace();
  await move(dataDir, databaseUrl, { keyIds: [] });
  return postgres.open({ dataDir, databaseUrl });
}

test('PostgreSQL gives positions after the last one of SQLite, which can be greater than that of any change', async () => {
  const { dataDir, before, instanceId, write } = await newSource();
  const last = 2 ** 50;
  await before.write((writer) => writer.updateTable('change_feed').set({ last_position: last }).execute());
  await before.close();
  const moved = await moveFrom(dataDir);
  await write(moved, 2);
  expect(await changeStore(moved).newestOf(instanceId as InstanceId)).toBeGreaterThan(last);
});

test('a reader of changes goes on after a move, and is told to begin again after the way back', async () => {
  const { dataDir, before, instanceId, write } = await newSource();
  const integration = newPublicId('InstanceIntegrationId');
  const ofSqlite = mirrorOf(before, instanceId, integration);
  await ofSqlite.follow();
  await before.close();

  const moved = await moveFrom(dataDir);
  await write(moved, 2);
  const ofPostgres = mirrorOf(moved, instanceId, integration);
  ofPostgres.goOnFrom(ofSqlite.cursor);
  expect(await ofPostgres.follow()).not.toEqual([]);

  rmSync(join(dataDir, MOVED_FILE));
  await (await sqlite.openStore({ dataDir }, 'demo', { alone: true })).close();
  const back = await sqlite.open({ dataDir });
  const again = mirrorOf(back, instanceId, integration);
  // SQLite has given the positions that PostgreSQL had given before, which other tests make any number.
  const { position } = ofPostgres.place.after;
  await back.write((writer) => writer.updateTable('change_feed').set({ last_position: position }).execute());
  await write(back, 3);
  expect((await changeStore(back).lives()).end).toBeGreaterThan(position);
  again.goOnFrom(ofPostgres.cursor);
  await expect(again.follow()).rejects.toMatchObject({ code: ErrorCode.CURSOR_EXPIRED });
});
