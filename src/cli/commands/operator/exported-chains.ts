import {
  AuditFault,
  type AuditFinding,
  type AuditRecord,
} from '../../../../generated/proto/integration/operator/v1/audit.js';

/** The record of a purge; the service refuses one without its proof. */
const PURGED_TYPE = 'audit.purged';

/** The chains of an export, which the service sees only record by record. Memory grows with chains. */
export class ExportedChains {
  readonly #newest = new Map<string, AuditRecord>();
  /** Records without their predecessors: a purge may have removed these, also during the export. */
  readonly #firsts: { record: AuditRecord; after: number }[] = [];
  /** How far chains were purged. */
  readonly #purged = new Map<string, { seq: number; hash: string }>();

  /** Finds what is missing before the record, and records in another order. */
  take(record: AuditRecord): AuditFinding[] {
    this.#notePurge(record);
    const { chain, seq, previousHash, event } = record;
    const before = this.#newest.get(chain);
    this.#newest.set(chain, record);
    const last = before?.seq ?? 0;
    if (seq > last + 1 && previousHash === '') {
      this.#firsts.push({ record, after: last });
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
   * each other chain with the hash that it continues.
   */
  beginnings(): { findings: AuditFinding[]; firsts: AuditRecord[] } {
    const claimed = this.#firsts.map((first) => ({
      ...first,
      claim: this.#purged.get(first.record.chain) ?? { seq: 0, hash: '' },
    }));
    return {
      findings: claimed
        .filter(({ record, claim }) => claim.seq < record.seq - 1)
        .map(({ record: { chain, seq }, after }) => missing(chain, after + 1, seq - 1)),
      firsts: claimed
        .filter(({ record, claim }) => claim.seq === record.seq - 1)
        .map(({ record, claim }) => ({ ...record, previousHash: claim.hash })),
    };
  }

  #notePurge({ event }: AuditRecord): void {
    if (event?.type === PURGED_TYPE && event.subject) {
      const { seq, hash = '' } = Object.fromEntries(event.attributes.map(({ name, value }) => [name, value]));
      if (Number(seq) > (this.#purged.get(event.subject.id)?.seq ?? 0)) {
        this.#purged.set(event.subject.id, { seq: Number(seq), hash });
      }
    }
  }
}

function missing(chain: string, fromSeq: number, toSeq: number): AuditFinding {
  return { fault: AuditFault.MISSING, chain, fromSeq, toSeq };
}
