import { sql } from 'kysely';
import type { CommonChanges, UnitOfWork, WriteOrigin } from '../../domain/unit-of-work.js';
import { newVersion } from '../../domain/version.js';
import { bothDue, isAnyDue, type NewlyDue, NONE_DUE } from '../../domain/webhooks/sending/due-signal.js';
import type { Database, Writer } from '../database.js';
import { sendBehindCommit } from '../dialects/direct-statements.js';
import type { BehindCommit } from '../dialects/postgres/lent-connection.js';
import { takeTurn } from '../dialects/turns.js';
import type { Schema } from '../schema.js';
import { once } from './idempotency-keys.js';
import { auditAction } from './operator/audit-events.js';
import { keptPosted } from './statements/kept-statement.js';

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
