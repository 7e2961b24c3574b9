import type { UserStatus } from '../../../../src/domain/directory/names.js';
import { createClient } from '../../../../src/domain/platform/organization/clients.js';
import { createInstance } from '../../../../src/domain/platform/organization/instances.js';
import { type UserUpdate, updateUser } from '../../../../src/domain/platform/people/user-updates.js';
import { createUser, getUser, type UserCreation } from '../../../../src/domain/platform/people/users.js';
import type { UserView } from '../../../../src/domain/platform/rows/people.js';
import type { Database } from '../../../../src/store/database.js';
import type { DatabaseUnderTest } from '../../../support/databases.js';
import { type PlatformWrites, platformWrites } from '../../../support/platform-writes.js';

/** An instance with one client without people; earlier events count as seen. */
export async function newPlatform(under: DatabaseUnderTest) {
  const writes = platformWrites(await under.openMigrated());
  const instance = await writes.run((changes) => createInstance(changes, { name: 'Harborlight' }));
  const client = await newClient(writes, instance.id, 'Tallowfern');
  await writes.newEvents();
  return { ...writes, instance, client };
}

export type Platform = Awaited<ReturnType<typeof newPlatform>>;

export function newClient({ run }: Pick<PlatformWrites, 'run'>, instanceId: string, name: string) {
  return run((changes) => createClient(changes, { instanceId, name }));
}

let people = 0;

export function invite(
  { run }: Pick<PlatformWrites, 'run'>,
  clientId: string,
  creation: Partial<UserCreation> = {},
): Promise<UserView> {
  people += 1;
  const email = `person.${people}@example.com`;
  return run((changes) => createUser(changes, { clientId, email, withoutManager: false, ...creation }));
}

/** Statuses that no call of the platform leads to are planted. */
export async function inStatus(
  { database }: Pick<PlatformWrites, 'database'>,
  { id }: { id: string },
  status: UserStatus,
): Promise<void> {
  await database.write((writer) =>
    writer.updateTable('users').set({ status }).where('id', '=', id).execute(),
  );
}

/** The only user of the only client of a database. */
export async function invitedAlone(database: Database, names: Partial<UserCreation>): Promise<UserView> {
  const writes = platformWrites(database);
  const instance = await writes.run((changes) => createInstance(changes, { name: 'Harborlight' }));
  const client = await newClient(writes, instance.id, 'Tallowfern');
  return invite(writes, client.id, names);
}

export function updateAs(
  platform: Platform,
  { id }: { id: string },
  fields: Omit<UserUpdate, 'userId'>,
): Promise<UserView> {
  return platform.run((changes) => updateUser(changes, { userId: id, ...fields }));
}

export function readUser(platform: Platform, { id }: { id: string }): Promise<UserView> {
  return platform.run((changes) => getUser(changes, id));
}

/** An Owner, a colleague with both names, and another possible manager. */
export async function staffed(platform: Platform) {
  const owner = await invite(platform, platform.client.id, { firstName: 'Ada', lastName: 'Moreau' });
  const user = await invite(platform, platform.client.id, { firstName: 'Ben', lastName: 'Okafor' });
  const lead = await invite(platform, platform.client.id, { firstName: 'Cleo' });
  await platform.newEvents();
  return { owner, user, lead };
}
