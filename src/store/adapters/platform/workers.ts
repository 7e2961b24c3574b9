import { type InferResult, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { NamedLocation, NamedUnit } from '../../../../generated/asyncapi/events.js';
import type { WorkerId } from '../../../../generated/ids.js';
import type { Named } from '../../../domain/directory/names.js';
import type {
  Worker,
  WorkerFilter,
  WorkerOfInstance,
  WorkerRewrite,
  WorkerRows,
} from '../../../domain/platform/rows/people.js';
import { camelCased, type Rows, type Tables, type Writer } from '../../database.js';
import { addressIn, contractEmailFor, namedOrNull } from '../directory-columns.js';
import { inList, isPostgres } from '../statements/dialect.js';
import { counted, statement } from '../statements/kept-statement.js';
import { oldestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';

const byId = statement((db, { id }: { id: string }) => placed(db).where('workers.id', '=', id));

const unitsOfOne = statement((db, { id }: { id: string }) =>
  assigned(db).where('workerUnits.workerId', '=', id),
);

export function workerRows(writer: Writer): WorkerRows {
  const db = camelCased(writer);
  const { insert, update, updateMany } = plainWrites(db, 'workers');
  const assignments = plainWrites(db, 'workerUnits');
  const assign = async (workerId: WorkerId, units: readonly NamedUnit[]) => {
    for (const [position, unit] of units.entries()) {
      await assignments.insert({ workerId, unitId: unit.id, position });
    }
  };
  const foundBy = (clientId: string, filter: WorkerFilter) =>
    db.selectFrom('workers').where('clientId', '=', clientId).where(matching(db, filter));
  /** Fits no index of clients, by which SQLite would read all workers to find the few of a place. */
  const foundByPlace = (clientId: string, filter: WorkerFilter) =>
    filter.unitId === undefined && filter.locationId === undefined
      ? foundBy(clientId, filter)
      : db
          .selectFrom('workers')
          .where(sql<SqlBool>`workers.client_id || '' = ${clientId}`)
          .where(matching(db, filter));
  const only = async ([row]: WorkerRow[]) =>
    row && toWorker(row, byWorker((await unitsOfOne(db, { id: row.id })).rows));
  return {
    find: async (id) => only((await byId(db, { id })).rows),
    ids: async (clientId, filter) => {
      const found = foundByPlace(clientId, filter).orderBy('createdAt').orderBy('id');
      return (await found.select('id').execute()).map(({ id }) => id as WorkerId);
    },
    countUpTo: (limit, clientId, filter) => counted(foundByPlace(clientId, filter), limit),
    eventBytesUpTo: async (limit, clientId, filter, { tellsOfFormer = false }) => {
      const bytes = tellsOfFormer
        ? EVENT_BYTES
        : sql<number | string>`case when offboarded_at is null then ${EVENT_BYTES} else 0 end`;
      const found = foundByPlace(clientId, filter).select(bytes.as('bytes')).limit(limit);
      return (await found.execute()).map(({ bytes }) => Number(bytes));
    },
    sizes: (page, clientId, filter) =>
      oldestFirst(foundBy(clientId, filter).select(['createdAt', 'id', SIZE.as('size')]), 'workers', page),
    findAll: async (clientId, ids) => {
      const found = placed(db)
        // In a form that fits no index: SQLite would read all workers of the client, in their order.
        .where(sql<SqlBool>`workers.client_id || '' = ${clientId}`)
        .where(inList(db, 'workers.id', JSON.stringify(ids)))
        .orderBy('workers.createdAt')
        .orderBy('workers.id');
      return withUnits(db, await found.execute());
    },
    ofAccount: async (id) => {
      const found = placed(db)
        .innerJoin('clients as client', 'client.id', 'workers.clientId')
        .where('workers.accountId', '=', id)
        .orderBy('workers.createdAt')
        .orderBy('workers.id')
        .select('client.instanceId')
        .$narrowType<Pick<WorkerOfInstance, 'instanceId'>>();
      const rows = await found.execute();
      const workers = await withUnits(db, rows);
      return workers.map((worker, index) => ({
        ...worker,
        instanceId: (rows[index] as (typeof rows)[number]).instanceId,
      }));
    },
    insert: async (worker) => {
      await insert(toRow(worker));
      await assign(worker.id, worker.units);
    },
    update: (worker) => update(toRow(worker)),
    rewrite: (workers) => updateMany(workers.map(toRewrittenRow)),
    assign: async ({ id, units }) => {
      await db.deleteFrom('workerUnits').where('workerId', '=', id).execute();
      await assign(id, units);
    },
    unassign: async (unitId) => {
      await db.deleteFrom('workerUnits').where('unitId', '=', unitId).execute();
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

function matching(db: Rows, { statuses, unitId, locationId, jobTitle }: WorkerFilter) {
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
    conditions.push(holding(db, jobTitle));
  }
  return sql.join<SqlBool>(conditions, sql` and `);
}

/** The search in the text is cheap; it may also find the title within another one that has quotes. */
function holding(db: Rows, jobTitle: string): RawBuilder<SqlBool> {
  const quoted = JSON.stringify(jobTitle);
  return isPostgres(db)
    ? sql`strpos(workers.job_titles, ${quoted}) > 0 and exists (
        select 1 from json_array_elements_text(workers.job_titles::json) as held where held = ${jobTitle}
      )`
    : sql`instr(workers.job_titles, ${quoted}) > 0 and exists (
        select 1 from json_each(workers.job_titles) where value = ${jobTitle}
      )`;
}

type WorkerRow = InferResult<ReturnType<typeof placed>>[number];

/** Lists the fields: to take an object of so many apart takes several times as long. */
function toWorker(row: WorkerRow, units: Map<string, Named[]>): Worker {
  return {
    id: row.id,
    clientId: row.clientId,
    accountId: row.accountId,
    firstName: row.firstName,
    lastName: row.lastName,
    fullName: row.fullName,
    email: row.email,
    phone: row.phone,
    jobTitles: JSON.parse(row.jobTitles) as string[],
    address: addressIn(row),
    units: (units.get(row.id) ?? []) as NamedUnit[],
    primaryUnit: namedOrNull(row.primaryUnitId, row.primaryUnitName) as NamedUnit | null,
    location: namedOrNull(row.locationId, row.locationName) as NamedLocation | null,
    offboardedAt: row.offboardedAt,
    version: row.version,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
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

/** Only these columns, even if the object has more. The write keeps columns that are undefined here. */
function toRewrittenRow({ address, jobTitles, location, primaryUnit, ...rewrite }: WorkerRewrite) {
  const { id, version, updatedAt, email, firstName, lastName, fullName, phone } = rewrite;
  return {
    ...{ id, version, updatedAt, email, firstName, lastName, fullName, phone },
    ...address,
    contractEmail: email === undefined ? undefined : contractEmailFor(email),
    jobTitles: jobTitles && JSON.stringify(jobTitles),
    locationId: location === null ? null : location?.id,
    primaryUnitId: primaryUnit === null ? null : primaryUnit?.id,
  };
}

/** Each has an id and a name of at most 200 characters, of up to four bytes; other texts are short. */
const UNITS = sql`(select count(*) from worker_units where worker_id = workers.id)`;
const SIZE = sql<number>`1000 + 250 * ${UNITS} + length(job_titles)`;
const EVENT_BYTES = sql<number | string>`1000 + 850 * ${UNITS} + octet_length(job_titles)`;

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
