import type { ClientId } from '../../../generated/ids.js';
import type { Client, ClientStore } from '../../domain/directory/clients.js';
import type { Database } from '../database.js';
import { addressColumns, toAddress } from './address.js';
import { keptPages, keptQuery } from './kept-query.js';
import { behind } from './keyset.js';

export function clientStore({ reader }: Database): ClientStore {
  const clients = () => reader.selectFrom('clients').select(['id', 'name', 'created_at', ...addressColumns]);
  const pages = keptPages(reader, (instanceId, page) =>
    clients()
      .where('instance_id', '=', instanceId)
      .where(behind('clients', page))
      .orderBy('created_at')
      .orderBy('id')
      .limit(page.limit),
  );
  const byId = keptQuery(reader, (id: string) => clients().where('id', '=', id));

  return {
    page: async (instanceId, page) => (await pages(instanceId, page)).map(toClient),
    find: async (id) => {
      const [row] = await byId(id);
      return row && toClient(row);
    },
  };
}

type ClientRow = { id: string; name: string; created_at: number } & Parameters<typeof toAddress>[0];

function toClient(row: ClientRow): Client {
  return { id: row.id as ClientId, name: row.name, address: toAddress(row), createdAt: row.created_at };
}
