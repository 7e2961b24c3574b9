import {
  AuditFault,
  type AuditFinding,
  type AuditRecord,
} from '../../../../generated/proto/integration/operator/v1/audit.js';
import { ANCHORED_TYPE, CHAINS_IN_A_RECORD, PURGED_TYPE } from '../../../domain/operator/audit-chain.js';

/** The service reads on from no other; a forged anchor may name anything. */
const SHAPE_OF_CHAIN = /^[A-Za-z0-9_.]{1,64}$/;

/** The newest records of chains, as the log of a domain names them: `<place> <beginning of the hash>`. */
export type Anchors = ReadonlyMap<string, string>;

/** A record that could not be verified. */
export type Unverified = Omit<AuditFinding, 'fault'>;

/** The chains of an export, which the service sees only record by record. Memory grows with chains. */
export class ExportedChains {
  readonly #newest = new Map<string, AuditRecord>();
  /**
   * Records exported without their predecessors: a purge may have removed these, also during the export. The
   * hash is of a predecessor that was exported before its removal.
   */
  readonly #firsts: { record: AuditRecord; after: number; hash: string }[] = [];
  /** By chain, the places up to which it was purged, with the hash of the last removed record. */
  readonly #purged = new Map<string, Map<number, string>>();
  /** By chain, the last place that an anchor names. */
  readonly #anchored = new Map<string, number>();
  records = 0;

  /** `anchors` are given from outside; those of the records count too. */
  constructor(private readonly anchors: Anchors = new Map()) {
    this.#noteAnchors(anchors);
  }

  /** Finds gaps before the record, records in another order, and one that differs from its anchor. */
  take(record: AuditRecord): AuditFinding[] {
    this.records += 1;
    this.#notePurge(record);
    if (record.event?.type === ANCHORED_TYPE) {
      const named = record.event.attributes.slice(0, CHAINS_IN_A_RECORD);
      this.#noteAnchors(named.map(({ name, value }) => [name, value]));
    }
    const findings = this.#findingsAt(record);
    const anchor = this.anchors.get(record.chain) ?? '';
    const differs = placeOf(anchor) === record.seq && !`${record.seq} ${record.hash}`.startsWith(anchor);
    return findings.length === 0 && differs ? [changed(record)] : findings;
  }

  #findingsAt(record: AuditRecord): AuditFinding[] {
    const { chain, seq, previousHash } = record;
    const before = this.#newest.get(chain);
    const last = before?.seq ?? 0;
    if (seq <= last) {
      return [changed(record)];
    }
    this.#newest.set(chain, record);
    // The service does not judge a record without the hash before it, unless it is the first of its chain.
    if (seq > 1 && previousHash === '') {
      const hash = seq === last + 1 ? (before?.hash ?? '') : '';
      this.#firsts.push({ record, after: last, hash });
      return [];
    }
    if (seq > last + 1) {
      return [missing(chain, last + 1, seq - 1)];
    }
    return previousHash === (before?.hash ?? '') ? [] : [changed(record)];
  }

  /** Call it after the last record: chains that end before a place that an anchor names. */
  ends(): AuditFinding[] {
    return [...this.#anchored].flatMap(([chain, anchored]) => {
      const purged = [...(this.#purged.get(chain)?.keys() ?? [])];
      const last = Math.max(this.#newest.get(chain)?.seq ?? 0, ...purged);
      return last < anchored ? [missing(chain, last + 1, anchored)] : [];
    });
  }

  /**
   * Call it after the last record: chains whose beginning is missing without a purge, and the first record of
   * each other chain with the hash that it continues. Without that hash a record cannot be verified, because
   * a purge went beyond it: it was removed during the export, or inserted.
   */
  beginnings(): { findings: AuditFinding[]; firsts: AuditRecord[]; unverified: Unverified[] } {
    const findings: AuditFinding[] = [];
    const firsts: AuditRecord[] = [];
    const unverified: Unverified[] = [];
    for (const { record, after, hash } of this.#firsts) {
      const { chain, seq, event } = record;
      const purged = this.#purged.get(chain) ?? new Map<number, string>();
      const previousHash = purged.get(seq - 1) || hash;
      if (previousHash !== '') {
        firsts.push({ ...record, previousHash });
      } else if (after === seq - 1 || [...purged.keys()].some((place) => place >= seq)) {
        unverified.push({ chain, fromSeq: seq, toSeq: seq, eventId: event?.id });
      } else {
        findings.push(missing(chain, Math.max(after, ...purged.keys()) + 1, seq - 1));
      }
    }
    return { findings, firsts, unverified };
  }

  #noteAnchors(anchors: Iterable<readonly [chain: string, anchor: string]>): void {
    for (const [chain, anchor] of anchors) {
      if (!SHAPE_OF_CHAIN.test(chain)) {
        continue;
      }
      this.#anchored.set(chain, Math.max(this.#anchored.get(chain) ?? 0, placeOf(anchor)));
    }
  }

  /** Notes up to where a purge removed a chain. The service refuses a purge record without its proof. */
  #notePurge({ event }: AuditRecord): void {
    if (event?.type === PURGED_TYPE && event.subject) {
      const { seq, hash = '' } = Object.fromEntries(event.attributes.map(({ name, value }) => [name, value]));
      const purged = this.#purged.get(event.subject.id) ?? new Map<number, string>();
      this.#purged.set(event.subject.id, purged.set(placeOf(seq ?? ''), hash));
    }
  }
}

export function placeOf(anchor: string): number {
  return Number.parseInt(anchor, 10) || 0;
}

function changed({ chain, seq, event }: AuditRecord): AuditFinding {
  return { fault: AuditFault.CHANGED, chain, fromSeq: seq, toSeq: seq, eventId: event?.id };
}

function missing(chain: string, fromSeq: number, toSeq: number): AuditFinding {
  return { fault: AuditFault.MISSING, chain, fromSeq, toSeq };
}
