import type { Selectable } from 'kysely';
import type { InstanceId, InstanceIntegrationId, IntegrationId } from '../../../../generated/ids.js';
import type { Connection, ConnectionFilter, ConnectionRows } from '../../../domain/operator/connections.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { olderThan } from './newest-first.js';

type Row = Selectable<Schema['instance_integrations']>;

export function connectionRows(writer: Writer): ConnectionRows {
  const withInstance = () =>
    writer
      .selectFrom('instance_integrations as connection')
      .innerJoin('instances', 'instances.id', 'connection.instance_id')
      .selectAll('connection')
      .select('instances.name as instance_name');
  return {
    find: async (id) => {
      const row = await withInstance().where('connection.id', '=', id).executeTakeFirst();
      return row && toConnection(row);
    },
    findPair: async (integrationId, instanceId) => {
      const row = await withInstance()
        .where('connection.integration_id', '=', integrationId)
        .where('connection.instance_id', '=', instanceId)
        .executeTakeFirst();
      return row && toConnection(row);
    },
    page: async (page, { integrationId, instanceId, configured }: ConnectionFilter) => {
      let query = withInstance().where(olderThan('connection', page));
      if (integrationId !== undefined) {
        query = query.where('connection.integration_id', '=', integrationId);
      }
      if (instanceId !== undefined) {
        query = query.where('connection.instance_id', '=', instanceId);
      }
      if (configured !== undefined) {
        query = query.where('connection.configured_at', configured ? 'is not' : 'is', null);
      }
      const rows = await query
        .orderBy('connection.created_at', 'desc')
        .orderBy('connection.id', 'desc')
        .limit(page.limit)
        .execute();
      return rows.map(toConnection);
    },
    insert: async (connection) => {
      await writer.insertInto('instance_integrations').values(toRow(connection)).execute();
    },
    update: async (connection) => {
      await writer
        .updateTable('instance_integrations')
        .set(toRow(connection))
        .where('id', '=', connection.id)
        .execute();
    },
    delete: async (id) => {
      await writer.deleteFrom('instance_integrations').where('id', '=', id).execute();
    },
  };
}

function toConnection(row: Row & { instance_name: string }): Connection {
  return {
    id: row.id as InstanceIntegrationId,
    integrationId: row.integration_id as IntegrationId,
    instanceId: row.instance_id as InstanceId,
    instanceName: row.instance_name,
    configuredAt: row.configured_at,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toRow(connection: Connection): Row {
  return {
    id: connection.id,
    integration_id: connection.integrationId,
    instance_id: connection.instanceId,
    configured_at: connection.configuredAt,
    version: connection.version,
    created_at: connection.createdAt,
    updated_at: connection.updatedAt,
  };
}
