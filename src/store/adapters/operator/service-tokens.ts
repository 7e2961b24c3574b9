import type { Selectable } from 'kysely';
import type { InstanceId } from '../../../../generated/ids.js';
import type { ServiceToken, ServiceTokenRows } from '../../../domain/operator/service-tokens.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { inStatus } from './key-status.js';
import { olderThan } from './newest-first.js';

export function serviceTokenRows(writer: Writer): ServiceTokenRows {
  return {
    find: async (id) => {
      const row = await writer
        .selectFrom('service_tokens')
        .where('id', '=', id)
        .selectAll()
        .executeTakeFirst();
      return row && toServiceToken(row);
    },
    page: async (page, { status, now }) => {
      let query = writer.selectFrom('service_tokens').where(olderThan('service_tokens', page));
      if (status !== undefined) {
        query = query.where(inStatus(status, now));
      }
      const rows = await query
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(page.limit)
        .selectAll()
        .execute();
      return rows.map(toServiceToken);
    },
    countActive: async (kind, now) => {
      const { count } = await writer
        .selectFrom('service_tokens')
        .where('kind', '=', kind)
        .where(inStatus('active', now))
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    insert: async (
      { id, kind, instanceId, ownerId, label, createdAt, expiresAt, revokedAt, lastUsedAt },
      hash,
    ) => {
      await writer
        .insertInto('service_tokens')
        .values({
          id,
          kind,
          instance_id: instanceId,
          owner_id: ownerId,
          label,
          hash: Buffer.from(hash).toString('base64url'),
          created_at: createdAt,
          expires_at: expiresAt,
          revoked_at: revokedAt,
          last_used_at: lastUsedAt,
        })
        .execute();
    },
    expire: async (id, at) => {
      await writer.updateTable('service_tokens').set({ expires_at: at }).where('id', '=', id).execute();
    },
    revoke: async (id, at) => {
      await writer.updateTable('service_tokens').set({ revoked_at: at }).where('id', '=', id).execute();
    },
  };
}

function toServiceToken(row: Selectable<Schema['service_tokens']>): ServiceToken {
  return {
    id: row.id,
    kind: row.kind,
    instanceId: row.instance_id as InstanceId | null,
    ownerId: row.owner_id,
    label: row.label,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}
