import { sql } from 'kysely';
import type {
  Actor,
  AuditEvent,
  AuditRows,
  AuditWriter,
  Observation,
} from '../../../domain/operator/audit.js';
import { ANCHORED_TYPE, type ChainedEvent } from '../../../domain/operator/audit-chain.js';
import { newTimedRecordId } from '../../../identifiers/record-id.js';
import { camelCased, type Database, type Tables, type Writer } from '../../database.js';
import { placeOf, storeRecord } from './audit-chains.js';
import { auditPage } from './audit-page.js';

type Row = Tables['auditEvents'];

const MOST_CHARACTERS_SHOWN = 1_000;

export function auditRows(reader: Writer): AuditRows {
  const db = camelCased(reader);
  return {
    page: async (page, filter, isOver) => (await auditPage(db, page, filter, isOver)).map(toAuditEvent),
    chained: async ({ after, limit }) => {
      const rows = await db
        .selectFrom('auditEvents')
        .where('chain', 'is not', null)
        .where('seq', '>=', 1)
        .where('seq', '<=', Number.MAX_SAFE_INTEGER)
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`(chain, seq) > (${after?.chain}, ${after?.seq})`),
        )
        .orderBy('chain')
        .orderBy('seq')
        .limit(limit)
        .selectAll()
        .execute();
      return rows.map(toChainedEvent);
    },
    misplaced: async (limit) => {
      const { rows } = await misplacedRows(limit).execute(db);
      return rows.map(toChainedEvent);
    },
    unchained: async (since, limit) => {
      if (!Number.isFinite(since)) {
        return [];
      }
      const rows = await db
        .selectFrom('auditEvents')
        .where('chain', 'is', null)
        .where('createdAt', '>=', since)
        .orderBy('createdAt')
        .limit(limit)
        .select('id')
        .execute();
      return rows.map(({ id }) => id);
    },
    ends: async (page) => {
      const { rows } = await endsOfChains(page).execute(db);
      return rows.map(({ chain, seq, createdAt }) => ({
        ...{ chain, seq: Number(seq ?? 0), createdAt: Number(createdAt ?? 0) },
      }));
    },
    growth: async ({ chain, seq }) => {
      const records = db
        .selectFrom('auditEvents')
        .where('chain', '=', chain)
        .where('seq', '<=', Number.MAX_SAFE_INTEGER);
      const newest = await records
        .where('seq', '>', seq)
        .where('type', '<>', ANCHORED_TYPE)
        .orderBy('seq', 'desc')
        .limit(1)
        .select(['chain', 'seq', 'hash'])
        .executeTakeFirst();
      const last = Number(newest?.seq ?? seq);
      const anchors = await records
        .where('seq', '>', last)
        .where('type', '=', ANCHORED_TYPE)
        // SQLite can store a forged number such as 50.5, which could hide a gap.
        .where(sql<boolean>`seq = cast(seq as bigint)`)
        .select(({ fn }) => [fn.max('seq').as('end'), fn.countAll().as('count')])
        .executeTakeFirstOrThrow();
      const end = Number(anchors.end ?? last);
      return {
        chain,
        newest: newest && placeOf(newest),
        end: end - last === Number(anchors.count) ? end : last,
      };
    },
    newest: async (now) => {
      const row = await db
        .selectFrom('auditEvents')
        .where('createdAt', '<=', now)
        .where('type', '<>', ANCHORED_TYPE)
        .where('chain', 'is not', null)
        .orderBy('createdAt', 'desc')
        .limit(1)
        .select('createdAt')
        .executeTakeFirst();
      return row?.createdAt;
    },
  };
}

/** Seeks by the index from chain to chain and to the end of each. */
function endsOfChains({ after, limit }: { after: string; limit: number }) {
  const records = sql`audit_events where audit_events.chain = chains.chain and seq <= ${Number.MAX_SAFE_INTEGER}`;
  return sql<{ chain: string; seq: number | null; createdAt: number | null }>`
    with recursive chains (chain, number) as (
      select min(chain), 1 from audit_events where chain > ${after}
      union all
      select (select min(chain) from audit_events where audit_events.chain > chains.chain), number + 1
      from chains where chains.chain is not null and number < ${limit}
    )
    select chain,
      (select seq from ${records} order by seq desc limit 1) as seq,
      (select created_at from ${records} order by seq desc limit 1) as created_at
    from chains where chain is not null
    order by number`;
}

/** Seeks by the index in each chain: a read of all records would block other work on SQLite. */
function misplacedRows(limit: number) {
  const conditions = [sql`seq is null`, sql`seq < 1`, sql`seq > ${Number.MAX_SAFE_INTEGER}`];
  const ofChains = conditions.map(
    (condition) => sql`
      select audit_events.* from chains join audit_events on audit_events.chain = chains.chain
      where ${condition}`,
  );
  return sql<Row>`
    with recursive chains (chain) as (
      select min(chain) from audit_events
      union all
      select (select min(chain) from audit_events where audit_events.chain > chains.chain)
      from chains where chains.chain is not null
    )
    ${sql.join(ofChains, sql` union all `)}
    limit ${limit}`;
}

export function toChainedEvent(row: Row): ChainedEvent {
  return { ...toAuditEvent(row), ...placeOf(row) };
}

type Recorded = Pick<Observation, 'type' | 'subject'> & Partial<Pick<Observation, 'outcome' | 'attributes'>>;

export function auditWriter({ write, clock }: Pick<Database, 'write' | 'clock'>): AuditWriter {
  return {
    write: (observations) =>
      write(async (writer) => {
        const now = clock();
        for (const { actor, ...recorded } of observations) {
          await auditAction(writer, now, actor, recorded);
        }
      }),
  };
}

export async function auditAction(
  writer: Writer,
  now: number,
  actor: Actor,
  { type, subject, attributes = {}, outcome = 'succeeded' }: Recorded,
): Promise<void> {
  const event: AuditEvent = {
    id: newTimedRecordId('aud', now),
    createdAt: now,
    type,
    outcome,
    actor: { type: actor.type, id: actor.id },
    subject,
    requestId: actor.requestId ?? null,
    remoteAddress: actor.remoteAddress ?? null,
    attributes:
      actor.onBehalfOf === undefined ? attributes : { ...attributes, on_behalf_of: actor.onBehalfOf },
  };
  await storeRecord(writer, event);
}

function toAuditEvent(row: Tables['auditEvents']): AuditEvent {
  return {
    id: row.id,
    createdAt: row.createdAt,
    type: row.type,
    outcome: row.outcome,
    actor: { type: row.actorType, id: row.actorId },
    subject:
      row.subjectType !== null && row.subjectId !== null
        ? { type: row.subjectType, id: row.subjectId }
        : null,
    requestId: row.requestId,
    remoteAddress: row.remoteAddress,
    attributes: readAttributes(row.attributes),
  };
}

/** Tampered text is shown as it is; its hash does not match. */
function readAttributes(stored: string): Record<string, string> {
  try {
    const read: unknown = JSON.parse(stored);
    if (isPlain(read)) {
      return read;
    }
  } catch {
    // Reported below.
  }
  return { unreadable: String(stored).slice(0, MOST_CHARACTERS_SHOWN) };
}

function isPlain(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((each) => typeof each === 'string')
  );
}
