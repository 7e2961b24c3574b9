import type {
  InstanceIntegration,
  InstanceIntegrationFilter,
  InstanceIntegrationRows,
} from '../../../domain/operator/rows/instance-integrations.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { olderThan } from './newest-first.js';

export function instanceIntegrationRows(writer: Writer): InstanceIntegrationRows {
  const db = camelCased(writer);
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
      let query = withInstance().where(olderThan('instanceIntegration', page));
      if (integrationId !== undefined) {
        query = query.where('instanceIntegration.integrationId', '=', integrationId);
      }
      if (instanceId !== undefined) {
        query = query.where('instanceIntegration.instanceId', '=', instanceId);
      }
      if (configured !== undefined) {
        query = query.where('instanceIntegration.configuredAt', configured ? 'is not' : 'is', null);
      }
      return query
        .orderBy('instanceIntegration.createdAt', 'desc')
        .orderBy('instanceIntegration.id', 'desc')
        .limit(page.limit)
        .execute();
    },
    insert: async ({ instanceName: _, ...instanceIntegration }) => {
      await db.insertInto('instanceIntegrations').values(instanceIntegration).execute();
    },
    update: async ({ instanceName: _, ...instanceIntegration }) => {
      await db
        .updateTable('instanceIntegrations')
        .set(instanceIntegration)
        .where('id', '=', instanceIntegration.id)
        .execute();
    },
    delete: async (id) => {
      await db.deleteFrom('instanceIntegrations').where('id', '=', id).execute();
    },
  };
}
