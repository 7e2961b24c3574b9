import type { CommonChanges, UnitOfWork, WriteOrigin } from '../../domain/unit-of-work.js';
import { bothDue, isAnyDue, type NewlyDue, NONE_DUE } from '../../domain/webhooks/sending/newly-due.js';
import type { Database, Writer } from '../database.js';
import { sendBehindCommit } from '../dialects/direct-statements.js';
import type { BehindCommit } from '../dialects/postgres/driver.js';
import { auditAction } from './operator/audit-events.js';
import { once } from './repeated-calls.js';
import { lock, touch } from './statements/data-versions.js';

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
