import type { Insertable } from 'kysely';
import type { EventType } from '../../../../generated/asyncapi/events.js';
import type { Clock } from '../../../domain/clock.js';
import type {
  Changes,
  RecordedEvent,
  Repeatable,
  UnitOfWork,
} from '../../../domain/platform/unit-of-work.js';
import { newVersion } from '../../../domain/version.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import type { Database, Writer } from '../../database.js';
import { takeTurn } from '../../dialects/turns.js';
import type { Schema } from '../../schema.js';
import { credentialRows } from '../credentials/credential-rows.js';
import { keptRows } from '../kept-rows.js';
import { keptStatement } from '../kept-statement.js';
import { recordAction } from '../operator/audit-events.js';
import { tellingWrite } from '../telling-write.js';
import { FanOut } from '../webhooks/fan-out.js';
import { accountRows } from './accounts.js';
import { clientRows } from './clients.js';
import { instanceRows } from './instances.js';
import { jobTitleRows } from './job-titles.js';
import { locationRows } from './locations.js';
import { roleRows } from './roles.js';
import { unitTypeRows } from './unit-types.js';
import { unitRows } from './units.js';
import { userRows } from './users.js';
import { workerRows } from './workers.js';

/** `onDue` hears of what has made deliveries that can be sent, as soon as a write would find them. */
export function unitOfWork(
  { write, writesInOrder }: Database,
  clock: Clock = Date.now,
  onDue: () => void = () => undefined,
): UnitOfWork {
  return {
    inOrder: writesInOrder,
    run: (work, repeatable, origin) =>
      tellingWrite(
        write,
        onDue,
        (writer, noteDue) => {
          const changes = changesIn(writer, clock(), noteDue);
          return repeatable ? once(writer, changes.now, repeatable, () => work(changes)) : work(changes);
        },
        origin,
      ),
  };
}

export function changesIn(writer: Writer, now: number, noteDue: () => void): Changes {
  // Most writes record no event.
  let fanOut: FanOut | undefined;
  return {
    now,
    ...rowsOf(writer),
    record: (event) => {
      fanOut ??= new FanOut(writer, now, noteDue);
      return record(writer, now, fanOut, event);
    },
    audit: (actor, action) => recordAction(writer, now, actor, action),
  };
}

const rowsOf = keptRows((writer) => ({
  ...credentialRows(writer),
  instances: instanceRows(writer),
  clients: clientRows(writer),
  accounts: accountRows(writer),
  roles: roleRows(writer),
  users: userRows(writer),
  unitTypes: unitTypeRows(writer),
  units: unitRows(writer),
  locations: locationRows(writer),
  jobTitles: jobTitleRows(writer),
  workers: workerRows(writer),
  lock: (...subjectIds: string[]) => lock(writer, subjectIds),
  touch: (...subjectIds: string[]) => touch(writer, subjectIds),
}));

/**
 * Writing a row takes its lock on PostgreSQL until the commit. On SQLite the whole database is locked already, and this writes what stands there.
 * The subject's row is made if need be, so that there is always something to lock.
 */
export async function lock(writer: Writer, subjectIds: readonly string[]): Promise<void> {
  for (const id of subjectIds) {
    takeTurn(writer, id);
    await holding(writer, { subject_id: id, version: newVersion() });
  }
}

export async function touch(writer: Writer, subjectIds: readonly string[]): Promise<void> {
  for (const id of new Set(subjectIds)) {
    takeTurn(writer, id);
    await renewal(writer, { subject_id: id, version: newVersion() });
  }
}

const eventInsertion = keptStatement((db, row: Omit<Insertable<Schema['events']>, 'seq' | 'is_test'>) =>
  db.insertInto('events').values(row).returning('seq'),
);

const holding = keptStatement((db, row: Schema['data_versions']) =>
  db
    .insertInto('data_versions')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('subject_id').doUpdateSet(({ ref }) => ({ version: ref('data_versions.version') })),
    ),
);

const renewal = keptStatement((db, row: Schema['data_versions']) =>
  db
    .insertInto('data_versions')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('subject_id').doUpdateSet(({ ref }) => ({ version: ref('excluded.version') })),
    ),
);

/** Who receives it is fixed here, in the transaction of the change. */
async function record<T extends EventType>(
  writer: Writer,
  now: number,
  fanOut: FanOut,
  { type, instanceId, clientId, entity, data }: RecordedEvent<T>,
): Promise<void> {
  const id = newPublicId('EventId');
  // Last, so that the last thing in it that looks like a receiver to be named is one.
  const { links, ...payload } = data;
  const { rows } = await eventInsertion(writer, {
    id,
    type,
    occurred_at: now,
    instance_id: instanceId,
    client_id: clientId,
    entity_type: entity.type,
    entity_id: entity.id,
    data: JSON.stringify({ ...payload, links }),
  });
  const [{ seq }] = rows as [{ seq: number }];
  await fanOut.deliver({ seq, id, type, instanceId, clientId });
}

/** The insert decides who is first; whoever comes second waits for the first one's commit and then finds its answer. */
async function once<T>(
  writer: Writer,
  now: number,
  { method, key, requestHash, encode, decode }: Repeatable<T>,
  work: () => Promise<T>,
): Promise<T> {
  takeTurn(writer, `${method} ${key}`);
  const { numInsertedOrUpdatedRows } = await writer
    .insertInto('idempotency_keys')
    .values({ method, key, request_hash: requestHash, response: null, created_at: now })
    .onConflict((conflict) => conflict.columns(['method', 'key']).doNothing())
    .executeTakeFirstOrThrow();
  const row = { method, key };
  if (Number(numInsertedOrUpdatedRows) === 0) {
    return earlierAnswer(writer, row, requestHash, decode);
  }
  const answer = await work();
  const response = Buffer.from(encode(answer)).toString('base64');
  await writer
    .updateTable('idempotency_keys')
    .set({ response })
    .where('method', '=', method)
    .where('key', '=', key)
    .execute();
  return answer;
}

async function earlierAnswer<T>(
  writer: Writer,
  { method, key }: { method: string; key: string },
  requestHash: string,
  decode: (bytes: Uint8Array) => T,
): Promise<T> {
  const earlier = await writer
    .selectFrom('idempotency_keys')
    .where('method', '=', method)
    .where('key', '=', key)
    .select(['request_hash', 'response'])
    .executeTakeFirstOrThrow();
  if (earlier.request_hash !== requestHash || earlier.response === null) {
    throw new ServiceError(
      ErrorCode.IDEMPOTENCY_KEY_REUSED,
      'This idempotency key was used for another request.',
    );
  }
  return decode(Buffer.from(earlier.response, 'base64'));
}
