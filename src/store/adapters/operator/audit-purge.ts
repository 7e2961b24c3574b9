import { sql } from 'kysely';
import { isAhead } from '../../../domain/clock.js';
import {
  type AuditMac,
  type ChainedEvent,
  NO_HASH,
  PURGED_TYPE,
  type PurgeClaim,
  purgeClaimIn,
  purgeClaimOf,
} from '../../../domain/operator/audit-chain.js';
import { judgeBy } from '../../../domain/operator/audit-verification.js';
import { camelCased, type Database, type Writer } from '../../database.js';
import { changedRows, findsAny } from '../statements/kept-statement.js';
import { lock } from '../unit-of-work.js';
import type { Removal } from '../webhooks/purge.js';
import { auditChainsOf, unstoredRecords } from './audit-chains.js';
import { auditAction, toChainedEvent } from './audit-events.js';

const ACTOR = { type: 'service', id: 'purge' };
const LOCK = 'audit-purge';
/** Records read per chain: their times may be out of order by the length of a write. */
const RECORDS_LOOKED_AT = 50;
/**
 * So many chains are skipped one by one: because of a changed record, or because a clock that was behind left
 * older records after one that must stay. With more, the purge skips all.
 */
const MOST_SKIPPED = 100;
const MOST_CLAIMS = 1_000;
/** The chain, in a form that fits no index: SQLite would read all records that have none, of any time. */
const CHAIN_UNINDEXED = sql<string>`chain || ''`;

/** Called with a chain and the place of a changed record. */
export type OnSpoiled = (chain: string, seq: number) => void;

/**
 * Shortens chains from their beginnings. A record signed with the key tells where each chain begins now.
 * Verifies records before their removal: a changed one stays, with all later ones. Unchained records are
 * removed.
 */
export function auditRemoval(
  { write, clock }: Pick<Database, 'write' | 'clock'>,
  onSpoiled: OnSpoiled = () => undefined,
): Removal {
  const removePiece: Removal = (before, limit) =>
    write(async (writer) => {
      const unchained = await removeUnchained(writer, before, limit);
      const mac = auditChainsOf(writer)?.mac;
      const removed =
        unchained || (mac ? await removeChained(writer, mac, clock(), before, limit, onSpoiled) : 0);
      return removed || (await removeUnchainedBehind(writer, before, limit));
    });
  return async (before, limit) => {
    let removed = 0;
    // A piece contains records of one chain only; many nodes leave many short chains.
    for (let piece = 1; piece > 0 && removed < limit; removed += piece) {
      piece = await removePiece(before, limit - removed);
    }
    return removed;
  };
}

/** Removes those among the oldest records, where they usually are: they predate all chains. */
async function removeUnchained(writer: Writer, before: number, limit: number): Promise<number> {
  const db = camelCased(writer);
  // Chosen after the limit: SQLite would find them by chain, among all that were recorded without one.
  const oldest = db
    .selectFrom('auditEvents')
    .where('createdAt', '<', before)
    .orderBy('createdAt')
    .limit(limit)
    .select(['id', 'chain']);
  const old = db.selectFrom(oldest.as('oldest')).where('chain', 'is', null).select('id');
  return changedRows(await db.executeQuery(db.deleteFrom('auditEvents').where('id', 'in', old)));
}

/** Removes those behind chained records that must stay. Reads all expired records that are left. */
async function removeUnchainedBehind(writer: Writer, before: number, limit: number): Promise<number> {
  const db = camelCased(writer);
  const old = db
    .selectFrom('auditEvents')
    .where('createdAt', '<', before)
    .where(CHAIN_UNINDEXED, 'is', null)
    .limit(limit)
    .select('id');
  return changedRows(await db.executeQuery(db.deleteFrom('auditEvents').where('id', 'in', old)));
}

async function removeChained(
  writer: Writer,
  mac: AuditMac,
  now: number,
  before: number,
  limit: number,
  onSpoiled: OnSpoiled,
): Promise<number> {
  // A concurrent purge would look like a cut.
  await lock(writer, [LOCK]);
  const skipped = new Map<string, number | undefined>();
  for (let known = -1; known < skipped.size && skipped.size < MOST_SKIPPED; ) {
    known = skipped.size;
    for (const chain of await chainsWith(writer, before, [...skipped.keys()])) {
      const { old, spoiledAt } = await beginningOf(writer, mac, chain, [before, now], limit);
      if (old.length > 0) {
        await shorten(writer, mac, now, old);
        return old.length;
      }
      skipped.set(chain, spoiledAt);
    }
  }
  for (const [chain, seq] of skipped) {
    if (seq !== undefined) {
      onSpoiled(chain, seq);
    }
  }
  return 0;
}

async function chainsWith(writer: Writer, before: number, skipped: readonly string[]): Promise<string[]> {
  const rows = await camelCased(writer)
    .selectFrom('auditEvents')
    .where('createdAt', '<', before)
    .where('chain', 'is not', null)
    .$if(skipped.length > 0, (query) => query.where('chain', 'not in', skipped))
    .orderBy('createdAt')
    .limit(RECORDS_LOOKED_AT)
    .select('chain')
    .execute();
  return [...new Set(rows.map(({ chain }) => chain as string))];
}

/**
 * The expired records at the beginning, up to the first that does not verify. One that is later than now is
 * from before the clock was set back, and as old as the next.
 */
async function beginningOf(
  writer: Writer,
  mac: AuditMac,
  chain: string,
  [before, now]: [before: number, now: number],
  limit: number,
): Promise<{ old: ChainedEvent[]; spoiledAt?: number }> {
  const rows = await camelCased(writer)
    .selectFrom('auditEvents')
    .where('chain', '=', chain)
    .orderBy('seq')
    .limit(limit)
    .selectAll()
    .execute();
  const judge = judgeBy(mac);
  const records = rows.map(toChainedEvent);
  let olds = 0;
  let { seq, hash } = await purgedOf(writer, mac, chain);
  for (const [index, record] of records.entries()) {
    if (record.seq !== seq + 1 || judge(record, hash)) {
      return { old: records.slice(0, olds), spoiledAt: record.seq };
    }
    if (record.createdAt < before) {
      olds = index + 1;
    } else if (!isAhead(record.createdAt, now)) {
      break;
    }
    ({ seq, hash } = record);
  }
  return { old: records.slice(0, olds) };
}

/** How far a chain was purged by right. */
async function purgedOf(
  writer: Writer,
  mac: AuditMac,
  chain: string,
): Promise<Pick<PurgeClaim, 'seq' | 'hash'>> {
  const rows = await camelCased(writer)
    .selectFrom('auditEvents')
    .where('subjectId', '=', chain)
    .where('type', '=', PURGED_TYPE)
    .orderBy('createdAt', 'desc')
    .limit(MOST_CLAIMS)
    .selectAll()
    .execute();
  const records = [...rows.map(toChainedEvent), ...unstoredRecords(writer)];
  const claims = records
    .flatMap((record) => purgeClaimIn(mac, record) ?? [])
    .filter((claim) => claim.chain === chain);
  return claims.reduce((most, claim) => (claim.seq > most.seq ? claim : most), { seq: 0, hash: NO_HASH });
}

async function shorten(
  writer: Writer,
  mac: AuditMac,
  now: number,
  old: readonly ChainedEvent[],
): Promise<void> {
  const last = old.at(-1) as ChainedEvent;
  await camelCased(writer)
    .deleteFrom('auditEvents')
    .where('chain', '=', last.chain)
    .where('seq', '<=', last.seq)
    .execute();
  await tell(writer, now, purgeClaimOf(mac, last));
  // Repeats claims of removed records about other chains where they are still needed, the newest first.
  for (const claim of old.flatMap((record) => purgeClaimIn(mac, record) ?? []).reverse()) {
    const { seq } = await purgedOf(writer, mac, claim.chain);
    const records = camelCased(writer).selectFrom('auditEvents').where('chain', '=', claim.chain);
    if (seq < claim.seq && (await findsAny(records.select('seq')))) {
      await tell(writer, now, claim);
    }
  }
}

async function tell(writer: Writer, now: number, { chain, seq, hash, proof }: PurgeClaim): Promise<void> {
  await auditAction(writer, now, ACTOR, {
    type: PURGED_TYPE,
    subject: { type: 'audit_chain', id: chain },
    attributes: { seq: String(seq), hash, proof },
  });
}
