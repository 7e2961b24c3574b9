import type {
  ClientId,
  InstanceId,
  LocationId,
  UnitId,
  UnitTypeId,
  UserId,
  WorkerId,
} from '../../generated/ids.js';
import { newPublicId } from '../../src/identifiers/public-id.js';
import { newRowId } from '../../src/identifiers/random-secrets.js';
import type { Database } from '../../src/store/database.js';
import type { Schema } from '../../src/store/schema.js';
import { CREATED_AT, plantInstance, type Row } from './rows.js';

const times = { version: 'v1', created_at: CREATED_AT, updated_at: CREATED_AT };

export const noAddress = {
  address1: null,
  address2: null,
  city: null,
  iso_country_code: null,
  postal_code: null,
  zone_code: null,
};

async function plant<T extends keyof Schema>(database: Database, table: T, row: object): Promise<void> {
  await database.write((writer) =>
    writer
      .insertInto(table)
      .values(row as never)
      .execute(),
  );
}

/** A client, of a new instance unless one is given. */
export async function plantClient(database: Database, row: Row<'clients'> = {}) {
  const instance_id = (row.instance_id ?? (await plantInstance(database)).id) as InstanceId;
  const id = (row.id ?? newPublicId('ClientId')) as ClientId;
  await plant(database, 'clients', { name: 'Tallowfern', ...noAddress, ...times, ...row, id, instance_id });
  return { id, instanceId: instance_id };
}

export async function plantAccount(database: Database, email = `${newPublicId('AccountId')}@example.com`) {
  const id = newPublicId('AccountId');
  const own = { worker_profile_id: newPublicId('WorkerProfileId'), email, email_key: email.toLowerCase() };
  await plant(database, 'accounts', { id, ...own, ...times });
  return { id, email };
}

export async function plantRole(database: Database, client_id: string, name: string) {
  const id = newRowId();
  const { version, created_at } = times;
  await plant(database, 'roles', {
    id,
    client_id,
    name,
    built_in: 0,
    permissions: '[]',
    version,
    created_at,
  });
  return { id, name };
}

/** A user with a person of their own unless one is given. */
export async function plantUser(
  database: Database,
  row: Row<'users'> & { client_id: string },
  email?: string,
) {
  const account = row.account_id === undefined ? await plantAccount(database, email) : undefined;
  const id = (row.id ?? newPublicId('UserId')) as UserId;
  const names = { first_name: 'Eliseo', last_name: 'Brandt', full_name: 'Eliseo Brandt' };
  const rest = { status: 'ACTIVE', manager_id: null, role_id: null, account_id: account?.id };
  await plant(database, 'users', { ...names, ...rest, ...times, ...row, id });
  return { id, email: account?.email ?? '' };
}

export async function plantUnitType(database: Database, client_id: string, row: Row<'unit_types'> = {}) {
  const id = (row.id ?? newPublicId('UnitTypeId')) as UnitTypeId;
  await plant(database, 'unit_types', { client_id, name: `Layer ${id}`, ...times, ...row, id });
  return { id };
}

/** A unit, of a new type unless one is given. */
export async function plantUnit(database: Database, client_id: string, row: Row<'units'> = {}) {
  const unit_type_id = row.unit_type_id ?? (await plantUnitType(database, client_id)).id;
  const id = (row.id ?? newPublicId('UnitId')) as UnitId;
  const own = { name: 'Kitchen', parent_id: null, unit_code: null, description: null };
  await plant(database, 'units', { client_id, ...own, ...times, ...row, id, unit_type_id });
  return { id, name: (row.name ?? own.name) as string };
}

export async function plantLocation(database: Database, client_id: string, row: Row<'locations'> = {}) {
  const id = (row.id ?? newPublicId('LocationId')) as LocationId;
  await plant(database, 'locations', { client_id, name: 'Old Port', ...noAddress, ...times, ...row, id });
  return { id, name: (row.name ?? 'Old Port') as string };
}

export async function plantJobTitle(database: Database, client_id: string, title: string): Promise<void> {
  await plant(database, 'job_titles', { client_id, title });
}

/** A worker with a person of their own, in these units in this order. */
export async function plantWorker(
  database: Database,
  row: Row<'workers'> & { client_id: string },
  unitIds: readonly string[] = [],
) {
  const account_id = row.account_id ?? (await plantAccount(database)).id;
  const id = (row.id ?? newPublicId('WorkerId')) as WorkerId;
  const names = { first_name: 'Maren', last_name: 'Okafor', full_name: 'Maren Okafor' };
  const own = { ...names, email: 'maren@example.com', phone: null, job_titles: '[]', ...noAddress };
  const place = { location_id: null, primary_unit_id: null, offboarded_at: null };
  await plant(database, 'workers', { ...own, ...place, ...times, ...row, id, account_id });
  for (const [position, unit_id] of unitIds.entries()) {
    await plant(database, 'worker_units', { worker_id: id, unit_id, position });
  }
  return { id };
}
