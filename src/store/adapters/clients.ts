import type { Client, ClientStore } from '../../domain/directory/clients.js';
import { camelCased } from '../camel-case.js';
import type { Database } from '../database.js';
import { addressColumns, addressIn } from './address.js';
import { keptPages, keptQuery } from './kept-query.js';
import { behind } from './keyset.js';

export function clientStore({ reader }: Database): ClientStore {
  const db = camelCased(reader);
  const clients = () =>
    db
      .selectFrom('clients')
      .select(['id', 'name', 'createdAt', ...addressColumns])
      .$narrowType<Pick<Client, 'id'>>();
  const pages = keptPages(db, (instanceId, page) =>
    clients()
      .where('instanceId', '=', instanceId)
      .where(behind('clients', page))
      .orderBy('createdAt')
      .orderBy('id')
      .limit(page.limit),
  );
  const byId = keptQuery(db, (id: string) => clients().where('id', '=', id));

  return {
    page: async (instanceId, page) => (await pages(instanceId, page)).map(toClient),
    find: async (id) => {
      const [row] = await byId(id);
      return row && toClient(row);
    },
  };
}

type Row = Pick<Client, 'id' | 'name' | 'createdAt'> & Client['location'];

function toClient(row: Row): Client {
  return { id: row.id, name: row.name, location: addressIn(row), createdAt: row.createdAt };
}
