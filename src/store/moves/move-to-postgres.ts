import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { sql } from 'kysely';
import type { Actor } from '../../domain/operator/audit.js';
import { beginLife, continueLife } from '../adapters/lives.js';
import { auditAction } from '../adapters/operator/audit-events.js';
import { type CopyFacts, factsOf } from '../copies/copy-facts.js';
import { type OpenedDatabase, openedOver, UNHURRIED } from '../copies/open-copy.js';
import { assertSound } from '../copies/sqlite-copy.js';
import { DATABASE_FILE, isUnclosed, refuseHalfFilled } from '../data-directory.js';
import type { Database, Writer } from '../database.js';
import { keepLateRows } from '../dialects/late-rows.js';
import { openPostgres } from '../dialects/postgres/postgres.js';
import { isLockTimeout } from '../dialects/postgres/trouble.js';
import { closeKeepingLog } from '../dialects/sqlite.js';
import { claimDirectory } from '../file-lock.js';
import { type IssuerClaim, refuseOther } from '../issuer.js';
import { MOVE_MARK, migrateToLatest, refuseNewer, refuseUnlessMigrated, schemaDrift } from '../migrate.js';
import { reading, recordedIn } from '../recorded.js';
import { CopyError, databaseReasonOf, isOfDatabase, StoreError } from '../store-error.js';
import { type MovedTable, movedTables } from './catalogue.js';
import { forgetMoved, type Moved, movedError, movedFrom, writeMoved } from './moved-file.js';
import { countsOf, lockSource, type OddValue, sourcePages } from './source-rows.js';
import {
  lockMark,
  MOVED_TYPE,
  markTarget,
  refuseOtherEncoding,
  refuseRows,
  removeBeginnings,
  stateOf,
  withoutIndexes,
} from './target.js';
import { compareRows, continueSequences, insertRows } from './target-rows.js';

/** The actor of the audit record. */
const MOVER: Actor = { type: 'command', id: 'migrate-store' };
const REPEAT = 'Run the command again: it finds out whether the move is complete, or begins anew.';
const ANOTHER_RUN = `Another run of the command fills the PostgreSQL database, or the server has not yet ended the connection of one that was killed. ${REPEAT}`;
/** In a message. */
const MOST_ODD_VALUES = 20;

export interface Move {
  dataDir: string;
  databaseUrl: string;
  /** The address of the target, without its password. */
  to: string;
  environment: 'live' | 'demo';
  issuer: IssuerClaim;
  /** The ids of the keys in the key file. */
  keyIds: readonly string[];
  at: number;
  /** Makes the database chain its audit records, with a key that it has sealed. */
  useKeys(database: OpenedDatabase): Promise<void>;
  onProgress(progress: Progress): void;
}

export interface Progress {
  step: 'copied' | 'compared';
  table: string;
  done: number;
  total: number;
}

export interface Outcome extends Moved {
  /** An earlier run had completed the move; this one found that out. */
  wasComplete: boolean;
  /** Row counts by table. */
  rows: Record<string, number>;
}

/** The source is not changed. A killed or failed move can be repeated. */
export async function moveToPostgres(move: Move): Promise<Outcome> {
  const file = join(move.dataDir, DATABASE_FILE);
  refuseHalfFilled(move.dataDir);
  if (!existsSync(file)) {
    throw new StoreError(`There is no SQLite database in ${move.dataDir}. Set DATA_DIR to where it is.`);
  }
  const claim = claimDirectory(move.dataDir);
  try {
    const wasUnclosed = isUnclosed(move.dataDir);
    const source = lockSource(file);
    try {
      const { environmentMadeAt } = await fitFacts(file, move);
      const target = await openPostgres(move.databaseUrl, () => undefined, UNHURRIED);
      try {
        return await moveInto(target, { source, environmentMadeAt, wasUnclosed }, move);
      } finally {
        await target.close();
      }
    } finally {
      const close = async () => void source.close();
      // A repeated move, or a start on SQLite, must see it too.
      await (wasUnclosed ? closeKeepingLog(file, close) : close());
    }
  } catch (error) {
    throw asMoveError(error);
  } finally {
    claim.release();
  }
}

/** Refuses a source that the service would refuse with these settings, and one that is damaged. */
function fitFacts(file: string, { environment, issuer, keyIds, at }: Move): Promise<CopyFacts> {
  return reading({ file }, async (reader) => {
    await refuseUnlessMigrated(reader);
    const recorded = await recordedIn(reader);
    // It could have tables that this version would not move.
    refuseNewer(recorded.newer);
    if (recorded.environment !== environment) {
      throw new StoreError(
        `The database in ${file} belongs to ${recorded.environment ? `the ${recorded.environment} environment` : 'no environment yet'}, but ENVIRONMENT is ${environment}.`,
      );
    }
    refuseOther(recorded.issuer, issuer);
    assertSound(file);
    const facts = await factsOf(reader, at);
    const missing = facts.encryptionKeys.slice(0, 1).find((id) => !keyIds.includes(id));
    if (missing !== undefined) {
      throw new StoreError(
        `The database needs the encryption key ${missing}, and the key file holds ${keyIds.join(', ')}. Set SECRETS_KEY_FILE to the key file of this database.`,
      );
    }
    return facts;
  });
}

interface Source {
  source: BetterSqlite3.Database;
  environmentMadeAt: number;
  /** The service did not close it: readers may have read changes that a power failure undid. */
  wasUnclosed: boolean;
}

async function moveInto(target: Database, from: Source, move: Move): Promise<Outcome> {
  const { environmentMadeAt } = from;
  const { at, to, dataDir } = move;
  const earlier = movedFrom(dataDir);
  await refuseOtherEncoding(target.patient);
  const state = await stateOf(target.patient, earlier);
  if (state === 'moved' && earlier !== undefined) {
    return { ...earlier, wasComplete: true, rows: {} };
  }
  if (typeof state === 'object' && state.environmentMadeAt !== environmentMadeAt) {
    throw new StoreError(
      'The PostgreSQL database contains an unfinished move of another SQLite database. Move into a new database.',
    );
  }
  if (earlier !== undefined) {
    if (typeof state !== 'object' || state.at !== earlier.at) {
      throw movedError(dataDir, earlier);
    }
    // The commit of that attempt did not happen: the target is still marked.
    forgetMoved(dataDir);
  }
  await markTarget(target.patient, { environmentMadeAt, at });
  await migrateToLatest(target.patient);
  refuseNewer((await schemaDrift(target.patient)).newer);
  const rows = await target.patient.transaction().execute((writer) => fill(target, writer, from, move));
  return { at, to, wasComplete: false, rows };
}

/** One transaction: if anything fails, the target has no rows, and the mark stays. */
async function fill(
  target: Database,
  writer: Writer,
  { source, wasUnclosed }: Source,
  { at, to, dataDir, useKeys, onProgress }: Move,
): Promise<Record<string, number>> {
  await lockMark(writer, at);
  const tables = await movedTables(source, writer);
  await removeBeginnings(writer);
  await refuseRows(writer, tables);
  const rows = countsOf(source, tables);
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const countingTo = (step: Progress['step']) => {
    let done = 0;
    return (table: string) => (count: number) => {
      done += count;
      onProgress({ step, table, done, total });
    };
  };
  await withoutIndexes(writer, () => copyRows(writer, source, tables, countingTo('copied')));
  for (const { name } of tables) {
    await sql`analyze ${sql.table(name)}`.execute(writer);
  }
  const compared = countingTo('compared');
  for (const table of tables) {
    await compareRows(writer, table, sourcePages(source, table, refuseOdd), compared(table.name));
  }
  await (wasUnclosed ? beginLife(writer) : continueLife(writer));
  await record(target, writer, useKeys, { at, attributes: { from: dataDir, to, rows: String(total) } });
  await writer.schema.dropTable(MOVE_MARK).execute();
  writeMoved(dataDir, { at, to });
  return rows;
}

/** After the first odd value nothing more is written, and the rest is read to report all of them. */
async function copyRows(
  writer: Writer,
  source: BetterSqlite3.Database,
  tables: readonly MovedTable[],
  counting: (table: string) => (count: number) => void,
): Promise<void> {
  const odd: OddValue[] = [];
  let oddValues = 0;
  const onOdd = (value: OddValue) => {
    oddValues += 1;
    if (odd.length < MOST_ODD_VALUES) {
      odd.push(value);
    }
  };
  for (const table of tables) {
    const copied = counting(table.name);
    for (const page of sourcePages(source, table, onOdd)) {
      if (oddValues === 0) {
        await insertRows(writer, table, page);
      }
      copied(page.length);
    }
    await continueSequences(writer, table);
  }
  if (oddValues > 0) {
    throw new CopyError(oddValuesText(odd, oddValues));
  }
}

function oddValuesText(odd: readonly OddValue[], count: number): string {
  const lines = odd.map(
    ({ table, key, column, problem }) => `  - ${table}, row ${key}: the column ${column} ${problem}`,
  );
  const others = count > odd.length ? [`  - and ${count - odd.length} more`] : [];
  return `PostgreSQL cannot store all values of the database. Nothing was moved.\n${[...lines, ...others].join('\n')}`;
}

function refuseOdd({ table, key }: OddValue): never {
  throw new Error(`The row ${key} of ${table} changed during the move.`);
}

async function record(
  target: Database,
  writer: Writer,
  useKeys: Move['useKeys'],
  { at, attributes }: { at: number; attributes: Record<string, string> },
): Promise<void> {
  const database = openedOver({
    ...target,
    reader: writer,
    write: async (work) => {
      const late = keepLateRows(writer);
      const done = await work(writer);
      (await late.write(writer))();
      return done;
    },
  });
  await useKeys(database);
  await database.write((within) =>
    auditAction(within, at, MOVER, {
      type: MOVED_TYPE,
      subject: { type: 'database', id: 'postgresql' },
      attributes,
    }),
  );
}

/** What PostgreSQL refused, as a sentence. */
function asMoveError(error: unknown): unknown {
  if (isLockTimeout(error)) {
    return new CopyError(ANOTHER_RUN, { cause: error });
  }
  return isOfDatabase(error)
    ? new CopyError(`PostgreSQL did not complete the move: ${databaseReasonOf(error)}. ${REPEAT}`, {
        cause: error,
      })
    : error;
}
