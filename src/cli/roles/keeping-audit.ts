import { pause } from '../../../workflows/backoff.js';
import type { Growth } from '../../domain/operator/audit.js';
import { ANCHORED_TYPE, CHAINS_IN_A_RECORD, type ChainPlace } from '../../domain/operator/audit-chain.js';
import type { AuditTally } from '../../domain/operator/audit-tally.js';
import type { Store } from '../../store/store.js';
import type { Log } from '../../telemetry/log.js';
import { type Running, running } from './running.js';

const EVERY_MS = 60_000;
/** The first look covers what earlier processes wrote and may not have anchored. */
const FIRST_LOOK_BACK_MS = 3_600_000;
/** Of a hash in the log, which masks longer ones as secrets. Enough to recognize the record in an export. */
const HASH_CHARACTERS = 32;
const ACTOR = { type: 'service', id: 'domain' };

/** The first look begins an hour before the newest record. Call this before the process records anything. */
export async function firstLookOf({ operator, clock }: Pick<Store, 'operator' | 'clock'>): Promise<number> {
  const now = clock();
  return ((await operator.rows.auditEvents.newest(now)) ?? now) - FIRST_LOOK_BACK_MS;
}

/**
 * Once a minute and at the end, writes the counts. Then, and at the start, anchors the newest record of each
 * chain that grew, in a record and in the log: an attacker must also remove all later anchors.
 */
export function startKeepingAudit(
  store: Pick<Store, 'operator'>,
  tally: Pick<AuditTally, 'flush'>,
  log: Log,
  firstLook: number,
): Running {
  const anchor = anchoring(store, log, firstLook);
  const keep = async () => {
    try {
      await tally.flush();
      await anchor();
    } catch (error) {
      log.warn('the audit log was not kept up to date', { reason: (error as Error).message });
    }
  };
  return running(async (ending) => {
    while (!ending.aborted) {
      await keep();
      await pause(EVERY_MS, ending);
    }
    await keep();
  });
}

/**
 * Each call anchors the chains that grew since the last one; the first, those that ended at `firstLook` or
 * later. It compares places, not times: a record carries the time at which its write began, and a commit
 * that waits for a replica of PostgreSQL may be much later.
 */
export function anchoring(
  { operator }: Pick<Store, 'operator'>,
  log: Log,
  firstLook: number,
): () => Promise<void> {
  const { auditEvents } = operator.rows;
  const seen = new Map<string, number>();
  let since = firstLook;
  return async () => {
    const grown: Growth[] = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const ends = await auditEvents.ends({ after, limit: CHAINS_IN_A_RECORD });
      for (const { chain, seq, createdAt } of ends) {
        const from = seen.get(chain) ?? (createdAt < since ? seq : 0);
        if (seq > from) {
          grown.push(await auditEvents.growth({ chain, seq: from }));
        } else {
          seen.set(chain, from);
        }
      }
      after = ends.length === CHAINS_IN_A_RECORD ? ends.at(-1)?.chain : undefined;
    }
    for (let at = 0; at < grown.length; at += CHAINS_IN_A_RECORD) {
      const part = grown.slice(at, at + CHAINS_IN_A_RECORD);
      await writeAnchor(
        operator,
        log,
        part.flatMap(({ newest }) => newest ?? []),
      );
      for (const { chain, end } of part) {
        seen.set(chain, end);
      }
    }
    since = 0;
  };
}

async function writeAnchor(
  operator: Store['operator'],
  log: Log,
  heads: readonly ChainPlace[],
): Promise<void> {
  if (heads.length === 0) {
    return;
  }
  const named = (characters?: number) =>
    Object.fromEntries(heads.map(({ chain, seq, hash }) => [chain, `${seq} ${hash.slice(0, characters)}`]));
  const subject = { type: 'audit_log', id: 'chains' };
  await operator.run((changes) =>
    changes.audit(ACTOR, { type: ANCHORED_TYPE, subject, attributes: named() }),
  );
  log.info('the newest audit records', { heads: named(HASH_CHARACTERS) });
}
