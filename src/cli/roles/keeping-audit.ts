import { pause } from '../../../workflows/backoff.js';
import { ANCHORED_TYPE, CHAINS_IN_A_RECORD } from '../../domain/operator/audit-chain.js';
import type { AuditTally } from '../../domain/operator/audit-tally.js';
import type { Store } from '../../store/store.js';
import type { Log } from '../../telemetry/log.js';
import { type Running, running } from './running.js';

const EVERY_MS = 60_000;
/** A record carries the time at which its write began; its commit may be this much later. */
const LONGEST_WRITE_MS = 60_000;
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
  store: Pick<Store, 'operator' | 'clock'>,
  tally: Pick<AuditTally, 'flush'>,
  log: Log,
  firstLook: number,
): Running {
  let since = firstLook;
  const keep = async () => {
    try {
      await tally.flush();
      const lookedAt = store.clock();
      // Later records are from before the clock was set back: each look would find them again.
      await anchor(store, log, { since, until: lookedAt + LONGEST_WRITE_MS });
      since = lookedAt - LONGEST_WRITE_MS;
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

export async function anchor(
  { operator }: Pick<Store, 'operator'>,
  log: Log,
  span: { since: number; until: number },
): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = { after, limit: CHAINS_IN_A_RECORD };
    const heads = await operator.rows.auditEvents.heads(span, page);
    if (heads.length > 0) {
      const named = (characters?: number) =>
        Object.fromEntries(
          heads.map(({ chain, seq, hash }) => [chain, `${seq} ${hash.slice(0, characters)}`]),
        );
      const subject = { type: 'audit_log', id: 'chains' };
      await operator.run((changes) =>
        changes.audit(ACTOR, { type: ANCHORED_TYPE, subject, attributes: named() }),
      );
      log.info('the newest audit records', { heads: named(HASH_CHARACTERS) });
    }
    after = heads.length === CHAINS_IN_A_RECORD ? heads.at(-1)?.chain : undefined;
  }
}
