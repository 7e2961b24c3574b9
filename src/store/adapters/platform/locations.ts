import type { Location, LocationRows } from '../../../domain/platform/rows/organization.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { withAddress } from '../directory-columns.js';
import { countOfClient } from '../statements/count-of-client.js';
import { oldestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';

export function locationRows(writer: Writer): LocationRows {
  const db = camelCased(writer);
  const writes = plainWrites(db, 'locations');
  const locations = () =>
    db.selectFrom('locations').selectAll().$narrowType<Pick<Location, 'id' | 'clientId'>>();
  return {
    find: async (id) => {
      const row = await locations().where('id', '=', id).executeTakeFirst();
      return row && withAddress(row);
    },
    findByName: async (clientId, name) => {
      const row = await locations()
        .where('clientId', '=', clientId)
        .where('name', '=', name)
        .executeTakeFirst();
      return row && withAddress(row);
    },
    page: async (page, clientId) => {
      const found = locations().where('clientId', '=', clientId);
      return (await oldestFirst(found, 'locations', page)).map(withAddress);
    },
    count: countOfClient(db, 'locations'),
    insert: ({ address, ...location }) => writes.insert({ ...location, ...address }),
    update: ({ address, ...location }) => writes.update({ ...location, ...address }),
    delete: writes.delete,
  };
}
