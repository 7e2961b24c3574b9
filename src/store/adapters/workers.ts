import type { WorkerId } from '../../../generated/ids.js';
import type { Named } from '../../domain/directory/names.js';
import type { Worker, WorkerStore } from '../../domain/directory/workers.js';
import type { Database, Reader } from '../database.js';
import { addressColumns, toAddress } from './address.js';
import { keptPages, keptQuery } from './kept-query.js';
import { behind } from './keyset.js';

const columns = [
  'id',
  'first_name',
  'last_name',
  'full_name',
  'email',
  'job_titles',
  'phone',
  'created_at',
] as const;

export function workerStore({ reader }: Database): WorkerStore {
  const plain = () => reader.selectFrom('workers').select([...columns, ...addressColumns]);
  const placed = () =>
    reader
      .selectFrom('workers')
      .leftJoin('units as primary_unit', 'primary_unit.id', 'workers.primary_unit_id')
      .leftJoin('locations as location', 'location.id', 'workers.location_id')
      .select([...columns.map((column) => `workers.${column}` as const)])
      .select(addressColumns.map((column) => `workers.${column}` as const))
      .select(['primary_unit_id', 'primary_unit.name as primary_unit_name'])
      .select(['location_id', 'location.name as location_name']);

  const pagesOf = (rows: typeof plain | typeof placed) =>
    keptPages(reader, (clientId, page) =>
      (rows as typeof plain)()
        .where('workers.client_id', '=', clientId)
        .where('workers.offboarded_at', 'is', null)
        .where(behind('workers', page))
        .orderBy('workers.created_at')
        .orderBy('workers.id')
        .limit(page.limit),
    );
  const plainPages = pagesOf(plain);
  const placedPages = pagesOf(placed);
  const oneOf = keptQuery(reader, (clientId: string, id: string) =>
    placed().where('workers.client_id', '=', clientId).where('workers.id', '=', id),
  );

  return {
    page: async (clientId, page, withOrganization) => {
      if (!withOrganization) {
        return (await plainPages(clientId, page)).map((row) => toWorker(row, undefined));
      }
      const rows = await placedPages(clientId, page);
      const units = await unitsOf(
        reader,
        rows.map(({ id }) => id),
      );
      return rows.map((row) => toWorker(row, units));
    },
    find: async (clientId, id) => {
      const [row] = await oneOf(clientId, id);
      return row && toWorker(row, await unitsOf(reader, [id]));
    },
  };
}

/** The units of many workers in one read, each in the order in which they were assigned. */
export async function unitsOf(reader: Reader, workerIds: readonly string[]): Promise<Map<string, Named[]>> {
  const units = new Map<string, Named[]>();
  if (workerIds.length === 0) {
    return units;
  }
  const rows = await reader
    .selectFrom('worker_units')
    .innerJoin('units', 'units.id', 'worker_units.unit_id')
    .where('worker_units.worker_id', 'in', workerIds)
    .orderBy('worker_units.worker_id')
    .orderBy('worker_units.position')
    .select(['worker_units.worker_id as workerId', 'units.id', 'units.name'])
    .execute();
  for (const { workerId, id, name } of rows) {
    const list = units.get(workerId);
    if (list) {
      list.push({ id, name });
    } else {
      units.set(workerId, [{ id, name }]);
    }
  }
  return units;
}

type WorkerRow = {
  id: string;
  first_name: string;
  last_name: string;
  full_name: string;
  email: string;
  job_titles: string;
  phone: string | null;
  created_at: number;
  primary_unit_id?: string | null;
  primary_unit_name?: string | null;
  location_id?: string | null;
  location_name?: string | null;
} & Parameters<typeof toAddress>[0];

function toWorker(row: WorkerRow, units: Map<string, Named[]> | undefined): Worker {
  return {
    id: row.id as WorkerId,
    firstName: row.first_name,
    lastName: row.last_name,
    fullName: row.full_name,
    email: row.email,
    jobTitles: JSON.parse(row.job_titles) as string[],
    phone: row.phone,
    address: toAddress(row),
    units: units?.get(row.id) ?? [],
    primaryUnit: named(row.primary_unit_id, row.primary_unit_name),
    location: named(row.location_id, row.location_name),
    createdAt: row.created_at,
  };
}

export function named(id: string | null | undefined, name: string | null | undefined): Named | null {
  return id && name != null ? { id, name } : null;
}
