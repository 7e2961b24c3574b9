import { type ExpressionBuilder, sql } from 'kysely';
import type {
  Actor,
  AuditEvent,
  AuditFilter,
  AuditOutcome,
  AuditRows,
  RecordedAction,
} from '../../../domain/operator/audit.js';
import { newRecordId } from '../../../identifiers/record-id.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { keptStatement } from '../kept-statement.js';
import { olderThan } from './newest-first.js';

const insertion = keptStatement((db, row: Schema['audit_events']) =>
  db.insertInto('audit_events').values(row),
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
  };
}

export async function recordAction(
  writer: Writer,
  now: number,
  actor: Actor,
  { type, subject, attributes = {}, outcome = 'succeeded' }: RecordedAction & { outcome?: AuditOutcome },
): Promise<void> {
  await insertion(writer, {
    id: newRecordId('aud'),
    created_at: now,
    type,
    outcome,
    actor_type: actor.type,
    actor_id: actor.id,
    subject_type: subject.type,
    subject_id: subject.id,
    request_id: actor.requestId ?? null,
    remote_address: actor.remoteAddress ?? null,
    attributes: JSON.stringify(attributes),
  });
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
    attributes: JSON.parse(row.attributes),
  };
}
