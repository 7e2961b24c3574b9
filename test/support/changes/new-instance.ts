import { createInstance } from '../../../src/domain/platform/organization/instances.js';
import { platformUnitOfWork } from '../../../src/store/adapters/platform/unit-of-work.js';
import type { DatabaseUnderTest } from '../databases.js';

export async function newInstance(under: DatabaseUnderTest) {
  const database = await under.openMigrated();
  const platform = platformUnitOfWork(database);
  const { id: instanceId } = await platform.run((changes) =>
    createInstance(changes, { name: 'Harborlight' }),
  );
  return { database, platform, instanceId };
}
