import { expect } from '@jest/globals';
import type { Changes } from '../../src/domain/platform/unit-of-work.js';
import { ServiceError } from '../../src/errors/service-error.js';
import { newPublicId } from '../../src/identifiers/public-id.js';
import { platformUnitOfWork } from '../../src/store/adapters/platform/unit-of-work.js';
import type { Database } from '../../src/store/database.js';
import { faultsOfEvent } from './webhooks/event-judge.js';

/** Beyond 32 bits and not a round number, so that a time that comes back changed is seen. */
const STARTED_AT = 1_790_000_000_123;

export interface EventRow {
  type: string;
  occurredAt: number;
  sequence: number;
  instanceId: string;
  clientId: string;
  entity: { type: string; id: string };
  // biome-ignore lint/suspicious/noExplicitAny: the schema of its type has judged it.
  data: any;
}

/** The writes of the platform over a database, with a clock that ticks once a write. */
export function platformWrites(database: Database) {
  let now = STARTED_AT;
  const seen = new Set<string>();
  const clock = () => {
    now += 1;
    return now;
  };
  const { run } = platformUnitOfWork({ ...database, clock });
  return {
    database,
    run: <T>(work: (changes: Changes) => Promise<T>) => run(work),
    now: () => now,
    /** Events recorded since the last call, in order, each with a valid payload. */
    newEvents: async (): Promise<EventRow[]> => {
      const rows = await eventRows(database);
      const unseen = rows.filter(({ id }) => !seen.has(id));
      for (const { id } of unseen) {
        seen.add(id);
      }
      return unseen.map(({ id, ...event }) => {
        assertPayload(id, event);
        return event;
      });
    },
    dataVersions: async (): Promise<Record<string, string>> => {
      const rows = await database.reader.selectFrom('data_versions').selectAll().execute();
      return Object.fromEntries(rows.map((row) => [row.subject_id, row.version]));
    },
  };
}

export type PlatformWrites = ReturnType<typeof platformWrites>;

/** Why a write was refused, and what it says of which fields. */
export async function refusalOf(write: Promise<unknown>): Promise<{ code: string; faults: string[] }> {
  const error = await write.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServiceError);
  const { code, message, fieldViolations } = error as ServiceError;
  expect(message).toMatch(/^[A-Z].*\.$/);
  return {
    code: code.replace('ERROR_CODE_', ''),
    faults: fieldViolations.map((fault) => `${fault.path} ${fault.message}`),
  };
}

async function eventRows(database: Database): Promise<(EventRow & { id: string })[]> {
  const rows = await database.reader.selectFrom('events').selectAll().orderBy('seq').execute();
  return rows.map((row) => ({
    id: row.id,
    type: row.type,
    occurredAt: row.occurred_at,
    sequence: row.sequence as number,
    instanceId: row.instance_id,
    clientId: row.client_id,
    entity: { type: row.entity_type, id: row.entity_id },
    data: JSON.parse(row.data),
  }));
}

/** As a receiver would get it. */
export function assertPayload(id: string, { type, occurredAt, sequence, entity, data }: EventRow): void {
  const text = JSON.stringify({
    id,
    type,
    specVersion: 1,
    dataVersion: 1,
    occurredAt: new Date(occurredAt).toISOString(),
    sequence,
    entity,
    data,
  }).replaceAll('{instanceIntegrationId}', newPublicId('InstanceIntegrationId'));
  expect(faultsOfEvent(JSON.parse(text))).toEqual([]);
}
