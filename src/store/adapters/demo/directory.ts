import type { Insertable } from 'kysely';
import type { DemoClient, DemoPerson } from '../../../domain/demo/directory.js';
import type { DemoSeed } from '../../../domain/demo/seed.js';
import { emailKeyOf } from '../../../domain/platform/people/email-keys.js';
import { madeAt, newVersion } from '../../../domain/version.js';
import { camelCased, type Tables, type Writer } from '../../database.js';
import { contractEmailFor } from '../directory-columns.js';
import { changedRows, findsAny } from '../statements/kept-statement.js';

/** Only into a database without it. */
export async function seedDirectory(writer: Writer, seed: DemoSeed): Promise<void> {
  if (await isSeeded(writer, seed)) {
    return;
  }
  await seedRoots(writer, seed);
  for (const [index, client] of seed.clients.entries()) {
    await seedClient(writer, client, seed.createdAt + index);
  }
}

/** Changes and deletions by people since the first start stay. */
function isSeeded(writer: Writer, { instances }: DemoSeed): Promise<boolean> {
  const ids = instances.map(({ id }) => id);
  return findsAny(writer.selectFrom('instances').where('id', 'in', ids).select('id'));
}

async function seedRoots(
  writer: Writer,
  { createdAt, instances, integrations, clients }: DemoSeed,
): Promise<void> {
  const named = (rows: readonly { id: string; name: string }[]) =>
    rows.map(({ id, name }) => ({ id, name, ...madeAt(createdAt) }));
  await insert(writer, 'instances', named(instances));
  await insert(writer, 'integrations', named(integrations));
  const connections = integrations.flatMap((integration) =>
    integration.connections.map(({ id, instance, configured }, index) => ({
      id,
      integrationId: integration.id,
      instanceId: instance,
      configuredAt: configured ? createdAt : null,
      ...madeAt(createdAt + index),
    })),
  );
  await insert(writer, 'instanceIntegrations', connections);
  const subjects = [...instances, ...integrations, ...clients].map(({ id }) => id);
  await insert(
    writer,
    'dataVersions',
    subjects.map((id) => ({ subjectId: id, version: newVersion() })),
  );
}

async function seedClient(writer: Writer, client: DemoClient, createdAt: number): Promise<void> {
  const own = { clientId: client.id };
  const { id, instance, name, address } = client;
  await insert(writer, 'clients', [{ id, instanceId: instance, name, ...address, ...madeAt(createdAt) }]);
  const roles = client.roles.map((role) => ({
    ...own,
    ...role,
    builtIn: role.builtIn ? (1 as const) : (0 as const),
    permissions: JSON.stringify(role.permissions),
    version: newVersion(),
    createdAt,
  }));
  await insert(writer, 'roles', roles);
  /** Lists are read by age. */
  const inOrder = <Row extends object>(rows: readonly Row[]) =>
    rows.map((row, index) => ({ ...own, ...row, ...madeAt(createdAt + index) }));
  await insert(writer, 'unitTypes', inOrder(client.unitTypes));
  await insert(writer, 'units', inOrder(client.units));
  const locations = client.locations.map(({ address, ...location }) => ({ ...location, ...address }));
  await insert(writer, 'locations', inOrder(locations));
  await insert(
    writer,
    'jobTitles',
    client.jobTitles.map((title) => ({ ...own, title })),
  );
  await seedPeople(
    writer,
    [...client.users, ...client.workers].map(({ person }) => person),
    createdAt,
  );
  const users = client.users.map(({ person, ...user }) => ({
    ...user,
    ...memberOf(person),
    knownEmail: null,
  }));
  await insert(writer, 'users', inOrder(users));
  await insert(writer, 'workers', inOrder(client.workers.map(workerRow)));
  const assignments = client.workers.flatMap((worker) =>
    worker.unitIds.map((unitId, position) => ({ workerId: worker.id, unitId, position })),
  );
  await insert(writer, 'workerUnits', assignments);
}

/** A person with several clients is one account. */
async function seedPeople(writer: Writer, people: readonly DemoPerson[], createdAt: number): Promise<void> {
  const rows = [...new Map(people.map((person) => [person.id, person])).values()].map((person) => ({
    ...person,
    emailKey: emailKeyOf(person.email),
    contractEmail: contractEmailFor(person.email),
    sameMailboxAs: null,
    emailVerifiedAt: createdAt,
    disabledAt: null,
    ...madeAt(createdAt),
  }));
  await insert(writer, 'accounts', rows);
}

function workerRow({ person, jobTitles, address, unitIds, ...worker }: DemoClient['workers'][number]) {
  return {
    ...worker,
    ...memberOf(person),
    email: person.email,
    contractEmail: contractEmailFor(person.email),
    jobTitles: JSON.stringify(jobTitles),
    ...address,
    primaryUnitId: unitIds[0] ?? null,
    offboardedAt: null,
  };
}

function memberOf({ id: accountId, firstName, lastName }: DemoPerson) {
  return { accountId, firstName, lastName, fullName: `${firstName} ${lastName}` };
}

/** Databases limit the values of a statement. */
const ROWS_PER_INSERT = 100;

/** Skips existing rows, and returns the number inserted. */
export async function insert<T extends keyof Tables>(
  writer: Writer,
  table: T,
  rows: readonly Insertable<Tables[T]>[],
): Promise<number> {
  let inserted = 0;
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    const some = rows.slice(from, from + ROWS_PER_INSERT);
    const insertion = camelCased(writer)
      .insertInto(table)
      .values(some as never)
      .onConflict((conflict) => conflict.doNothing());
    inserted += changedRows(await writer.executeQuery(insertion));
  }
  return inserted;
}
