import {
  AuditFault,
  type AuditFinding,
  type AuditRecord,
} from '../../../../generated/proto/integration/operator/v1/audit.js';

/** The record of a purge; the service refuses one without its proof. */
const PURGED_TYPE = 'audit.purged';

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

  /** Finds what is missing before the record, and records in another order. */
  take(record: AuditRecord): AuditFinding[] {
    this.#notePurge(record);
    const { chain, seq, previousHash, event } = record;
    const before = this.#newest.get(chain);
    this.#newest.set(chain, record);
    const last = before?.seq ?? 0;
    // The service does not judge a record without the hash before it, unless it is the first of its chain.
    if (seq > 1 && seq > last && previousHash === '') {
      const hash = seq === last + 1 ? (before?.hash ?? '') : '';
      this.#firsts.push({ record, after: last, hash });
      return [];
    }
    if (seq > last + 1) {
      return [missing(chain, last + 1, seq - 1)];
    }
    const follows = seq === last + 1 && previousHash === (before?.hash ?? '');
    return follows
      ? []
      : [{ fault: AuditFault.CHANGED, chain, fromSeq: seq, toSeq: seq, eventId: event?.id }];
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
        findings.push(missing(chain, after + 1, seq - 1));
      }
    }
    return { findings, firsts, unverified };
  }

  #notePurge({ event }: AuditRecord): void {
    if (event?.type === PURGED_TYPE && event.subject) {
      const { seq, hash = '' } = Object.fromEntries(event.attributes.map(({ name, value }) => [name, value]));
      const purged = this.#purged.get(event.subject.id) ?? new Map<number, string>();
      this.#purged.set(event.subject.id, purged.set(Number(seq), hash));
    }
  }
}

function missing(chain: string, fromSeq: number, toSeq: number): AuditFinding {
  return { fault: AuditFault.MISSING, chain, fromSeq, toSeq };
}
