import type { Location, LocationRows } from '../../../domain/platform/rows/locations.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { withAddress } from '../address.js';
import { behind } from '../statements/keyset.js';

export function locationRows(writer: Writer): LocationRows {
  const db = camelCased(writer);
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
      const rows = await locations()
        .where('clientId', '=', clientId)
        .where(behind('locations', page))
        .orderBy('createdAt')
        .orderBy('id')
        .limit(page.limit)
        .execute();
      return rows.map(withAddress);
    },
    insert: async ({ address, ...location }) => {
      await db
        .insertInto('locations')
        .values({ ...location, ...address })
        .execute();
    },
    update: async ({ address, ...location }) => {
      await db
        .updateTable('locations')
        .set({ ...location, ...address })
        .where('id', '=', location.id)
        .execute();
    },
    delete: async (id) => {
      await db.deleteFrom('locations').where('id', '=', id).execute();
    },
  };
}
