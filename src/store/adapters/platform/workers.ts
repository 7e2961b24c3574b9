import { type InferResult, type SqlBool, sql } from 'kysely';
import type { NamedLocation, NamedUnit } from '../../../../generated/asyncapi/events.js';
import type { WorkerId } from '../../../../generated/ids.js';
import type { Named } from '../../../domain/directory/names.js';
import type { Worker, WorkerFilter, WorkerRows } from '../../../domain/platform/rows/people.js';
import { camelCased, type Rows, type Tables } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { contractEmailFor, namedOrNull, withAddress } from '../directory-columns.js';
import { inList } from '../statements/dialect.js';
import { statement } from '../statements/kept-statement.js';
import { oldestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';

const byId = statement((db, { id }: { id: string }) => placed(db).where('workers.id', '=', id));

const unitsOfOne = statement((db, { id }: { id: string }) =>
  assigned(db).where('workerUnits.workerId', '=', id),
);

export function workerRows(writer: Writer): WorkerRows {
  const db = camelCased(writer);
  const { insert, update } = plainWrites(db, 'workers');
  const assignments = plainWrites(db, 'workerUnits');
  const assign = async (workerId: WorkerId, units: readonly NamedUnit[]) => {
    for (const [position, unit] of units.entries()) {
      await assignments.insert({ workerId, unitId: unit.id, position });
    }
  };
  const only = async ([row]: WorkerRow[]) =>
    row && toWorker(row, byWorker((await unitsOfOne(db, { id: row.id })).rows));
  return {
    find: async (id) => only((await byId(db, { id })).rows),
    page: async (page, clientId, filter) => {
      const found = placed(db).where('workers.clientId', '=', clientId).where(matching(filter));
      return withUnits(db, await oldestFirst(found, 'workers', page));
    },
    sizes: (page, clientId, filter) => {
      const found = db.selectFrom('workers').where('clientId', '=', clientId).where(matching(filter));
      return oldestFirst(found.select(['createdAt', 'id', SIZE.as('size')]), 'workers', page);
    },
    findAll: async (clientId, ids) => {
      const found = placed(db)
        .where('workers.clientId', '=', clientId)
        .where(inList(db, 'workers.id', JSON.stringify(ids)))
        .orderBy('workers.createdAt')
        .orderBy('workers.id');
      return withUnits(db, await found.execute());
    },
    insert: async (worker) => {
      await insert(toRow(worker));
      await assign(worker.id, worker.units);
    },
    update: (worker) => update(toRow(worker)),
    assign: async ({ id, units }) => {
      await db.deleteFrom('workerUnits').where('workerId', '=', id).execute();
      await assign(id, units);
    },
  };
}

function placed(db: Rows) {
  return db
    .selectFrom('workers')
    .leftJoin('units as primaryUnit', 'primaryUnit.id', 'workers.primaryUnitId')
    .leftJoin('locations as location', 'location.id', 'workers.locationId')
    .selectAll('workers')
    .select(['primaryUnit.name as primaryUnitName', 'location.name as locationName'])
    .$narrowType<Pick<Worker, 'id' | 'clientId' | 'accountId'>>();
}

/** The units of workers, in order of assignment. */
function assigned(db: Rows) {
  return db
    .selectFrom('workerUnits')
    .innerJoin('units', 'units.id', 'workerUnits.unitId')
    .orderBy('workerUnits.workerId')
    .orderBy('workerUnits.position')
    .select(['workerUnits.workerId', 'units.id', 'units.name']);
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
  return sql.join<SqlBool>(conditions, sql` and `);
}

/** The title as in a JSON array. LIKE of SQLite ignores case, so it may find more. */
function patternOf(jobTitle: string): string {
  return `%${JSON.stringify(jobTitle).replace(/[!%_]/g, '!$&')}%`;
}

type WorkerRow = InferResult<ReturnType<typeof placed>>[number];

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
    primaryUnit: namedOrNull(primaryUnitId, primaryUnitName) as NamedUnit | null,
    location: namedOrNull(locationId, locationName) as NamedLocation | null,
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

/** A unit has an id and a name of at most 200 characters; other texts are short. */
const SIZE = sql<number>`1000 + length(job_titles)
  + 250 * (select count(*) from worker_units where worker_id = workers.id)`;

/** Reads the units of all the workers at once. */
async function withUnits(db: Rows, rows: readonly WorkerRow[]): Promise<Worker[]> {
  if (rows.length === 0) {
    return [];
  }
  const ids = rows.map(({ id }) => id);
  const units = byWorker(await assigned(db).where('workerUnits.workerId', 'in', ids).execute());
  return rows.map((row) => toWorker(row, units));
}

function byWorker(rows: readonly (Named & { workerId: string })[]): Map<string, Named[]> {
  const units = new Map<string, Named[]>();
  for (const { workerId, id, name } of rows) {
    const list = units.get(workerId) ?? [];
    list.push({ id, name });
    units.set(workerId, list);
  }
  return units;
}
