import type { Writer } from '../../database.js';

/** Makes the adapters of a database once: on SQLite all transactions share one. */
export function keptRows<Rows extends object>(make: (db: Writer) => Rows): (db: Writer) => Rows {
  const kept = new WeakMap<Writer, Rows>();
  return (db) => {
    let rows = kept.get(db);
    if (rows === undefined) {
      rows = make(db);
      kept.set(db, rows);
    }
    return rows;
  };
}
