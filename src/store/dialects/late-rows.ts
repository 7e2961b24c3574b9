import type { Writer } from '../database.js';

/** Writes the rows that a transaction left to its end. */
export interface LateWriter<Row> {
  /** In the transaction, before its commit. Returns what to do after the commit. */
  writeLate(writer: Writer, rows: readonly Row[]): Promise<() => void>;
}

interface Late {
  by: LateWriter<unknown>;
  row: unknown;
}

/**
 * Rows that are written at the end of a transaction, so that one statement inserts those of several works.
 */
export class LateRows {
  #rows: Late[] = [];

  get count(): number {
    return this.#rows.length;
  }

  add<Row>(by: LateWriter<Row>, row: Row): void {
    this.#rows.push({ by: by as LateWriter<unknown>, row });
  }

  of<Row>(by: LateWriter<Row>): Row[] {
    return this.#rows.filter((late) => late.by === by).map(({ row }) => row as Row);
  }

  /** Forgets the rows after the first `count`: those of a work that was undone. */
  dropAfter(count: number): void {
    this.#rows.length = count;
  }

  /** Writes all rows, in order. Call what it returns after the commit. */
  async write(writer: Writer): Promise<() => void> {
    const effects: (() => void)[] = [];
    const { count } = this;
    for (const by of new Set(this.#rows.map((late) => late.by))) {
      effects.push(await by.writeLate(writer, this.of(by)));
    }
    if (this.count !== count) {
      throw new Error('Rows were added while the late rows of their transaction were written.');
    }
    this.#rows = [];
    return () => {
      for (const effect of effects) {
        effect();
      }
    };
  }
}

const rowsOfWriter = new WeakMap<Writer, LateRows>();

/** For each transaction, or once for a writer whose transactions follow each other. */
export function keepLateRows(writer: Writer): LateRows {
  const rows = new LateRows();
  rowsOfWriter.set(writer, rows);
  return rows;
}

/** Those of the present transaction. */
export function lateRowsOf(writer: Writer): LateRows {
  const rows = rowsOfWriter.get(writer);
  if (!rows) {
    throw new Error('Late rows need a transaction that writes them.');
  }
  return rows;
}
