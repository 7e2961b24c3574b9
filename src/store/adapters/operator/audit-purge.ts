import { PURGED_TYPE } from '../../../domain/operator/audit-chain.js';
import type { Database, Writer } from '../../database.js';
import type { Removal } from '../webhooks/purge.js';
import { recordAction } from './audit-events.js';

const ACTOR = { type: 'service', id: 'purge' };
/** Chains looked at for one that can be shortened: records of one may be out of the order of their times by the length of a write. */
const CHAINS_LOOKED_AT = 50;

/**
 * Shortens chains from their beginnings, so that the rest can be verified still: each time a record tells where the chain begins now. Records from before
 * there were chains just go.
 */
export function auditRemoval({ write }: Pick<Database, 'write'>): Removal {
  return (before, limit) =>
    write(async (writer) => {
      const unchained = await removeUnchained(writer, before, limit);
      if (unchained > 0) {
        return unchained;
      }
      for (const chain of await chainsWith(writer, before)) {
        const removed = await shorten(writer, chain, before, limit);
        if (removed > 0) {
          return removed;
        }
      }
      return 0;
    });
}

async function removeUnchained(writer: Writer, before: number, limit: number): Promise<number> {
  const old = writer
    .selectFrom('audit_events')
    .where('created_at', '<', before)
    .where('chain', 'is', null)
    .limit(limit)
    .select('id');
  const { numDeletedRows } = await writer
    .deleteFrom('audit_events')
    .where('id', 'in', old)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

async function chainsWith(writer: Writer, before: number): Promise<string[]> {
  const rows = await writer
    .selectFrom('audit_events')
    .where('created_at', '<', before)
    .where('chain', 'is not', null)
    .orderBy('created_at')
    .limit(CHAINS_LOOKED_AT)
    .select('chain')
    .execute();
  return [...new Set(rows.map(({ chain }) => chain as string))];
}

async function shorten(writer: Writer, chain: string, before: number, limit: number): Promise<number> {
  const beginning = await writer
    .selectFrom('audit_events')
    .where('chain', '=', chain)
    .orderBy('seq')
    .limit(limit)
    .select(['seq', 'hash', 'created_at'])
    .execute();
  const firstKept = beginning.findIndex(({ created_at }) => created_at >= before);
  const last = (firstKept < 0 ? beginning : beginning.slice(0, firstKept)).at(-1);
  if (!last) {
    return 0;
  }
  const { numDeletedRows } = await writer
    .deleteFrom('audit_events')
    .where('chain', '=', chain)
    .where('seq', '<=', last.seq)
    .executeTakeFirstOrThrow();
  if (numDeletedRows > 0n) {
    const attributes = { seq: String(last.seq), hash: String(last.hash) };
    const subject = { type: 'audit_chain', id: chain };
    await recordAction(writer, Date.now(), ACTOR, { type: PURGED_TYPE, subject, attributes });
  }
  return Number(numDeletedRows);
}
