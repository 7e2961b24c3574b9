import type { Selectable } from 'kysely';
import type { IntegrationId } from '../../../../generated/ids.js';
import type { Integration, IntegrationRows } from '../../../domain/operator/integrations.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { olderThan } from './newest-first.js';

type Row = Selectable<Schema['integrations']>;

export function integrationRows(writer: Writer): IntegrationRows {
  return {
    find: async (id) => {
      const row = await writer.selectFrom('integrations').where('id', '=', id).selectAll().executeTakeFirst();
      return row && toIntegration(row);
    },
    page: async (page) => {
      const rows = await writer
        .selectFrom('integrations')
        .where(olderThan('integrations', page))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(page.limit)
        .selectAll()
        .execute();
      return rows.map(toIntegration);
    },
    insert: async (integration) => {
      await writer.insertInto('integrations').values(toRow(integration)).execute();
    },
    update: async (integration) => {
      await writer
        .updateTable('integrations')
        .set(toRow(integration))
        .where('id', '=', integration.id)
        .execute();
    },
  };
}

function toIntegration({ id, name, version, created_at, updated_at }: Row): Integration {
  return { id: id as IntegrationId, name, version, createdAt: created_at, updatedAt: updated_at };
}

function toRow({ id, name, version, createdAt, updatedAt }: Integration): Row {
  return { id, name, version, created_at: createdAt, updated_at: updatedAt };
}
