import type { Selectable } from 'kysely';
import type { IntegrationId } from '../../../../generated/ids.js';
import type { ApiKey, ApiKeyRows } from '../../../domain/operator/api-keys.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { inStatus } from './key-status.js';
import { olderThan } from './newest-first.js';

export function apiKeyRows(writer: Writer): ApiKeyRows {
  return {
    find: async (id) => {
      const row = await writer.selectFrom('api_keys').where('id', '=', id).selectAll().executeTakeFirst();
      return row && toApiKey(row);
    },
    page: async (page, { integrationId, status, now }) => {
      let query = writer.selectFrom('api_keys').where(olderThan('api_keys', page));
      if (integrationId !== undefined) {
        query = query.where('integration_id', '=', integrationId);
      }
      if (status !== undefined) {
        query = query.where(inStatus(status, now));
      }
      const rows = await query
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(page.limit)
        .selectAll()
        .execute();
      return rows.map(toApiKey);
    },
    insert: async (apiKey, hash) => {
      await writer
        .insertInto('api_keys')
        .values({
          id: apiKey.id,
          integration_id: apiKey.integrationId,
          hash: Buffer.from(hash).toString('base64url'),
          label: apiKey.label,
          hint: apiKey.hint,
          version: apiKey.version,
          created_at: apiKey.createdAt,
          expires_at: apiKey.expiresAt,
          revoked_at: apiKey.revokedAt,
          last_used_at: apiKey.lastUsedAt,
        })
        .execute();
    },
    update: async ({ id, label, version, expiresAt, revokedAt }) => {
      await writer
        .updateTable('api_keys')
        .set({ label, version, expires_at: expiresAt, revoked_at: revokedAt })
        .where('id', '=', id)
        .execute();
    },
  };
}

function toApiKey(row: Selectable<Schema['api_keys']>): ApiKey {
  return {
    id: row.id,
    integrationId: row.integration_id as IntegrationId,
    label: row.label,
    hint: row.hint,
    version: row.version,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}
