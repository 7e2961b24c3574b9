import { type SqlBool, sql } from 'kysely';
import { BEGINNING, type LogPosition } from '../../../domain/webhooks/logs/page.js';
import type { Database, Writer } from '../../database.js';
import { claimed } from '../statements/dialect.js';
import { changedRows } from '../statements/kept-statement.js';
import { placeIn } from './logs/conditions.js';

/** Removes at most `limit` rows from before the time `before`. Returns their number. */
export type Removal = (before: number, limit: number) => Promise<number>;

/** Few, so that other writes get their turns: a row has dependent rows and many indexes. */
const ROWS_PER_WRITE = 200;

/** Deliveries that await an attempt stay at any age. */
export const DELIVERIES = {
  table: 'deliveries',
  overAt: ['created_at'],
  unless: sql<SqlBool>`aged.status = 'PENDING'`,
} as const;

/** Events stay while a delivery refers to them, for example one of a replay. */
export const EVENTS = {
  table: 'events',
  overAt: ['occurred_at'],
  unless: sql<SqlBool>`exists (select 1 from deliveries where deliveries.event_seq = aged.seq)`,
} as const;

export function deliveryRemoval(database: Database): Removal {
  return removalOf(database, DELIVERIES, removeDeliveries);
}

export function eventRemoval(database: Database): Removal {
  return removalOf(database, EVENTS, removeEvents);
}

function removalOf(
  { reader, write }: Database,
  { table, overAt, unless }: typeof DELIVERIES | typeof EVENTS,
  remove: (writer: Writer, seqs: readonly number[]) => Promise<number>,
): Removal {
  const [time, place] = [sql.ref(overAt[0]), sql.ref(placeIn(reader))];
  const old = new OldRows(async (after, before, limit) => {
    const { rows } = await sql<{ createdAt: number; seq: number; stays: SqlBool }>`
      select ${time} as "createdAt", seq, ${unless} as stays from ${sql.table(table)} as aged
      where (${time}, ${place}) > (${after.createdAt}, ${after.seq}) and ${time} < ${before}
      order by ${time}, ${place} limit ${limit}
    `.execute(reader);
    return rows.map(({ stays, ...position }) => ({ position, stays: Boolean(stays) }));
  });
  return async (before, limit) => {
    const seqs = await old.next(before, limit);
    let removed = 0;
    for (let from = 0; from < seqs.length; from += ROWS_PER_WRITE) {
      removed += await write((writer) => remove(writer, seqs.slice(from, from + ROWS_PER_WRITE)));
    }
    return removed;
  };
}

async function removeDeliveries(writer: Writer, found: readonly number[]): Promise<number> {
  const query = writer
    .selectFrom('deliveries')
    .where('seq', 'in', found)
    .where('status', '<>', 'PENDING')
    .select('seq');
  const seqs = (await claimed(writer, query).execute()).map(({ seq }) => seq);
  if (seqs.length > 0) {
    await writer.deleteFrom('delivery_attempts').where('delivery_seq', 'in', seqs).execute();
    await writer.deleteFrom('deliveries').where('seq', 'in', seqs).execute();
  }
  return seqs.length;
}

/**
 * Replays and resends lock events before they add deliveries. So once this write has locked the events, it
 * sees every reference, and no new one can come.
 */
async function removeEvents(writer: Writer, found: readonly number[]): Promise<number> {
  const query = writer.selectFrom('events').where('seq', 'in', found).select('seq');
  const seqs = (await claimed(writer, query).execute()).map(({ seq }) => seq);
  if (seqs.length === 0) {
    return 0;
  }
  const removal = writer
    .deleteFrom('events')
    .where('seq', 'in', seqs)
    .where(sql<SqlBool>`not exists (select 1 from deliveries where deliveries.event_seq = events.seq)`);
  return changedRows(await writer.executeQuery(removal));
}

interface OldRow {
  position: LogPosition;
  /** Old, but not removable yet. */
  stays: boolean;
}

/** By age, up to a time. */
type ReadOldRows = (after: LogPosition, before: number, limit: number) => Promise<OldRow[]>;

const ROWS_PER_READ = 500;
const READS_PER_LOOK = 200;

/** Looks for removable rows, continuing where the last look ended, so that kept old rows delay nothing. */
export class OldRows {
  #after = BEGINNING;
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly read: ReadOldRows) {}

  /** One look at a time: a repeated call may come while the first one is under way. */
  next(before: number, limit: number): Promise<number[]> {
    const look = () => this.#look(before, limit);
    const seqs = this.#last.then(look, look);
    this.#last = seqs;
    return seqs;
  }

  async #look(before: number, limit: number): Promise<number[]> {
    const seqs: number[] = [];
    for (let reads = 0; reads < READS_PER_LOOK; reads += 1) {
      const rows = await this.read(this.#after, before, ROWS_PER_READ);
      for (const { position, stays } of rows) {
        this.#after = position;
        if (!stays && seqs.push(position.seq) === limit) {
          return seqs;
        }
      }
      if (rows.length < ROWS_PER_READ) {
        this.#after = BEGINNING;
        return seqs;
      }
      // SQLite reads block the event loop: other work gets its turn here.
      await new Promise(setImmediate);
    }
    return seqs;
  }
}
