import type { Client, ClientRows } from '../../../domain/platform/rows/organization.js';
import { camelCased, type Rows } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { withAddress } from '../directory-columns.js';
import { statement } from '../statements/kept-statement.js';
import { oldestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';

const byId = statement((db, { id }: { id: string }) => clients(db).where('id', '=', id));

export function clientRows(writer: Writer): ClientRows {
  const db = camelCased(writer);
  const { insert, update } = plainWrites(db, 'clients');
  return {
    find: async (id) => {
      const row = (await byId(db, { id })).rows[0];
      return row && withAddress(row);
    },
    page: async (page, instanceId) => {
      const found = clients(db).where(({ and }) => and({ instanceId }));
      return (await oldestFirst(found, 'clients', page)).map(withAddress);
    },
    insert: ({ address, ...client }) => insert({ ...client, ...address }),
    update: ({ address, ...client }) => update({ ...client, ...address }),
  };
}

function clients(db: Rows) {
  return db.selectFrom('clients').selectAll().$narrowType<Pick<Client, 'id' | 'instanceId'>>();
}
