import { inPieces } from '../../fairness/pieces.js';
import type { AuditRows } from './audit.js';
import {
  ANCHORED_TYPE,
  type AuditMac,
  type ChainedEvent,
  fingerprintOf,
  hashOf,
  isPlace,
  NO_HASH,
  purgeClaimIn,
} from './audit-chain.js';

/** `changed`: altered. `missing`: removed. `unchained`: in no chain. `other_key`: cannot be verified. */
export type AuditFault = 'changed' | 'missing' | 'unchained' | 'other_key';

export interface AuditFinding {
  fault: AuditFault;
  chain: string;
  /** The first and last place concerned. */
  fromSeq: number;
  toSeq: number;
  /** The record, if it exists. */
  eventId?: string;
}

/** Checks a record against the hash of its predecessor. */
type Judge = (record: ChainedEvent, previousHash: string) => 'changed' | 'other_key' | undefined;

export function judgeBy(mac: AuditMac): Judge {
  const ending = `.${fingerprintOf(mac)}`;
  return (record, previousHash) => {
    if (!record.chain.endsWith(ending)) {
      return 'other_key';
    }
    return hashOf(mac, record, record, previousHash) === record.hash ? undefined : 'changed';
  };
}

/** A record without its predecessor, and the place of the record that was taken before it. */
interface Beginning {
  record: ChainedEvent;
  after: number;
}

interface Progress {
  first: ChainedEvent;
  last: number;
  hash: string;
}

/** Of a tampered log, which may have any number of gaps. */
const MOST_BEGINNINGS = 10_000;

/** What records state about chains: a record at a place, and how far it was purged. */
interface Claims {
  anchored: number;
  purged: { seq: number; hash: string };
}

/** Verifies the records of chains, each in order. Memory grows with chains, not with records. */
export class AuditVerification {
  readonly #chains = new Map<string, Progress>();
  readonly #claims = new Map<string, Claims>();
  /** Judged at the end, when all purges are known: one may have removed what is missing meanwhile. */
  readonly #beginnings: Beginning[] = [];
  records = 0;
  /** The time of the oldest record of a chain. */
  oldest = Number.POSITIVE_INFINITY;
  readonly #judgeOf: Judge;

  constructor(private readonly mac: AuditMac) {
    this.#judgeOf = judgeBy(mac);
  }

  take(record: ChainedEvent): AuditFinding[] {
    this.records += 1;
    if (!isPlace(record.seq)) {
      return [found('changed', record)];
    }
    this.oldest = Math.min(this.oldest, record.createdAt);
    this.#notePurge(record);
    const { chain, seq } = record;
    const progress = this.#chains.get(chain);
    if (!progress) {
      this.#chains.set(chain, { first: record, last: seq, hash: record.hash });
      return seq === 1 ? this.#judge(record, NO_HASH) : this.#begin({ record, after: 0 });
    }
    const { last, hash } = progress;
    progress.last = Math.max(last, seq);
    progress.hash = record.hash;
    if (seq > last + 1) {
      return this.#begin({ record, after: last });
    }
    return seq === last + 1 ? this.#judge(record, hash) : [found('changed', record)];
  }

  /** Chains that are shorter than other records state, with the last place read. */
  short(): { chain: string; seq: number }[] {
    return [...this.#claims].flatMap(([chain, { anchored, purged }]) => {
      const last = this.#chains.get(chain)?.last ?? purged.seq;
      return last < anchored ? [{ chain, seq: this.#chains.get(chain)?.last ?? 0 }] : [];
    });
  }

  /** First records that other records call purged: each is gone by now, or was inserted. */
  purged(): ChainedEvent[] {
    return [...this.#chains.values()].flatMap(({ first }) =>
      this.#purgedOf(first).seq >= first.seq ? [first] : [],
    );
  }

  /** Gaps. */
  finish(): AuditFinding[] {
    const findings = this.#beginnings.flatMap((beginning) => this.#judgeBeginning(beginning));
    for (const { chain, seq } of this.short()) {
      const { anchored, purged } = this.#claims.get(chain) as Claims;
      const fromSeq = Math.max(seq, purged.seq) + 1;
      findings.push({ fault: 'missing', chain, fromSeq, toSeq: anchored });
    }
    return findings;
  }

  #begin(beginning: Beginning): AuditFinding[] {
    if (this.#beginnings.length === MOST_BEGINNINGS) {
      return this.#judgeBeginning(beginning);
    }
    this.#beginnings.push(beginning);
    return [];
  }

  #judgeBeginning({ record, after }: Beginning): AuditFinding[] {
    const { chain, seq } = record;
    const purged = this.#purgedOf(record);
    const toSeq = seq - 1;
    if (purged.seq < toSeq) {
      return [{ fault: 'missing', chain, fromSeq: Math.max(purged.seq, after) + 1, toSeq }];
    }
    // A later purge has removed the missing records legitimately.
    return purged.seq > toSeq ? [] : this.#judge(record, purged.hash);
  }

  #purgedOf({ chain }: ChainedEvent): Claims['purged'] {
    return this.#claims.get(chain)?.purged ?? NOTHING_PURGED;
  }

  #judge(record: ChainedEvent, previousHash: string): AuditFinding[] {
    const fault = this.#judgeOf(record, previousHash);
    if (fault) {
      return [found(fault, record)];
    }
    this.#noteAnchors(record);
    return [];
  }

  /**
   * Also accepts claims of unverified records: the predecessor that would verify one may itself be purged.
   */
  #notePurge(record: ChainedEvent): void {
    const claim = purgeClaimIn(this.mac, record);
    if (claim) {
      const claims = this.#claimsOf(claim.chain);
      if (claim.seq > claims.purged.seq) {
        claims.purged = claim;
      }
    }
  }

  /** Trusts verified records only. */
  #noteAnchors({ type, attributes }: ChainedEvent): void {
    if (type === ANCHORED_TYPE) {
      for (const [chain, head] of Object.entries(attributes)) {
        const claims = this.#claimsOf(chain);
        claims.anchored = Math.max(claims.anchored, Number.parseInt(head, 10) || 0);
      }
    }
  }

  #claimsOf(chain: string): Claims {
    const claims = this.#claims.get(chain) ?? { anchored: 0, purged: NOTHING_PURGED };
    this.#claims.set(chain, claims);
    return claims;
  }
}

const NOTHING_PURGED = { seq: 0, hash: NO_HASH };

export function found(fault: AuditFault, { chain, seq, id }: ChainedEvent): AuditFinding {
  return { fault, chain, fromSeq: seq, toSeq: seq, eventId: id };
}

/** The progress, and new findings since the last report. */
interface VerificationProgress {
  records: number;
  findings: AuditFinding[];
  done: boolean;
}

const RECORDS_AT_ONCE = 500;
/** Enough to act on. */
const MOST_FINDINGS = 1_000;

/** Reads the whole log in pages and reports progress. */
export async function* verifyAuditLog(
  rows: Pick<AuditRows, 'chained' | 'misplaced' | 'unchained'>,
  mac: AuditMac,
  signal: AbortSignal,
): AsyncGenerator<VerificationProgress> {
  const verification = new AuditVerification(mac);
  let findingsLeft = MOST_FINDINGS;
  const progress = (findings: AuditFinding[], done = false): VerificationProgress => {
    const shown = findings.slice(0, findingsLeft);
    findingsLeft -= shown.length;
    return { records: verification.records, findings: shown, done };
  };
  for await (const page of pagesFrom(rows, undefined)) {
    yield progress(page.flatMap((record) => verification.take(record)));
    if (signal.aborted) {
      return;
    }
  }
  // Concurrent writers may refer to records after those that were read.
  for (const { chain, seq } of verification.short()) {
    for await (const page of pagesFrom(rows, { chain, seq })) {
      const rest = page.filter((record) => record.chain === chain);
      yield progress(rest.flatMap((record) => verification.take(record)));
      if (signal.aborted || rest.length < page.length) {
        break;
      }
    }
  }
  const misplaced = (await rows.misplaced(RECORDS_AT_ONCE)).flatMap((record) => verification.take(record));
  const strangers = [
    ...misplaced,
    ...(await returnedIn(rows, verification)),
    ...(await strangersIn(rows, verification)),
  ];
  yield progress([...verification.finish(), ...strangers], true);
}

/** Records that exist although they were purged. */
async function returnedIn(
  rows: Pick<AuditRows, 'chained'>,
  verification: AuditVerification,
): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = [];
  for (const { chain, seq } of verification.purged()) {
    const [record] = await rows.chained({ after: { chain, seq: seq - 1 }, limit: 1 });
    if (record?.chain === chain && record.seq === seq) {
      findings.push(found('changed', record));
    }
  }
  return findings;
}

/** Unchained records predate all chains; later ones are findings. */
async function strangersIn(
  rows: Pick<AuditRows, 'unchained'>,
  { oldest }: AuditVerification,
): Promise<AuditFinding[]> {
  const ids = await rows.unchained(oldest, RECORDS_AT_ONCE);
  return ids.map((eventId) => ({ fault: 'unchained', chain: '', fromSeq: 0, toSeq: 0, eventId }));
}

async function* pagesFrom(
  rows: Pick<AuditRows, 'chained'>,
  position: { chain: string; seq: number } | undefined,
): AsyncGenerator<ChainedEvent[]> {
  const read = (limit: number, after: typeof position = position) => rows.chained({ after, limit });
  for await (const page of inPieces(RECORDS_AT_ONCE, read)) {
    if (page.length > 0) {
      yield page;
    }
  }
}
