import type { Named } from '../../domain/directory/names.js';
import type { Worker, WorkerStore } from '../../domain/directory/workers.js';
import { camelCased, type Rows } from '../camel-case.js';
import type { Database } from '../database.js';
import { addressColumns, addressIn } from './address.js';
import { keptPages, keptQuery } from './kept-query.js';
import { behind } from './keyset.js';
import { named } from './named.js';

const columns = [
  'id',
  'firstName',
  'lastName',
  'fullName',
  'email',
  'jobTitles',
  'phone',
  'createdAt',
] as const;

export function workerStore({ reader }: Database): WorkerStore {
  const db = camelCased(reader);
  const plain = () =>
    db
      .selectFrom('workers')
      .select([...columns, ...addressColumns])
      .$narrowType<Pick<Worker, 'id'>>();
  const placed = () =>
    db
      .selectFrom('workers')
      .leftJoin('units as primaryUnit', 'primaryUnit.id', 'workers.primaryUnitId')
      .leftJoin('locations as location', 'location.id', 'workers.locationId')
      .select([...columns.map((column) => `workers.${column}` as const)])
      .select(addressColumns.map((column) => `workers.${column}` as const))
      .select(['primaryUnitId', 'primaryUnit.name as primaryUnitName'])
      .select(['locationId', 'location.name as locationName'])
      .$narrowType<Pick<Worker, 'id'>>();

  const pagesOf = (rows: typeof plain | typeof placed) =>
    keptPages(db, (clientId, page) =>
      (rows as typeof plain)()
        .where('workers.clientId', '=', clientId)
        .where('workers.offboardedAt', 'is', null)
        .where(behind('workers', page))
        .orderBy('workers.createdAt')
        .orderBy('workers.id')
        .limit(page.limit),
    );
  const plainPages = pagesOf(plain);
  const placedPages = pagesOf(placed);
  const oneOf = keptQuery(db, (clientId: string, id: string) =>
    placed().where('workers.clientId', '=', clientId).where('workers.id', '=', id),
  );

  return {
    page: async (clientId, page, withOrganization) => {
      if (!withOrganization) {
        return (await plainPages(clientId, page)).map((row) => toWorker(row, undefined));
      }
      const rows = await placedPages(clientId, page);
      const units = await unitsOf(
        db,
        rows.map(({ id }) => id),
      );
      return rows.map((row) => toWorker(row, units));
    },
    find: async (clientId, id) => {
      const [row] = await oneOf(clientId, id);
      return row && toWorker(row, await unitsOf(db, [id]));
    },
  };
}

/** The units of many workers in one read, in order of assignment. */
export async function unitsOf(db: Rows, workerIds: readonly string[]): Promise<Map<string, Named[]>> {
  const units = new Map<string, Named[]>();
  if (workerIds.length === 0) {
    return units;
  }
  const rows = await db
    .selectFrom('workerUnits')
    .innerJoin('units', 'units.id', 'workerUnits.unitId')
    .where('workerUnits.workerId', 'in', workerIds)
    .orderBy('workerUnits.workerId')
    .orderBy('workerUnits.position')
    .select(['workerUnits.workerId', 'units.id', 'units.name'])
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

type WorkerRow = Omit<Worker, 'jobTitles' | 'location' | `organization${string}`> &
  Worker['location'] & {
    jobTitles: string;
    primaryUnitId?: string | null;
    primaryUnitName?: string | null;
    locationId?: string | null;
    locationName?: string | null;
  };

function toWorker(row: WorkerRow, units: Map<string, Named[]> | undefined): Worker {
  return {
    id: row.id,
    firstName: row.firstName,
    lastName: row.lastName,
    fullName: row.fullName,
    email: row.email,
    jobTitles: JSON.parse(row.jobTitles) as string[],
    phone: row.phone,
    location: addressIn(row),
    organizationUnits: units?.get(row.id) ?? [],
    organizationUnit: named(row.primaryUnitId, row.primaryUnitName),
    organizationLocation: named(row.locationId, row.locationName),
    createdAt: row.createdAt,
  };
}
