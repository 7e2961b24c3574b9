import type {
  InstanceIntegration,
  InstanceIntegrationStore,
} from '../../domain/directory/instance-integrations.js';
import { camelCased } from '../camel-case.js';
import type { Database } from '../database.js';

export function instanceIntegrationStore({ reader }: Database): InstanceIntegrationStore {
  return {
    listOf: (integrationId) =>
      camelCased(reader)
        .selectFrom('instanceIntegrations as instanceIntegration')
        .innerJoin('instances', 'instances.id', 'instanceIntegration.instanceId')
        .where('instanceIntegration.integrationId', '=', integrationId)
        .orderBy('instanceIntegration.createdAt')
        .orderBy('instanceIntegration.id')
        .select([
          'instanceIntegration.id',
          'instances.id as instanceId',
          'instances.name as instanceName',
          'instanceIntegration.createdAt',
          'instanceIntegration.updatedAt',
        ])
        .$narrowType<Pick<InstanceIntegration, 'id' | 'instanceId'>>()
        .execute(),
  };
}
