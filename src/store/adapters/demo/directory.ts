import type { DemoClient, DemoPerson } from '../../../domain/demo/directory.js';
import type { DemoSeed } from '../../../domain/demo/seed.js';
import { emailKeyOf } from '../../../domain/platform/email-keys.js';
import { newVersion } from '../../../domain/version.js';
import type { Writer } from '../../database.js';
import { fromAddress } from '../address.js';
import { insert, timesAt } from './insert.js';

/** Into a database that has none of it. */
export async function plantDirectory(writer: Writer, seed: DemoSeed): Promise<void> {
  if (await isPlanted(writer, seed)) {
    return;
  }
  await plantRoots(writer, seed);
  for (const [index, client] of seed.clients.entries()) {
    await plantClient(writer, client, seed.createdAt + index);
  }
}

/** What people changed or deleted since the first start stays as they made it. */
async function isPlanted(writer: Writer, { instances }: DemoSeed): Promise<boolean> {
  const ids = instances.map(({ id }) => id);
  const row = await writer.selectFrom('instances').where('id', 'in', ids).select('id').executeTakeFirst();
  return row !== undefined;
}

async function plantRoots(
  writer: Writer,
  { createdAt, instances, integrations, clients }: DemoSeed,
): Promise<void> {
  const times = timesAt(createdAt);
  await insert(
    writer,
    'instances',
    instances.map(({ id, name }) => ({ id, name, ...times })),
  );
  await insert(
    writer,
    'integrations',
    integrations.map(({ id, name }) => ({ id, name, ...times })),
  );
  const connections = integrations.flatMap((integration) =>
    integration.connections.map(({ id, instance, configured }, index) => ({
      id,
      integration_id: integration.id,
      instance_id: instance,
      configured_at: configured ? createdAt : null,
      ...timesAt(createdAt + index),
    })),
  );
  await insert(writer, 'instance_integrations', connections);
  const subjects = [...instances, ...integrations, ...clients].map(({ id }) => id);
  await insert(
    writer,
    'data_versions',
    subjects.map((id) => ({ subject_id: id, version: newVersion() })),
  );
}

async function plantClient(writer: Writer, client: DemoClient, createdAt: number): Promise<void> {
  const times = timesAt(createdAt);
  const own = { client_id: client.id };
  const { id, instance, name, address } = client;
  await insert(writer, 'clients', [{ id, instance_id: instance, name, ...fromAddress(address), ...times }]);
  const roles = client.roles.map((role) => ({
    ...own,
    id: role.id,
    name: role.name,
    built_in: role.builtIn ? (1 as const) : (0 as const),
    permissions: JSON.stringify(role.permissions),
    created_at: createdAt,
  }));
  await insert(writer, 'roles', roles);
  await insert(
    writer,
    'unit_types',
    client.unitTypes.map((type, index) => ({ ...own, ...type, ...timesAt(createdAt + index) })),
  );
  await insert(
    writer,
    'units',
    client.units.map((unit, index) => ({ ...own, ...unitRow(unit), ...timesAt(createdAt + index) })),
  );
  const locations = client.locations.map((location, index) => ({
    ...own,
    id: location.id,
    name: location.name,
    ...fromAddress(location.address),
    ...timesAt(createdAt + index),
  }));
  await insert(writer, 'locations', locations);
  await insert(
    writer,
    'job_titles',
    client.jobTitles.map((title) => ({ ...own, title })),
  );
  await plantPeople(
    writer,
    [...client.users, ...client.workers].map(({ person }) => person),
    createdAt,
  );
  await insert(
    writer,
    'users',
    client.users.map((user, index) => ({ ...own, ...userRow(user), ...timesAt(createdAt + index) })),
  );
  await insert(
    writer,
    'workers',
    client.workers.map((worker, index) => ({ ...own, ...workerRow(worker), ...timesAt(createdAt + index) })),
  );
  const assignments = client.workers.flatMap((worker) =>
    worker.unitIds.map((unitId, position) => ({ worker_id: worker.id, unit_id: unitId, position })),
  );
  await insert(writer, 'worker_units', assignments);
}

/** A person may work and sign in for several clients, and is one account all the same. */
async function plantPeople(writer: Writer, people: readonly DemoPerson[], createdAt: number): Promise<void> {
  const rows = [...new Map(people.map((person) => [person.id, person])).values()].map((person) => ({
    id: person.id,
    worker_profile_id: person.workerProfileId,
    email: person.email,
    email_key: emailKeyOf(person.email),
    same_mailbox_as: null,
    email_verified_at: createdAt,
    first_name: person.firstName,
    last_name: person.lastName,
    disabled_at: null,
    ...timesAt(createdAt),
  }));
  await insert(writer, 'accounts', rows);
}

function unitRow({ id, typeId, parentId, name, code, description }: DemoClient['units'][number]) {
  return { id, unit_type_id: typeId, parent_id: parentId, name, unit_code: code, description };
}

function userRow({ id, person, status, managerId, roleId }: DemoClient['users'][number]) {
  const { firstName, lastName } = person;
  return {
    id,
    account_id: person.id,
    first_name: firstName,
    last_name: lastName,
    full_name: `${firstName} ${lastName}`,
    status,
    manager_id: managerId,
    role_id: roleId,
  };
}

function workerRow({
  id,
  person,
  jobTitles,
  phone,
  address,
  locationId,
  unitIds,
}: DemoClient['workers'][number]) {
  const { firstName, lastName, email } = person;
  return {
    id,
    account_id: person.id,
    first_name: firstName,
    last_name: lastName,
    full_name: `${firstName} ${lastName}`,
    email,
    phone,
    job_titles: JSON.stringify(jobTitles),
    ...fromAddress(address),
    location_id: locationId,
    primary_unit_id: unitIds[0] ?? null,
    offboarded_at: null,
  };
}
