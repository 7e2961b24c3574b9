import type { Clock } from '../../domain/clock.js';
import type { UnitOfWork, WriteOrigin } from '../../domain/unit-of-work.js';
import type { Database, Writer } from '../database.js';
import { once } from './repeated-calls.js';

interface Options {
  /** Default: the clock of the database. */
  clock?: Clock;
  /** Called for new due deliveries, as soon as a write would see them. */
  onDue?: () => void;
}

/** The one unit of work: an area adds its rows and the effects of its writes. */
export function unitOfWorkOver<Changes, Rows>(
  { reader, write, writesInOrder, clock: common }: Database,
  rowsOf: (db: Writer) => Rows,
  changesIn: (writer: Writer, now: number, noteDue: () => void, origin: WriteOrigin) => Changes,
  { clock = common, onDue = () => undefined }: Options = {},
): UnitOfWork<Changes, Rows> {
  return {
    rows: rowsOf(reader),
    inOrder: writesInOrder,
    run: (work, { repeatable, ...origin } = {}) => {
      let isDue = false;
      const noteDue = () => {
        isDue = true;
      };
      return write(
        (writer) => {
          const now = clock();
          const changes = changesIn(writer, now, noteDue, origin);
          return repeatable ? once(writer, now, repeatable, () => work(changes)) : work(changes);
        },
        () => isDue && onDue(),
        origin,
      );
    },
  };
}
