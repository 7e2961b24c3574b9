import type { Client, ClientRows } from '../../../domain/platform/rows/clients.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { withAddress } from '../address.js';
import { oldestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';

export function clientRows(writer: Writer): ClientRows {
  const db = camelCased(writer);
  const { insert, update } = plainWrites(db, 'clients');
  const clients = () => db.selectFrom('clients').selectAll().$narrowType<Pick<Client, 'id' | 'instanceId'>>();
  return {
    find: async (id) => {
      const row = await clients().where('id', '=', id).executeTakeFirst();
      return row && withAddress(row);
    },
    page: async (page, instanceId) => {
      const found = clients().$if(instanceId !== undefined, (query) =>
        query.where('instanceId', '=', instanceId as string),
      );
      return (await oldestFirst(found, 'clients', page)).map(withAddress);
    },
    insert: ({ address, ...client }) => insert({ ...client, ...address }),
    update: ({ address, ...client }) => update({ ...client, ...address }),
  };
}
