import type { Instance, InstanceRows } from '../../../domain/platform/rows/organization.js';
import { camelCased, type Rows } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { statement } from '../statements/kept-statement.js';
import { oldestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';

const instances = (db: Rows) => db.selectFrom('instances').selectAll().$narrowType<Pick<Instance, 'id'>>();

const byId = statement((db, { id }: { id: string }) => instances(db).where('id', '=', id));

export function instanceRows(writer: Writer): InstanceRows {
  const db = camelCased(writer);
  const { insert, update } = plainWrites(db, 'instances');
  return {
    find: async (id) => (await byId(db, { id })).rows[0],
    page: (page) => oldestFirst(instances(db), 'instances', page),
    insert,
    update,
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
