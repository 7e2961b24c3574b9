import { expect, test } from '@jest/globals';
import pg from 'pg';
import type { InstanceId } from '../../../generated/ids.js';
import { createClient } from '../../../src/domain/platform/organization/clients.js';
import { createInstance } from '../../../src/domain/platform/organization/instances.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import { changeStore } from '../../../src/store/adapters/changes.js';
import { platformUnitOfWork } from '../../../src/store/adapters/platform/unit-of-work.js';
import type { Database } from '../../../src/store/database.js';
import { openPostgres } from '../../../src/store/dialects/postgres/postgres.js';
import { migrateToLatest } from '../../../src/store/migrate.js';
import { mirrorOf } from '../../support/changes/mirror.js';
import { PATIENT } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { placeForPair } from './pair.js';

const LOST = 6;
/** So many that the new primary gives the positions of the lost changes again. */
const MADE_AFTERWARDS = 20;

const testOnLinux = process.platform === 'linux' ? test : test.skip;

testOnLinux(
  'a reader of changes that a promoted replica lacks is told to begin again, also after later writes',
  async () => {
    const { postgres, start, stop, host } = placeForPair();
    const open = (name: 'primary' | 'replica') =>
      openPostgres(postgres.urlAt(host(name)), () => undefined, PATIENT);
    try {
      postgres.make();
      const primary = await start(postgres.primary());
      await postgres.prepare();
      const before = await open('primary');
      await migrateToLatest(before.patient);
      const { id: instanceId } = await platformUnitOfWork(before).run((changes) =>
        createInstance(changes, { name: 'Harborlight' }),
      );
      await make(before, instanceId, 'Kept');
      const replica = await start(postgres.replica());
      await hasAll(postgres.adminUrl);
      await replica.stop();
      for (let count = 0; count < LOST; count += 1) {
        await make(before, instanceId, `Lost ${count}`);
      }
      const owner = newPublicId('InstanceIntegrationId');
      const reader = mirrorOf(before, instanceId, owner);
      await reader.follow();
      process.kill(primary.pid, 'SIGKILL');
      await primary.ended;
      await before.close();
      await start(postgres.replica());
      postgres.promote();
      const after = await open('replica');
      for (let count = 0; count < MADE_AFTERWARDS; count += 1) {
        await make(after, instanceId, `New ${count}`);
      }
      const { position } = reader.place.after;
      await expect(changeStore(after).newest()).resolves.toBeGreaterThan(position);
      const same = mirrorOf(after, instanceId, owner);
      same.goOnFrom(reader.cursor);
      await expect(same.follow()).rejects.toMatchObject({ code: ErrorCode.CURSOR_EXPIRED });
      same.goOnFrom(undefined);
      const names = (await same.follow()).map(({ resource }) => (resource as { name?: string }).name);
      expect(names.filter((name) => name?.startsWith('New '))).toHaveLength(MADE_AFTERWARDS);
      await after.close();
    } finally {
      await stop();
    }
  },
);

/** Waits until the replica has what the primary has now. */
async function hasAll(adminUrl: string): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    const { rows } = await admin.query('select pg_current_wal_lsn() as position');
    await eventually('a replica with the first changes', async () => {
      const replicas = await admin.query('select from pg_stat_replication where replay_lsn >= $1', [
        rows[0].position,
      ]);
      return replicas.rowCount === 1;
    });
  } finally {
    await admin.end();
  }
}

function make(database: Database, instanceId: InstanceId, name: string) {
  return platformUnitOfWork(database).run((changes) => createClient(changes, { instanceId, name }));
}
