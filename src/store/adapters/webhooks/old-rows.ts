import { BEGINNING, type LogPosition } from '../../../domain/webhooks/log-page.js';

export interface OldRow {
  position: LogPosition;
  /** Not yet, although it is old. */
  stays: boolean;
}

/** In the order of age, from before a time. */
export type ReadOldRows = (after: LogPosition, before: number, limit: number) => Promise<OldRow[]>;

const ROWS_PER_READ = 500;
const READS_PER_LOOK = 200;

/** Looks for what can be removed. However much is old and stays, a look goes on where the one before it ended, and holds up nobody. */
export class OldRows {
  #after = BEGINNING;

  constructor(private readonly read: ReadOldRows) {}

  async next(before: number, limit: number): Promise<number[]> {
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
      // SQLite takes no turns of its own.
      await new Promise(setImmediate);
    }
    return seqs;
  }
}
