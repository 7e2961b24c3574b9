import type {
  ApiKey,
  ApiKeyRows,
  InstanceIntegration,
  InstanceIntegrationRows,
  Integration,
  IntegrationRows,
} from '../../../domain/operator/rows/integrations.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { newestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';
import { inStatus } from './key-status.js';

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

export function apiKeyRows(writer: Writer): ApiKeyRows {
  const db = camelCased(writer);
  const writes = plainWrites(db, 'apiKeys');
  const apiKeys = () =>
    db
      .selectFrom('apiKeys')
      .select(['id', 'integrationId', 'label', 'hint', 'version'])
      .select(['createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'])
      .$narrowType<Pick<ApiKey, 'integrationId'>>();
  return {
    find: (id) => apiKeys().where('id', '=', id).executeTakeFirst(),
    page: (page, { integrationId, status, now }) => {
      const found = apiKeys().where(({ and }) => and({ integrationId }));
      return newestFirst(found.where(inStatus(status, now)), 'api_keys', page);
    },
    insert: (apiKey, hash) => writes.insert({ ...apiKey, hash: Buffer.from(hash).toString('base64url') }),
    update: ({ id, label, version, expiresAt, revokedAt }) =>
      writes.update({ id, label, version, expiresAt, revokedAt }),
  };
}
