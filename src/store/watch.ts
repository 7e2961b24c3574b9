/** Measures a store. Each method is called after the fact, and throws nothing. */
export interface StoreWatch {
  /** An audit record is committed; one may stand for several equal acts. Reasons are words of a fixed set. */
  recorded(type: string, outcome: string, times: number, reason?: string): void;
  /** A commit of SQLite, which so many writes shared. */
  committed(writes: number): void;
  /** A sync of SQLite's log, perhaps a failed one. */
  synced(durationMs: number): void;
  /** A write, from its call to its acknowledgement. */
  wrote(outcome: 'committed' | 'undone', durationMs: number): void;
  /** The disk refused a write because it is full, read-only or failing. */
  refused(): void;
  /** A pool lent a PostgreSQL connection, or failed to, after this wait. */
  lent(pool: string, durationMs: number): void;
  /** Says where the rows of a gateway read come from. Not called without a replica. */
  readFrom(source: 'replica' | 'primary', reason: '' | 'lag' | 'failure'): void;
  /** Whether other nodes notify this one of due deliveries. Only PostgreSQL. */
  listens(isListening: boolean): void;
  /** Another node notified this one of due deliveries. */
  notified(): void;
}
