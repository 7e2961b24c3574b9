import type { Client, ClientRows } from '../../../domain/platform/rows/clients.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { withAddress } from '../address.js';
import { behind } from '../statements/keyset.js';

export function clientRows(writer: Writer): ClientRows {
  const db = camelCased(writer);
  const clients = () => db.selectFrom('clients').selectAll().$narrowType<Pick<Client, 'id' | 'instanceId'>>();
  return {
    find: async (id) => {
      const row = await clients().where('id', '=', id).executeTakeFirst();
      return row && withAddress(row);
    },
    page: async (page, instanceId) => {
      const rows = await clients()
        .$if(instanceId !== undefined, (query) => query.where('instanceId', '=', instanceId as string))
        .where(behind('clients', page))
        .orderBy('createdAt')
        .orderBy('id')
        .limit(page.limit)
        .execute();
      return rows.map(withAddress);
    },
    insert: async ({ address, ...client }) => {
      await db
        .insertInto('clients')
        .values({ ...client, ...address })
        .execute();
    },
    update: async ({ address, ...client }) => {
      await db
        .updateTable('clients')
        .set({ ...client, ...address })
        .where('id', '=', client.id)
        .execute();
    },
  };
}
