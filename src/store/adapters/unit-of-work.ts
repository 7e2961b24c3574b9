import { sql } from 'kysely';
import type { CommonChanges, Repeatable, UnitOfWork, WriteOrigin } from '../../domain/unit-of-work.js';
import { newVersion } from '../../domain/version.js';
import { bothDue, isAnyDue, type NewlyDue, NONE_DUE } from '../../domain/webhooks/sending/due-signal.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { Database, Writer } from '../database.js';
import { sendBehindCommit } from '../dialects/direct-statements.js';
import type { BehindCommit } from '../dialects/postgres/lent-connection.js';
import { takeTurn } from '../dialects/turns.js';
import type { Schema } from '../schema.js';
import { auditAction } from './operator/audit-events.js';
import { changedOne, keptPosted, keptStatement } from './statements/kept-statement.js';

/** Is notified of writes that make deliveries due. */
export interface DueListener {
  /** PostgreSQL only: the statement that notifies other nodes, to be sent right behind the commit. */
  behindCommit?(due: NewlyDue): BehindCommit | undefined;
  /** Called when the next write would see the deliveries: on SQLite before the commit. */
  onDue(due: NewlyDue, areNodesNotified: boolean): void;
}

/** Called in a write for deliveries that it makes due. */
export type NoteDue = (due: NewlyDue) => void;

export function commonChanges(writer: Writer, now: number): CommonChanges {
  return {
    now,
    lock: (...subjectIds) => lock(writer, subjectIds),
    touch: (...subjectIds) => touch(writer, subjectIds),
    audit: (actor, action) => auditAction(writer, now, actor, action),
  };
}

/** Makes the unit of work of an area from its rows and its changes. */
export function unitOfWorkOver<Changes, Rows>(
  { reader, write, writesInOrder, clock }: Database,
  rowsOf: (db: Writer) => Rows,
  changesIn: (writer: Writer, common: CommonChanges, noteDue: NoteDue, origin: WriteOrigin) => Changes,
  due?: DueListener,
): UnitOfWork<Changes, Rows> {
  return {
    rows: rowsOf(reader),
    inOrder: writesInOrder,
    run: (work, { repeatable, onDone, ...origin } = {}) => {
      let newlyDue: NewlyDue = NONE_DUE;
      let areNodesNotified = false;
      const notifyNodes = () => {
        const behind = due?.behindCommit?.(newlyDue);
        areNodesNotified = behind !== undefined;
        return behind;
      };
      const noteDue: NoteDue = (more) => {
        newlyDue = bothDue(newlyDue, more);
      };
      return write(
        async (writer) => {
          // The database may run the work again.
          newlyDue = NONE_DUE;
          areNodesNotified = false;
          const now = clock();
          const changes = changesIn(writer, commonChanges(writer, now), noteDue, origin);
          const done = await (repeatable
            ? once(writer, now, repeatable, () => work(changes))
            : work(changes));
          if (isAnyDue(newlyDue)) {
            await sendBehindCommit(writer, notifyNodes);
          }
          return done;
        },
        () => {
          if (isAnyDue(newlyDue)) {
            due?.onDue(newlyDue, areNodesNotified);
          }
          onDone?.();
        },
        origin,
      );
    },
  };
}

/** In place of an answer that showed an erased person. Not base64, which has groups of four. */
export const FORGOTTEN = '-';

/** The insert decides which call is first; another waits for its commit. Older keys have no owner. */
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

const keyInsertion = keptStatement(
  (_, row: KeyUse) => sql`
    insert into idempotency_keys (owner_id, method, key, request_hash, created_at)
    select ${row.owner_id}, ${row.method}, ${row.key}, ${row.request_hash}, ${row.created_at}
    where not exists (
      select 1 from idempotency_keys
      where owner_id = ${row.former_owner_id} and method = ${row.method} and key = ${row.key}
    )
    on conflict (owner_id, method, key) do nothing
  `,
);

const answerNote = keptPosted((db, row: Pick<KeyRow, 'owner_id' | 'method' | 'key'> & { response: string }) =>
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
    .executeTakeFirst();
  if (earlier === undefined) {
    const message = 'The idempotency key is being removed, because its time is over. Try again in a moment.';
    throw new ServiceError(ErrorCode.UNAVAILABLE, message, { retryAfterSeconds: 1 });
  }
  const { response } = earlier;
  if (earlier.request_hash !== request_hash) {
    throw keyRefused('This idempotency key was used for another request.');
  }
  if (response === null) {
    throw keyRefused('The call with this idempotency key was written incompletely. Check its effects.');
  }
  if (response === FORGOTTEN) {
    throw keyRefused(
      'This idempotency key was used, and its answer is no longer stored, because a person in it was erased.',
    );
  }
  return decode(Buffer.from(response, 'base64'));
}

function keyRefused(message: string): ServiceError {
  return new ServiceError(ErrorCode.IDEMPOTENCY_KEY_REUSED, message);
}

/** Longer than every id and the names of locks. */
const MOST_ID_LENGTH = 64;

/**
 * Locks a row, made if missing, until the commit on PostgreSQL; SQLite has one writer. Leaves out ids
 * longer than those that exist: the index of PostgreSQL refuses very long ones, and the next read finds none.
 */
export async function lock(writer: Writer, subjectIds: readonly string[]): Promise<void> {
  for (const id of subjectIds.filter(({ length }) => length <= MOST_ID_LENGTH)) {
    takeTurn(writer, id);
    await holding(writer, { subject_id: id, version: newVersion() });
  }
}

async function touch(writer: Writer, subjectIds: readonly string[]): Promise<void> {
  for (const id of new Set(subjectIds)) {
    takeTurn(writer, id);
    await renewal(writer, { subject_id: id, version: newVersion() });
  }
}

/**
 * Makes the row of a subject if it is missing, else locks it, and gives it the version if it is renewed.
 * A lock alone leaves no dead row, of which readers beside a long transaction would see each.
 */
const writing = (isRenewed: boolean) =>
  keptPosted((db, row: Schema['data_versions']) =>
    db
      .insertInto('data_versions')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .column('subject_id')
          .doUpdateSet(({ ref }) => ({ version: ref('excluded.version') }))
          .where(sql.lit(isRenewed)),
      ),
  );
const holding = writing(false);
const renewal = writing(true);
