import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';

/** Node-API 10 came with Node 22.14. Node 20 has 9. */
const HAS_NODE_API_10 = Number(process.versions.napi) >= 10;

export const SQLITE_PACKAGE = HAS_NODE_API_10 ? 'better-sqlite3-napi' : 'better-sqlite3';

/**
 * The SQLite binding that runs on this Node. Version 13 needs Node-API 10. Version 12 is for Node 20: with
 * it, Node 24.19 and newer abort if a statement is garbage-collected while no JavaScript runs.
 */
export const Sqlite = createRequire(import.meta.url)(SQLITE_PACKAGE) as typeof BetterSqlite3;
