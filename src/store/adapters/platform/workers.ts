import { type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import type { NamedLocation, NamedUnit } from '../../../../generated/asyncapi/events.js';
import type { AccountId, ClientId, WorkerId } from '../../../../generated/ids.js';
import type { Named } from '../../../domain/directory/names.js';
import type { Worker, WorkerFilter, WorkerRows } from '../../../domain/platform/workers.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { fromAddress, toAddress } from '../address.js';
import { behind } from '../keyset.js';
import { named, unitsOf } from '../workers.js';

export function workerRows(writer: Writer): WorkerRows {
  const placed = () =>
    writer
      .selectFrom('workers')
      .leftJoin('units as primary_unit', 'primary_unit.id', 'workers.primary_unit_id')
      .leftJoin('locations as location', 'location.id', 'workers.location_id')
      .selectAll('workers')
      .select(['primary_unit.name as primary_unit_name', 'location.name as location_name']);
  const assign = async (workerId: WorkerId, units: readonly NamedUnit[]) => {
    for (const [position, unit] of units.entries()) {
      await writer
        .insertInto('worker_units')
        .values({ worker_id: workerId, unit_id: unit.id, position })
        .execute();
    }
  };
  return {
    find: async (id) => {
      const row = await placed().where('workers.id', '=', id).executeTakeFirst();
      return row && toWorker(row, await unitsOf(writer, [id]));
    },
    findActive: async (clientId, accountId) => {
      const row = await placed()
        .where('workers.account_id', '=', accountId)
        .where('workers.client_id', '=', clientId)
        .where('workers.offboarded_at', 'is', null)
        .executeTakeFirst();
      return row && toWorker(row, await unitsOf(writer, [row.id]));
    },
    page: async (page, clientId, filter) => {
      const rows = await placed()
        .where('workers.client_id', '=', clientId)
        .where(matching(filter))
        .where(behind('workers', page))
        .orderBy('workers.created_at')
        .orderBy('workers.id')
        .limit(page.limit)
        .execute();
      const units = await unitsOf(
        writer,
        rows.map(({ id }) => id),
      );
      return rows.map((row) => toWorker(row, units));
    },
    insert: async (worker) => {
      await writer.insertInto('workers').values(toRow(worker)).execute();
      await assign(worker.id, worker.units);
    },
    update: async (worker) => {
      await writer.updateTable('workers').set(toRow(worker)).where('id', '=', worker.id).execute();
    },
    assign: async ({ id, units }) => {
      await writer.deleteFrom('worker_units').where('worker_id', '=', id).execute();
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

/** The title as it stands in a JSON array. SQLite's LIKE takes capitals for small letters, so that it may find more. */
function patternOf(jobTitle: string): string {
  return `%${JSON.stringify(jobTitle).replace(/[!%_]/g, '!$&')}%`;
}

type WorkerRow = Schema['workers'] & { primary_unit_name: string | null; location_name: string | null };

function toWorker(row: WorkerRow, units: Map<string, Named[]>): Worker {
  return {
    id: row.id as WorkerId,
    clientId: row.client_id as ClientId,
    accountId: row.account_id as AccountId,
    firstName: row.first_name,
    lastName: row.last_name,
    fullName: row.full_name,
    email: row.email,
    phone: row.phone,
    jobTitles: JSON.parse(row.job_titles) as string[],
    address: toAddress(row),
    units: (units.get(row.id) ?? []) as NamedUnit[],
    primaryUnit: named(row.primary_unit_id, row.primary_unit_name) as NamedUnit | null,
    location: named(row.location_id, row.location_name) as NamedLocation | null,
    offboardedAt: row.offboarded_at,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toRow(worker: Worker): Schema['workers'] {
  return {
    id: worker.id,
    client_id: worker.clientId,
    account_id: worker.accountId,
    first_name: worker.firstName,
    last_name: worker.lastName,
    full_name: worker.fullName,
    email: worker.email,
    phone: worker.phone,
    job_titles: JSON.stringify(worker.jobTitles),
    ...fromAddress(worker.address),
    location_id: worker.location?.id ?? null,
    primary_unit_id: worker.primaryUnit?.id ?? null,
    offboarded_at: worker.offboardedAt,
    version: worker.version,
    created_at: worker.createdAt,
    updated_at: worker.updatedAt,
  };
}
