import type { AuditEvent } from '../../../domain/operator/audit.js';
import {
  type AuditMac,
  type ChainPlace,
  fingerprintOf,
  hashOf,
  NO_HASH,
} from '../../../domain/operator/audit-chain.js';
import { REST_TYPE } from '../../../domain/operator/audit-tally.js';
import { newRecordId } from '../../../identifiers/record-id.js';
import {
  camelCased,
  type Database,
  type Rows,
  type StoreWatch,
  type Tables,
  type Writer,
} from '../../database.js';
import { executeCompiled } from '../../dialects/direct-statements.js';
import { type LateWriter, lateRowsOf } from '../../dialects/late-rows.js';
import { changedOne, changedRows, statement } from '../statements/kept-statement.js';
import { keptInsertion } from '../statements/plain-writes.js';

type Row = Tables['auditEvents'];

/** Waited for: a failure must be known before the commit. */
const insertion = keptInsertion(
  (db, rows: readonly Row[]) => db.insertInto('auditEvents').values(rows),
  executeCompiled,
);

/** A trigger or a rule may leave out rows without an error. Then the write must not be committed. */
async function insertAll(db: Rows, rows: readonly Row[]): Promise<void> {
  const answers = await insertion(db, rows);
  const stored = answers.reduce((sum, answer) => sum + changedRows(answer), 0);
  if (stored !== rows.length) {
    throw new Error(
      `The database stored ${stored} of ${rows.length} audit records, so the write is undone. A trigger or a rule suppresses them; integration doctor names it.`,
    );
  }
}

/** Only after its predecessor in the chain. */
const continuation = statement((db, { previous, ...row }: Row & { previous: number }) =>
  db
    .insertInto('auditEvents')
    .columns(Object.keys(row) as (keyof Row)[])
    .expression((from) =>
      from
        .selectFrom('auditEvents')
        .where('chain', '=', row.chain)
        .where('seq', '=', previous)
        .select(({ val }) => Object.entries(row).map(([name, value]) => val(value).as(name))),
    ),
);

const presence = statement((db, { chain, hash }: { chain: string; hash: string }) =>
  db.selectFrom('auditEvents').where('chain', '=', chain).where('hash', '=', hash).select('seq'),
);

const chainsOfWriter = new WeakMap<Writer, AuditChains>();

/** Those of the transaction; undefined before there is a key: `integration init` makes one. */
export function auditChainsOf(writer: Writer): AuditChains | undefined {
  return chainsOfWriter.get(writer);
}

/** Chains the audit records of each transaction, unless there is no key yet. */
export function withAuditChains(
  database: Database,
  macIfAny: () => AuditMac | undefined,
  onBroken: (chain: string) => void = () => undefined,
  onRecorded?: StoreWatch['recorded'],
): Database {
  const chains = new AuditChains((bytes) => (macIfAny() as AuditMac)(bytes), onBroken, onRecorded);
  return {
    ...database,
    write: (work, ...rest) =>
      database.write(
        async (writer) => {
          if (macIfAny()) {
            chainsOfWriter.set(writer, chains);
          }
          try {
            return await work(writer);
          } finally {
            chainsOfWriter.delete(writer);
          }
        },
        ...rest,
      ),
  };
}

/** Stores the record in the transaction, at its end if it is chained. */
export async function storeRecord(writer: Writer, event: AuditEvent): Promise<void> {
  const chains = auditChainsOf(writer);
  if (chains) {
    lateRowsOf(writer).add(chains, event);
  } else {
    await insertAll(camelCased(writer), [toRow(event, { chain: null, seq: null, hash: null })]);
  }
}

/** Chained records of the transaction that are not stored yet. */
export function unstoredRecords(writer: Writer): AuditEvent[] {
  const chains = auditChainsOf(writer);
  return chains ? lateRowsOf(writer).of(chains) : [];
}

/**
 * The chains of this process. A transaction continues a free one at its end, so that it holds no chain while
 * it works: sequential transactions share one chain, concurrent ones do not wait for each other. Newest
 * records are kept in memory; the insert checks that the newest is stored.
 */
class AuditChains implements LateWriter<AuditEvent> {
  /** Newest records of chains that no transaction uses. */
  readonly #free: ChainPlace[] = [];
  /** Newest records of chains that an insert failed to continue, until a read finds them stored. */
  #doubtful: readonly ChainPlace[] = [];

  constructor(
    readonly mac: AuditMac,
    private readonly onBroken: (chain: string) => void,
    private readonly onRecorded: StoreWatch['recorded'] = () => undefined,
  ) {}

  /**
   * A chain is continued only after an acknowledged commit: one without an answer may have succeeded, and a
   * failed insert may have found the place occupied. Otherwise the chain ends here, and another one begins.
   */
  async writeLate(writer: Writer, events: readonly AuditEvent[]): Promise<() => void> {
    const db = camelCased(writer);
    await this.#lookForDoubtful(db);
    const taken = this.#free.pop();
    try {
      const newest = (taken && (await this.#write(db, events, taken))) ?? (await this.#begin(db, events));
      return () => {
        this.#free.push(newest);
        for (const event of events) {
          this.#tell(event);
        }
      };
    } catch (error) {
      this.#doubtful = [...this.#doubtful, ...(taken ? [taken] : [])];
      throw error;
    }
  }

  /**
   * Reports a record to the metrics. A record of the tally stands for several equal acts; its overflow record
   * stands for acts of several types.
   */
  #tell({ type, outcome, attributes }: AuditEvent): void {
    const { count, first_at: isCount, last_at: _, ...byType } = attributes;
    if (type === REST_TYPE) {
      for (const [each, times] of Object.entries(byType)) {
        this.onRecorded(each, outcome, Number(times));
      }
    } else {
      this.onRecorded(type, outcome, isCount === undefined ? 1 : Number(count), attributes.reason);
    }
  }

  /**
   * Looks for these records again: an attacker could make an insert fail, and then remove the record that it
   * was to continue.
   */
  async #lookForDoubtful(db: Rows): Promise<void> {
    for (const place of this.#doubtful) {
      const { rows } = await presence(db, { chain: place.chain, hash: place.hash });
      this.#doubtful = this.#doubtful.filter((each) => each !== place);
      if (rows.length === 0) {
        this.onBroken(place.chain);
      }
    }
  }

  /** Returns the last place; undefined if the chain does not end with the taken record. */
  async #write(db: Rows, events: readonly AuditEvent[], taken: ChainPlace): Promise<ChainPlace | undefined> {
    const [first, ...others] = this.#linked(events, taken) as [Row, ...Row[]];
    if (!changedOne(await continuation(db, { ...first, previous: taken.seq }))) {
      this.onBroken(taken.chain);
      return undefined;
    }
    await insertAll(db, others);
    return placeOf(others.at(-1) ?? first);
  }

  async #begin(db: Rows, events: readonly AuditEvent[]): Promise<ChainPlace> {
    const chain = `${newRecordId('ach')}.${fingerprintOf(this.mac)}`;
    const rows = this.#linked(events, { chain, seq: 0, hash: NO_HASH });
    await insertAll(db, rows);
    return placeOf(rows.at(-1) as Row);
  }

  #linked(events: readonly AuditEvent[], { chain, seq: last, hash: newest }: ChainPlace): Row[] {
    let hash = newest;
    return events.map((event, index) => {
      const seq = last + 1 + index;
      hash = hashOf(this.mac, event, { chain, seq }, hash);
      return toRow(event, { chain, seq, hash });
    });
  }
}

/** Of a chained record. A tampered place that is no number becomes 0, which is no place either. */
export function placeOf({ chain, seq, hash }: Pick<Row, 'chain' | 'seq' | 'hash'>): ChainPlace {
  return { chain: chain as string, seq: typeof seq === 'number' ? seq : 0, hash: hash as string };
}

function toRow({ actor, subject, ...event }: AuditEvent, place: Pick<Row, 'chain' | 'seq' | 'hash'>): Row {
  return {
    ...event,
    actorType: actor.type,
    actorId: actor.id,
    subjectType: subject?.type ?? null,
    subjectId: subject?.id ?? null,
    attributes: JSON.stringify(event.attributes),
    ...place,
  };
}
