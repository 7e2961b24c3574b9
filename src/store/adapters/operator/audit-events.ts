import { type ExpressionBuilder, sql } from 'kysely';
import type { Clock } from '../../../domain/clock.js';
import type {
  Actor,
  AuditEvent,
  AuditFilter,
  AuditOutcome,
  AuditParty,
  AuditRows,
  AuditWriter,
} from '../../../domain/operator/audit.js';
import { ANCHORED_TYPE, type ChainedEvent, type ChainPlace } from '../../../domain/operator/audit-chain.js';
import { newRecordId } from '../../../identifiers/record-id.js';
import type { Database, Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { keptStatement } from '../kept-statement.js';
import { chainLinksOf } from './audit-chains.js';
import { olderThan } from './newest-first.js';

type Row = Schema['audit_events'];

const MOST_CHARACTERS_SHOWN = 1_000;

const insertion = keptStatement((db, row: Row) => db.insertInto('audit_events').values(row));

/** Only behind the record that it follows in its chain. */
const continuation = keptStatement((db, { previous, ...row }: Row & { previous: number }) =>
  db
    .insertInto('audit_events')
    .columns(Object.keys(row) as (keyof Row)[])
    .expression((from) =>
      from
        .selectFrom('audit_events')
        .where('chain', '=', row.chain)
        .where('seq', '=', previous)
        .select(({ val }) => Object.entries(row).map(([name, value]) => val(value).as(name))),
    ),
);

export function auditRows(reader: Writer): AuditRows {
  return {
    page: async (page, { since, until, types, outcome, partyId }: AuditFilter) => {
      let query = reader.selectFrom('audit_events').where(olderThan('audit_events', page));
      if (since !== undefined) {
        query = query.where('created_at', '>=', since);
      }
      if (until !== undefined) {
        query = query.where('created_at', '<', until);
      }
      if (types.length > 0) {
        query = query.where((where) => where.or(types.map((type) => ofType(where, type))));
      }
      if (outcome !== undefined) {
        query = query.where('outcome', '=', outcome);
      }
      if (partyId !== undefined) {
        query = query.where((where) =>
          where.or([where('actor_id', '=', partyId), where('subject_id', '=', partyId)]),
        );
      }
      const rows = await query
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(page.limit)
        .selectAll()
        .execute();
      return rows.map(toAuditEvent);
    },
    chained: async ({ after, limit }) => {
      const rows = await reader
        .selectFrom('audit_events')
        .where('chain', 'is not', null)
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
    unchained: async (since, limit) => {
      if (!Number.isFinite(since)) {
        return [];
      }
      const rows = await reader
        .selectFrom('audit_events')
        .where('chain', 'is', null)
        .where('created_at', '>=', since)
        .orderBy('created_at')
        .limit(limit)
        .select('id')
        .execute();
      return rows.map(({ id }) => id);
    },
    heads: async (since, { after, limit }) => {
      const newest = await reader
        .selectFrom('audit_events')
        .where('created_at', '>=', since)
        .where('type', '<>', ANCHORED_TYPE)
        .where('chain', '>', after)
        .groupBy('chain')
        .orderBy('chain')
        .limit(limit)
        .select(['chain', ({ fn }) => fn.max('seq').as('seq')])
        .execute();
      if (newest.length === 0) {
        return [];
      }
      const rows = await reader
        .selectFrom('audit_events')
        .where(({ or, and, eb }) =>
          or(newest.map(({ chain, seq }) => and([eb('chain', '=', chain), eb('seq', '=', Number(seq))]))),
        )
        .select(['chain', 'seq', 'hash'])
        .execute();
      return rows.map(toPlace).sort((one, other) => (one.chain < other.chain ? -1 : 1));
    },
    newest: async (now) => {
      const row = await reader
        .selectFrom('audit_events')
        .where('created_at', '<=', now)
        .where('type', '<>', ANCHORED_TYPE)
        .where('chain', 'is not', null)
        .orderBy('created_at', 'desc')
        .limit(1)
        .select('created_at')
        .executeTakeFirst();
      return row?.created_at;
    },
  };
}

export function toChainedEvent(row: Row): ChainedEvent {
  return { ...toAuditEvent(row), ...toPlace(row) };
}

function toPlace({ chain, seq, hash }: Pick<Row, 'chain' | 'seq' | 'hash'>): ChainPlace {
  return { chain: chain as string, seq: Number(seq), hash: hash as string };
}

interface Recorded {
  type: string;
  outcome?: AuditOutcome;
  subject: AuditParty | null;
  attributes?: Record<string, string>;
}

export function auditWriter({ write }: Pick<Database, 'write'>, clock: Clock = Date.now): AuditWriter {
  return {
    write: (observations) =>
      write(async (writer) => {
        const now = clock();
        for (const { actor, ...recorded } of observations) {
          await recordAction(writer, now, actor, recorded);
        }
      }),
  };
}

export async function recordAction(
  writer: Writer,
  now: number,
  actor: Actor,
  { type, subject, attributes = {}, outcome = 'succeeded' }: Recorded,
): Promise<void> {
  const event: AuditEvent = {
    id: newRecordId('aud'),
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
  const links = chainLinksOf(writer);
  if (!links) {
    await insertion(writer, toRow(event, { chain: null, seq: null, hash: null }));
    return;
  }
  await links.add(event, async ({ isFirst, ...place }) => {
    const row = toRow(event, place);
    const { numAffectedRows } = await (isFirst
      ? insertion(writer, row)
      : continuation(writer, { ...row, previous: place.seq - 1 }));
    return numAffectedRows === 1n;
  });
}

function toRow(event: AuditEvent, place: Pick<Row, 'chain' | 'seq' | 'hash'>): Row {
  return {
    id: event.id,
    created_at: event.createdAt,
    type: event.type,
    outcome: event.outcome,
    actor_type: event.actor.type,
    actor_id: event.actor.id,
    subject_type: event.subject?.type ?? null,
    subject_id: event.subject?.id ?? null,
    request_id: event.requestId,
    remote_address: event.remoteAddress,
    attributes: JSON.stringify(event.attributes),
    ...place,
  };
}

/** Types stand in the order of their bytes, so that all with one beginning stand together: `a.` up to `a/`. */
function ofType(where: ExpressionBuilder<Schema, 'audit_events'>, type: string) {
  if (!type.endsWith('.*')) {
    return where('type', '=', type);
  }
  const beginning = type.slice(0, -2);
  return sql<boolean>`(type >= ${`${beginning}.`} and type < ${`${beginning}/`})`;
}

function toAuditEvent(row: Schema['audit_events']): AuditEvent {
  return {
    id: row.id,
    createdAt: row.created_at,
    type: row.type,
    outcome: row.outcome,
    actor: { type: row.actor_type, id: row.actor_id },
    subject:
      row.subject_type !== null && row.subject_id !== null
        ? { type: row.subject_type, id: row.subject_id }
        : null,
    requestId: row.request_id,
    remoteAddress: row.remote_address,
    attributes: readAttributes(row.attributes),
  };
}

/** What the service never wrote, somebody else did: it is shown as it is, and no hash vouches for it. */
function readAttributes(stored: string): Record<string, string> {
  try {
    const read: unknown = JSON.parse(stored);
    if (isPlain(read)) {
      return read;
    }
  } catch {
    // Told below.
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
