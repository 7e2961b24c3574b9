import type { DemoClient, DemoPerson } from '../../domain/demo/directory.js';
import type { DemoCredentials, DemoSeed, DemoStore } from '../../domain/demo/seed.js';
import { newVersion } from '../../domain/version.js';
import { apiKeyHint } from '../../identifiers/api-key.js';
import { hashSecret } from '../../identifiers/secret-hash.js';
import type { Database, Writer } from '../database.js';
import type { Schema } from '../schema.js';
import { fromAddress } from './address.js';

const ROWS_PER_INSERT = 100;

export function demoStore({ write }: Database): DemoStore {
  return {
    plant: (seed, credentials) =>
      write(async (writer) => {
        if (!(await isPlanted(writer, seed))) {
          await plantRoots(writer, seed);
          for (const [index, client] of seed.clients.entries()) {
            await plantClient(writer, client, seed.createdAt + index);
          }
        }
        await plantCredentials(writer, seed, credentials);
      }),
  };
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
    email_key: person.email.toLowerCase(),
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

function timesAt(at: number) {
  return { created_at: at, updated_at: at };
}

/** Tables whose rows carry a version of their own. */
const VERSIONED: ReadonlySet<keyof Schema> = new Set([
  'instances',
  'integrations',
  'instance_integrations',
  'accounts',
  'clients',
  'roles',
  'users',
  'unit_types',
  'units',
  'locations',
  'workers',
]);

type Unversioned<T> = T extends { version: unknown } ? Omit<T, 'version'> : T;

async function insert<T extends keyof Schema>(
  writer: Writer,
  table: T,
  rows: readonly (T extends 'data_versions' ? Schema[T] : Unversioned<Schema[T]>)[],
): Promise<void> {
  for (const some of inParts(rows)) {
    const values = VERSIONED.has(table) ? some.map((row) => ({ ...row, version: newVersion() })) : some;
    await writer
      .insertInto(table)
      .values(values as never)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** Databases bound how many values one statement may carry. */
function* inParts<T>(rows: readonly T[]): Generator<T[]> {
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    yield rows.slice(from, from + ROWS_PER_INSERT);
  }
}

async function plantCredentials(
  writer: Writer,
  { createdAt }: DemoSeed,
  credentials: DemoCredentials,
): Promise<void> {
  const lifetime = { created_at: createdAt, expires_at: null, revoked_at: null, last_used_at: null };
  const apiKeys = Object.entries(credentials.apiKeys).map(([integrationId, key]) => ({
    ...lifetime,
    ...identityOf('key', key),
    integration_id: integrationId,
    label: 'Demo key',
    hint: apiKeyHint(key),
    version: newVersion(),
  }));
  const tokens = Object.entries(credentials.serviceTokens).map(([kind, token]) => ({
    ...lifetime,
    ...identityOf('tok', token),
    kind: kind as 'operator' | 'platform',
    label: `Demo ${kind}`,
  }));
  await writer
    .insertInto('api_keys')
    .values(apiKeys)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  await writer
    .insertInto('service_tokens')
    .values(tokens)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** An id that follows from the secret makes planting repeatable. */
function identityOf(prefix: string, secret: string) {
  const hash = hashSecret(secret).toString('base64url');
  return { id: `${prefix}_${hashSecret(hash).toString('hex').slice(0, 22)}`, hash };
}
