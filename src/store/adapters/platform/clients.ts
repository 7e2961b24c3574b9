import type { ClientId, InstanceId } from '../../../../generated/ids.js';
import type { Client, ClientRows } from '../../../domain/platform/clients.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { fromAddress, toAddress } from '../address.js';
import { behind } from '../keyset.js';

export function clientRows(writer: Writer): ClientRows {
  return {
    find: async (id) => {
      const row = await writer.selectFrom('clients').where('id', '=', id).selectAll().executeTakeFirst();
      return row && toClient(row);
    },
    page: async (page, instanceId) => {
      const rows = await writer
        .selectFrom('clients')
        .$if(instanceId !== undefined, (query) => query.where('instance_id', '=', instanceId as string))
        .where(behind('clients', page))
        .orderBy('created_at')
        .orderBy('id')
        .limit(page.limit)
        .selectAll()
        .execute();
      return rows.map(toClient);
    },
    insert: async (client) => {
      await writer.insertInto('clients').values(toRow(client)).execute();
    },
    update: async (client) => {
      await writer.updateTable('clients').set(toRow(client)).where('id', '=', client.id).execute();
    },
  };
}

function toClient(row: Schema['clients']): Client {
  return {
    id: row.id as ClientId,
    instanceId: row.instance_id as InstanceId,
    name: row.name,
    address: toAddress(row),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toRow(client: Client): Schema['clients'] {
  return {
    id: client.id,
    instance_id: client.instanceId,
    name: client.name,
    ...fromAddress(client.address),
    version: client.version,
    created_at: client.createdAt,
    updated_at: client.updatedAt,
  };
}
