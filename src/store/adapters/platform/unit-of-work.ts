import { type Insertable, sql } from 'kysely';
import type { EventType } from '../../../../generated/asyncapi/events.js';
import type { Clock } from '../../../domain/clock.js';
import type {
  Changes,
  PlatformRows,
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
import { changedOne, keptStatement } from '../kept-statement.js';
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
  { reader, write, writesInOrder }: Database,
  clock: Clock = Date.now,
  onDue: () => void = () => undefined,
): UnitOfWork {
  return {
    inOrder: writesInOrder,
    rows: rowsOf(reader),
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
    lock: (...subjectIds) => lock(writer, subjectIds),
    touch: (...subjectIds) => touch(writer, subjectIds),
    record: (event) => {
      fanOut ??= new FanOut(writer, now, noteDue);
      return record(writer, now, fanOut, event);
    },
    audit: (actor, action) => recordAction(writer, now, actor, action),
  };
}

const rowsOf = keptRows(
  (writer): PlatformRows => ({
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
  }),
);

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

/**
 * The insert decides who is first; whoever comes second waits for the first one's commit and then finds its answer. A key without an owner is from
 * before keys had owners.
 */
async function once<T>(
  writer: Writer,
  now: number,
  { ownerId, isOwnedOnly = false, method, key, requestHash, encode, decode }: Repeatable<T>,
  work: () => Promise<T>,
): Promise<T> {
  takeTurn(writer, `${ownerId} ${method} ${key}`);
  const former_owner_id = isOwnedOnly ? ownerId : '';
  const row = { owner_id: ownerId, former_owner_id, method, key, request_hash: requestHash, created_at: now };
  if (!changedOne(await keyInsertion(writer, row))) {
    return earlierAnswer(writer, row, decode);
  }
  const answer = await work();
  const response = Buffer.from(encode(answer)).toString('base64');
  await answerNote(writer, { owner_id: ownerId, method, key, response });
  return answer;
}

type KeyRow = Schema['idempotency_keys'];
type KeyUse = Omit<KeyRow, 'response'> & { former_owner_id: string };

const keyInsertion = keptStatement((db, row: KeyUse) =>
  db
    .insertInto('idempotency_keys')
    .columns(['owner_id', 'method', 'key', 'request_hash', 'created_at'])
    .expression((from) =>
      from
        .selectFrom(sql<{ one: number }>`(select 1 as one)`.as('once'))
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('idempotency_keys')
                .where('owner_id', '=', row.former_owner_id)
                .where('method', '=', row.method)
                .where('key', '=', row.key)
                .select('owner_id'),
            ),
          ),
        )
        .select(({ val }) => [
          val(row.owner_id).as('owner_id'),
          val(row.method).as('method'),
          val(row.key).as('key'),
          val(row.request_hash).as('request_hash'),
          val(row.created_at).as('created_at'),
        ]),
    )
    .onConflict((conflict) => conflict.columns(['owner_id', 'method', 'key']).doNothing()),
);

const answerNote = keptStatement(
  (db, row: Pick<KeyRow, 'owner_id' | 'method' | 'key'> & { response: string }) =>
    db
      .updateTable('idempotency_keys')
      .set({ response: row.response })
      .where('owner_id', '=', row.owner_id)
      .where('method', '=', row.method)
      .where('key', '=', row.key),
);

async function earlierAnswer<T>(
  writer: Writer,
  { owner_id, former_owner_id, method, key, request_hash }: KeyUse,
  decode: (bytes: Uint8Array) => T,
): Promise<T> {
  const earlier = await writer
    .selectFrom('idempotency_keys')
    .where('owner_id', 'in', [owner_id, former_owner_id])
    .where('method', '=', method)
    .where('key', '=', key)
    .orderBy('owner_id', 'desc')
    .select(['request_hash', 'response'])
    .executeTakeFirstOrThrow();
  if (earlier.request_hash !== request_hash || earlier.response === null) {
    throw new ServiceError(
      ErrorCode.IDEMPOTENCY_KEY_REUSED,
      'This idempotency key was used for another request.',
    );
  }
  return decode(Buffer.from(earlier.response, 'base64'));
}
