import type {
  InstanceIntegration,
  InstanceIntegrationFilter,
  InstanceIntegrationRows,
} from '../../../domain/operator/rows/instance-integrations.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { newestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';

export function instanceIntegrationRows(writer: Writer): InstanceIntegrationRows {
  const db = camelCased(writer);
  const writes = plainWrites(db, 'instanceIntegrations');
  const withInstance = () =>
    db
      .selectFrom('instanceIntegrations as instanceIntegration')
      .innerJoin('instances', 'instances.id', 'instanceIntegration.instanceId')
      .selectAll('instanceIntegration')
      .select('instances.name as instanceName')
      .$narrowType<Pick<InstanceIntegration, 'id' | 'integrationId' | 'instanceId'>>();
  return {
    find: (id) => withInstance().where('instanceIntegration.id', '=', id).executeTakeFirst(),
    findPair: (integrationId, instanceId) =>
      withInstance()
        .where('instanceIntegration.integrationId', '=', integrationId)
        .where('instanceIntegration.instanceId', '=', instanceId)
        .executeTakeFirst(),
    page: async (page, { integrationId, instanceId, configured }: InstanceIntegrationFilter) => {
      let query = withInstance();
      if (integrationId !== undefined) {
        query = query.where('instanceIntegration.integrationId', '=', integrationId);
      }
      if (instanceId !== undefined) {
        query = query.where('instanceIntegration.instanceId', '=', instanceId);
      }
      if (configured !== undefined) {
        query = query.where('instanceIntegration.configuredAt', configured ? 'is not' : 'is', null);
      }
      return newestFirst(query, 'instanceIntegration', page);
    },
    insert: ({ instanceName: _, ...instanceIntegration }) => writes.insert(instanceIntegration),
    update: ({ instanceName: _, ...instanceIntegration }) => writes.update(instanceIntegration),
    delete: writes.delete,
  };
}
