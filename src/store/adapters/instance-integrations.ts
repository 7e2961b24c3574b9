import type {
  InstanceIntegration,
  InstanceIntegrationStore,
} from '../../domain/directory/instance-integrations.js';
import type { Database } from '../database.js';

export function instanceIntegrationStore({ reader }: Database): InstanceIntegrationStore {
  return {
    listOf: (integrationId) =>
      reader
        .selectFrom('instance_integrations as connection')
        .innerJoin('instances', 'instances.id', 'connection.instance_id')
        .where('connection.integration_id', '=', integrationId)
        .orderBy('connection.created_at')
        .orderBy('connection.id')
        .select([
          'connection.id',
          'instances.id as instanceId',
          'instances.name as instanceName',
          'connection.created_at as createdAt',
          'connection.updated_at as updatedAt',
        ])
        .$castTo<InstanceIntegration>()
        .execute(),
  };
}
