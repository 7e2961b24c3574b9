import { BEGINNING, type LogPosition } from '../../../domain/webhooks/logs/page.js';

export interface OldRow {
  position: LogPosition;
  /** Old, but not removable yet. */
  stays: boolean;
}

/** By age, up to a time. */
export type ReadOldRows = (after: LogPosition, before: number, limit: number) => Promise<OldRow[]>;

const ROWS_PER_READ = 500;
const READS_PER_LOOK = 200;

/** Looks for removable rows, continuing where the last look ended, so that kept old rows delay nothing. */
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
      // SQLite reads block the event loop: other work gets its turn here.
      await new Promise(setImmediate);
    }
    return seqs;
  }
}
