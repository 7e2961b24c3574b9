import type { ClientId, LocationId } from '../../../../generated/ids.js';
import type { Location, LocationRows } from '../../../domain/platform/locations.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { fromAddress, toAddress } from '../address.js';
import { behind } from '../keyset.js';

export function locationRows(writer: Writer): LocationRows {
  return {
    find: async (id) => {
      const row = await writer.selectFrom('locations').where('id', '=', id).selectAll().executeTakeFirst();
      return row && toLocation(row);
    },
    findByName: async (clientId, name) => {
      const row = await writer
        .selectFrom('locations')
        .where('client_id', '=', clientId)
        .where('name', '=', name)
        .selectAll()
        .executeTakeFirst();
      return row && toLocation(row);
    },
    page: async (page, clientId) => {
      const rows = await writer
        .selectFrom('locations')
        .where('client_id', '=', clientId)
        .where(behind('locations', page))
        .orderBy('created_at')
        .orderBy('id')
        .limit(page.limit)
        .selectAll()
        .execute();
      return rows.map(toLocation);
    },
    insert: async (location) => {
      await writer.insertInto('locations').values(toRow(location)).execute();
    },
    update: async (location) => {
      await writer.updateTable('locations').set(toRow(location)).where('id', '=', location.id).execute();
    },
    delete: async (id) => {
      await writer.deleteFrom('locations').where('id', '=', id).execute();
    },
  };
}

function toLocation(row: Schema['locations']): Location {
  return {
    id: row.id as LocationId,
    clientId: row.client_id as ClientId,
    name: row.name,
    address: toAddress(row),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toRow(location: Location): Schema['locations'] {
  return {
    id: location.id,
    client_id: location.clientId,
    name: location.name,
    ...fromAddress(location.address),
    version: location.version,
    created_at: location.createdAt,
    updated_at: location.updatedAt,
  };
}
