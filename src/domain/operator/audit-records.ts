import type { AuditRows } from './audit.js';
import {
  type AuditMac,
  type ChainedEvent,
  type ChainPlace,
  PURGED_TYPE,
  purgeClaimIn,
} from './audit-chain.js';
import { type AuditFault, type AuditFinding, found, judgeBy } from './audit-verification.js';

export interface LinkedRecord {
  record: ChainedEvent;
  /** Of the record before it in its chain; empty if that is missing. */
  previousHash: string;
}

/** Names the last page: records whose number no chain can have. */
export const MISPLACED = 'misplaced';

/** Up to `limit` records after a place, and where the next page begins. */
export async function linkedRecords(
  rows: Pick<AuditRows, 'chained' | 'misplaced'>,
  after: { chain: string; seq: number } | typeof MISPLACED | undefined,
  limit: number,
): Promise<{ linked: LinkedRecord[]; next: ChainPlace | typeof MISPLACED | undefined }> {
  if (after === MISPLACED) {
    const records = await rows.misplaced(limit);
    return { linked: records.map((record) => ({ record, previousHash: '' })), next: undefined };
  }
  const found = await rows.chained({ after, limit: limit + 1 });
  const records = found.slice(0, limit);
  const linked: LinkedRecord[] = [];
  let before: ChainPlace | undefined;
  for (const record of records) {
    const { chain, seq } = record;
    if (seq > 1 && before?.chain !== chain) {
      [before] = await rows.chained({ after: { chain, seq: seq - 2 }, limit: 1 });
    }
    const isLinked = before?.chain === chain && before.seq === seq - 1;
    linked.push({ record, previousHash: isLinked ? (before?.hash ?? '') : '' });
    before = record;
  }
  if (found.length > limit) {
    return { linked, next: records.at(-1) };
  }
  return { linked, next: (await rows.misplaced(1)).length > 0 ? MISPLACED : undefined };
}

/** Judges records without the log. With an unknown predecessor, only the claim of a purge can be judged. */
export function judgeRecords(mac: AuditMac, linked: readonly LinkedRecord[]): AuditFinding[] {
  const judge = judgeBy(mac);
  return linked.flatMap(({ record, previousHash }): AuditFinding[] => {
    const isUnknown = record.seq !== 1 && previousHash === '';
    const fault = isUnknown ? faultOfClaim(mac, record) : judge(record, previousHash);
    return fault ? [found(fault, record)] : [];
  });
}

function faultOfClaim(mac: AuditMac, record: ChainedEvent): AuditFault | undefined {
  return record.type === PURGED_TYPE && !purgeClaimIn(mac, record) ? 'changed' : undefined;
}
