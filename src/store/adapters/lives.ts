import { randomBytes } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Actor } from '../../domain/operator/audit.js';
import type { Reader, Writer } from '../database.js';
import { auditAction } from './operator/audit-events.js';
import { isPostgres } from './statements/dialect.js';

/** As in cursors. */
const LIFE_BYTES = 6;
const MOST_LIVES = 100;
/** The last position on SQLite; after a move, PostgreSQL has it too. */
const LAST_POSITION = sql<number>`(select max(last_position) from change_feed)`;
/** Of all changes. The last position on SQLite can be greater: some writes take one and change nothing. */
const NEWEST_POSITION = sql`(select greatest(max(position), ${LAST_POSITION}) as position from changes)`;
const EXPIRED_TYPE = 'changes.cursors_expired';
const DOMAIN: Actor = { type: 'service', id: 'domain' };

/** Whether the present life began on another server or timeline of PostgreSQL. */
export function isOnOtherServer(reader: Reader) {
  return isPostgres(reader)
    ? sql<boolean>`last_position is null and history is distinct from coalesce(server_history(), history)`
    : sql<boolean>`1 = 0`;
}

/**
 * Makes the positions of a restored PostgreSQL database continue after the stored ones: another server may
 * count its transactions from a smaller number. Concurrent writes still have earlier positions, which readers
 * must not pass.
 */
export async function continuePositions(writer: Writer): Promise<void> {
  if (isPostgres(writer) && (await isBehind(writer))) {
    await sql`lock table changes in share row exclusive mode`.execute(writer);
    await sql`
      update change_feed set xid_offset = newest.position + 1 - pg_current_xact_id()::text::bigint
      from ${NEWEST_POSITION} as newest
      where xid_offset + pg_current_xact_id()::text::bigint <= newest.position
    `.execute(writer);
  }
}

async function isBehind(reader: Reader): Promise<boolean> {
  const { rows } = await sql`
    select from change_feed, ${NEWEST_POSITION} as newest
    where xid_offset + pg_current_xact_id()::text::bigint <= newest.position
  `.execute(reader);
  return rows.length > 0;
}

/**
 * Begins the life of a restored database; call it before any other change. On SQLite, cursors up to its last
 * change stay valid. On PostgreSQL none does: the backup may lack a transaction between others that it has.
 */
export async function beginLife(writer: Writer): Promise<void> {
  await endLife(writer, isPostgres(writer) ? sql<number>`0` : LAST_POSITION);
}

/**
 * The same after a SQLite file was not closed. Readers see a commit before it is synced, and a power failure
 * or a broken disk undoes it: then its positions are given again.
 */
export async function beginLifeAfterUnclosedFile(writer: Writer): Promise<void> {
  await beginLife(writer);
  // Bounded, because each start after a kill adds a life, and each read of changes reads all lives.
  await sql`
    delete from change_lives
    where rowid in (select rowid from change_lives order by rowid desc limit -1 offset ${MOST_LIVES})
  `.execute(writer);
}

/** Ends the present life, of which cursors up to a position stay valid, and begins another. */
async function endLife(
  writer: Writer,
  last: RawBuilder<number>,
  isOver = sql<boolean>`1 = 1`,
): Promise<boolean> {
  await continuePositions(writer);
  const { numUpdatedRows } = await writer
    .updateTable('change_lives')
    .set({ last_position: last })
    .where('last_position', 'is', null)
    .where(isOver)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) {
    return false;
  }
  const history = isPostgres(writer) ? sql<string>`server_history()` : null;
  await writer
    .insertInto('change_lives')
    .values({ life: randomBytes(LIFE_BYTES).toString('hex'), last_position: null, history })
    .execute();
  return true;
}

/**
 * For a database that was restored or promoted without `integration restore`. None stays valid: the database
 * may have changed since, and given positions again that readers have.
 */
export async function expireCursors(writer: Writer, at: number, actor: Actor, reason: string): Promise<void> {
  await endLife(writer, sql<number>`0`);
  await record(writer, at, actor, reason);
}

/** Of several nodes that notice it, one begins a life. */
export async function expireCursorsOfOtherServer(writer: Writer, at: number): Promise<void> {
  if (await endLife(writer, sql<number>`0`, isOnOtherServer(writer))) {
    await record(writer, at, DOMAIN, 'another server or timeline of PostgreSQL');
  }
}

/**
 * For rows that a move brought from another database: cursors given there stay valid here. Cursors given here
 * belong to a new life, which the old database refuses if it is used again.
 */
export async function continueLife(writer: Writer): Promise<void> {
  await endLife(writer, LAST_POSITION);
}

function record(writer: Writer, at: number, actor: Actor, reason: string): Promise<void> {
  const subject = { type: 'database', id: 'changes' };
  return auditAction(writer, at, actor, { type: EXPIRED_TYPE, subject, attributes: { reason } });
}
