import type { Clock } from '../../domain/clock.js';
import type { UnitOfWork, WriteOrigin } from '../../domain/unit-of-work.js';
import type { Database, Writer } from '../database.js';
import { sendBehindCommit } from '../dialects/direct-statements.js';
import type { BehindCommit } from '../dialects/postgres/driver.js';
import { once } from './repeated-calls.js';

/** Hears of writes that make deliveries due. */
export interface DueListener {
  /** PostgreSQL only: the statement that notifies other nodes, to be sent right behind the commit. */
  behindCommit?(): BehindCommit | undefined;
  /** Called as soon as a write would see the deliveries. */
  onDue(areOthersTold: boolean): void;
}

interface Options {
  /** Default: the clock of the database. */
  clock?: Clock;
  due?: DueListener;
}

/** The one unit of work: an area adds its rows and the effects of its writes. */
export function unitOfWorkOver<Changes, Rows>(
  { reader, write, writesInOrder, clock: common }: Database,
  rowsOf: (db: Writer) => Rows,
  changesIn: (writer: Writer, now: number, noteDue: () => void, origin: WriteOrigin) => Changes,
  { clock = common, due }: Options = {},
): UnitOfWork<Changes, Rows> {
  return {
    rows: rowsOf(reader),
    inOrder: writesInOrder,
    run: (work, { repeatable, ...origin } = {}) => {
      let isDue = false;
      let areOthersTold = false;
      const tellOthers = () => {
        const behind = due?.behindCommit?.();
        areOthersTold = behind !== undefined;
        return behind;
      };
      const noteDue = () => {
        isDue = true;
      };
      return write(
        async (writer) => {
          // The database may run the work again.
          isDue = false;
          areOthersTold = false;
          const now = clock();
          const changes = changesIn(writer, now, noteDue, origin);
          const done = await (repeatable
            ? once(writer, now, repeatable, () => work(changes))
            : work(changes));
          if (isDue) {
            await sendBehindCommit(writer, tellOthers);
          }
          return done;
        },
        () => isDue && due?.onDue(areOthersTold),
        origin,
      );
    },
  };
}
