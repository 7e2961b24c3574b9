import { type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import type { NamedLocation, NamedUnit } from '../../../../generated/asyncapi/events.js';
import type { WorkerId } from '../../../../generated/ids.js';
import type { Named } from '../../../domain/directory/names.js';
import type { Worker, WorkerFilter, WorkerRows } from '../../../domain/platform/rows/workers.js';
import { camelCased, type Rows, type Tables } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { withAddress } from '../address.js';
import { contractEmailFor } from '../contract-email.js';
import { named } from '../named.js';
import { oldestFirst } from '../statements/keyset.js';

export function workerRows(writer: Writer): WorkerRows {
  const db = camelCased(writer);
  const placed = () =>
    db
      .selectFrom('workers')
      .leftJoin('units as primaryUnit', 'primaryUnit.id', 'workers.primaryUnitId')
      .leftJoin('locations as location', 'location.id', 'workers.locationId')
      .selectAll('workers')
      .select(['primaryUnit.name as primaryUnitName', 'location.name as locationName'])
      .$narrowType<Pick<Worker, 'id' | 'clientId' | 'accountId'>>();
  const assign = async (workerId: WorkerId, units: readonly NamedUnit[]) => {
    for (const [position, unit] of units.entries()) {
      await db.insertInto('workerUnits').values({ workerId, unitId: unit.id, position }).execute();
    }
  };
  return {
    find: async (id) => {
      const row = await placed().where('workers.id', '=', id).executeTakeFirst();
      return row && toWorker(row, await unitsOf(db, [id]));
    },
    findActive: async (clientId, accountId) => {
      const row = await placed()
        .where('workers.accountId', '=', accountId)
        .where('workers.clientId', '=', clientId)
        .where('workers.offboardedAt', 'is', null)
        .executeTakeFirst();
      return row && toWorker(row, await unitsOf(db, [row.id]));
    },
    page: async (page, clientId, filter) => {
      const found = placed().where('workers.clientId', '=', clientId).where(matching(filter));
      const rows = await oldestFirst(found, 'workers', page);
      const units = await unitsOf(
        db,
        rows.map(({ id }) => id),
      );
      return rows.map((row) => toWorker(row, units));
    },
    insert: async (worker) => {
      await db.insertInto('workers').values(toRow(worker)).execute();
      await assign(worker.id, worker.units);
    },
    update: async (worker) => {
      await db.updateTable('workers').set(toRow(worker)).where('id', '=', worker.id).execute();
    },
    assign: async ({ id, units }) => {
      await db.deleteFrom('workerUnits').where('workerId', '=', id).execute();
      await assign(id, units);
    },
  };
}

function matching({ statuses, unitId, locationId, jobTitle }: WorkerFilter) {
  const conditions = [sql<SqlBool>`1 = 1`];
  if (statuses && new Set(statuses).size === 1) {
    conditions.push(
      statuses[0] === 'ACTIVE'
        ? sql<SqlBool>`workers.offboarded_at is null`
        : sql<SqlBool>`workers.offboarded_at is not null`,
    );
  }
  if (unitId !== undefined) {
    conditions.push(
      sql<SqlBool>`workers.id in (select worker_id from worker_units where unit_id = ${unitId})`,
    );
  }
  if (locationId !== undefined) {
    conditions.push(sql<SqlBool>`workers.location_id = ${locationId}`);
  }
  if (jobTitle !== undefined) {
    conditions.push(sql<SqlBool>`workers.job_titles like ${patternOf(jobTitle)} escape '!'`);
  }
  return sql.join<SqlBool>(conditions, sql` and `) as unknown as ExpressionWrapper<never, never, SqlBool>;
}

/** The title as in a JSON array. LIKE of SQLite ignores case, so it may find more. */
function patternOf(jobTitle: string): string {
  return `%${JSON.stringify(jobTitle).replace(/[!%_]/g, '!$&')}%`;
}

type WorkerRow = Omit<Tables['workers'], 'id' | 'clientId' | 'accountId'> &
  Pick<Worker, 'id' | 'clientId' | 'accountId'> & {
    primaryUnitName: string | null;
    locationName: string | null;
  };

function toWorker(row: WorkerRow, units: Map<string, Named[]>): Worker {
  const {
    contractEmail: _,
    locationId,
    locationName,
    primaryUnitId,
    primaryUnitName,
    ...worker
  } = withAddress(row);
  return {
    ...worker,
    jobTitles: JSON.parse(row.jobTitles) as string[],
    units: (units.get(row.id) ?? []) as NamedUnit[],
    primaryUnit: named(primaryUnitId, primaryUnitName) as NamedUnit | null,
    location: named(locationId, locationName) as NamedLocation | null,
  };
}

function toRow({ address, units: _, primaryUnit, location, ...worker }: Worker): Tables['workers'] {
  return {
    ...worker,
    ...address,
    contractEmail: contractEmailFor(worker.email),
    jobTitles: JSON.stringify(worker.jobTitles),
    locationId: location?.id ?? null,
    primaryUnitId: primaryUnit?.id ?? null,
  };
}

/** The units of many workers in one read, in order of assignment. */
async function unitsOf(db: Rows, workerIds: readonly string[]): Promise<Map<string, Named[]>> {
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
