import type { InstanceId } from '../../../../generated/ids.js';
import type { Instance, InstanceRows } from '../../../domain/platform/instances.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { keptStatement } from '../kept-statement.js';
import { behind } from '../keyset.js';

const byId = keptStatement((db, { id }: { id: string }) =>
  db.selectFrom('instances').where('id', '=', id).selectAll(),
);

export function instanceRows(writer: Writer): InstanceRows {
  return {
    find: async (id) => {
      const [row] = (await byId(writer, { id })).rows;
      return row && toInstance(row);
    },
    page: async (page) => {
      const rows = await writer
        .selectFrom('instances')
        .where(behind('instances', page))
        .orderBy('created_at')
        .orderBy('id')
        .limit(page.limit)
        .selectAll()
        .execute();
      return rows.map(toInstance);
    },
    insert: async (instance) => {
      await writer.insertInto('instances').values(toRow(instance)).execute();
    },
    update: async (instance) => {
      await writer.updateTable('instances').set(toRow(instance)).where('id', '=', instance.id).execute();
    },
    integrationsOf: async (id) => {
      const rows = await writer
        .selectFrom('instance_integrations')
        .where('instance_id', '=', id)
        .select('integration_id')
        .orderBy('integration_id')
        .execute();
      return rows.map((row) => row.integration_id);
    },
  };
}

function toInstance({ id, name, version, created_at, updated_at }: Schema['instances']): Instance {
  return { id: id as InstanceId, name, version, createdAt: created_at, updatedAt: updated_at };
}

function toRow({ id, name, version, createdAt, updatedAt }: Instance): Schema['instances'] {
  return { id, name, version, created_at: createdAt, updated_at: updatedAt };
}
