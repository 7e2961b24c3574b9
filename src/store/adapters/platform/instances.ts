import type { Instance, InstanceRows } from '../../../domain/platform/rows/instances.js';
import { camelCased, type Rows } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { statement } from '../statements/kept-statement.js';
import { behind } from '../statements/keyset.js';

const instances = (db: Rows) => db.selectFrom('instances').selectAll().$narrowType<Pick<Instance, 'id'>>();

const byId = statement((db, { id }: { id: string }) => instances(db).where('id', '=', id));

export function instanceRows(writer: Writer): InstanceRows {
  const db = camelCased(writer);
  return {
    find: async (id) => (await byId(db, { id })).rows[0],
    page: (page) =>
      instances(db)
        .where(behind('instances', page))
        .orderBy('createdAt')
        .orderBy('id')
        .limit(page.limit)
        .execute(),
    insert: async (instance) => {
      await db.insertInto('instances').values(instance).execute();
    },
    update: async (instance) => {
      await db.updateTable('instances').set(instance).where('id', '=', instance.id).execute();
    },
    integrationsOf: async (id) => {
      const rows = await db
        .selectFrom('instanceIntegrations')
        .where('instanceId', '=', id)
        .select('integrationId')
        .orderBy('integrationId')
        .execute();
      return rows.map((row) => row.integrationId);
    },
  };
}
