import type {
  InstanceIntegration,
  InstanceIntegrationRows,
  Integration,
  IntegrationRows,
} from '../../../domain/operator/rows/integrations.js';
import { camelCased, type Writer } from '../../database.js';
import { newestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';

export function integrationRows(writer: Writer): IntegrationRows {
  const db = camelCased(writer);
  const { insert, update } = plainWrites(db, 'integrations');
  const integrations = () => db.selectFrom('integrations').selectAll().$narrowType<Pick<Integration, 'id'>>();
  return {
    find: (id) => integrations().where('id', '=', id).executeTakeFirst(),
    page: (page) => newestFirst(integrations(), 'integrations', page),
    insert,
    update,
  };
}

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
        .where(({ and }) => and({ integrationId, instanceId }))
        .executeTakeFirst(),
    page: (page, { integrationId, instanceId, configured }) => {
      const found = withInstance()
        .where(({ and }) => and({ integrationId, instanceId }))
        .$if(configured !== undefined, (query) =>
          query.where('configuredAt', configured ? 'is not' : 'is', null),
        );
      return newestFirst(found, 'instanceIntegration', page);
    },
    insert: ({ instanceName: _, ...instanceIntegration }) => writes.insert(instanceIntegration),
    update: ({ instanceName: _, ...instanceIntegration }) => writes.update(instanceIntegration),
    delete: writes.delete,
  };
}
