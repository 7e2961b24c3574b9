import type { InstanceId } from '../../../generated/ids.js';
import type { FoundVisit, StoredApiKey, VisitStore } from '../../domain/access/gatekeeper.js';
import type { ServiceTokenStore } from '../../domain/access/service-tokens.js';
import { camelCased, type Database, type Rows } from '../database.js';
import { keptQuery, statement } from './statements/kept-statement.js';

interface VisitRow extends StoredApiKey {
  version: string | null;
  instanceId?: InstanceId | null;
  configuredAt?: number | null;
  clientId?: string | null;
}

export function visitStore({ reader, write }: Database): VisitStore {
  const db = camelCased(reader);
  const keyByHash = (hash: string) =>
    db
      .selectFrom('apiKeys as key')
      .where('key.hash', '=', hash)
      .select(['key.id', 'key.integrationId', 'key.expiresAt', 'key.revokedAt', 'key.lastUsedAt']);

  const withInstanceIntegration = (hash: string, id: string) =>
    keyByHash(hash)
      .leftJoin('instanceIntegrations as instanceIntegration', (join) =>
        join
          .onRef('instanceIntegration.integrationId', '=', 'key.integrationId')
          .on('instanceIntegration.id', '=', id),
      )
      .select(['instanceIntegration.instanceId', 'instanceIntegration.configuredAt']);

  const keys = keptQuery(db, (hash: string) =>
    keyByHash(hash)
      .leftJoin('dataVersions as data', 'data.subjectId', 'key.integrationId')
      .select('data.version'),
  );
  const instanceIntegrations = keptQuery(db, (hash: string, id: string) =>
    withInstanceIntegration(hash, id)
      .leftJoin('dataVersions as data', 'data.subjectId', 'instanceIntegration.instanceId')
      .select('data.version'),
  );
  const clients = keptQuery(db, (hash: string, id: string, clientId: string) =>
    withInstanceIntegration(hash, id)
      .leftJoin('clients as client', (join) =>
        join.onRef('client.instanceId', '=', 'instanceIntegration.instanceId').on('client.id', '=', clientId),
      )
      // Not a join: with one, PostgreSQL 18.4 returns a version even where the join above finds no client.
      .select((row) => [
        'client.id as clientId',
        row
          .selectFrom('dataVersions')
          .whereRef('subjectId', '=', 'client.id')
          .select('version')
          .as('version'),
      ]),
  );

  return {
    findKey: async (hash) => toVisit(await keys(textOf(hash))),
    findInstanceIntegration: async (hash, id) => toVisit(await instanceIntegrations(textOf(hash), id)),
    findClient: async (hash, id, clientId) => toVisit(await clients(textOf(hash), id, clientId)),

    markUsed: (id, at, unlessSince) =>
      write((writer) => markUsed(camelCased(writer), 'apiKeys', { id, at, unlessSince })),
  };
}

function textOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('base64url');
}

function toVisit(rows: unknown[]): FoundVisit | undefined {
  const row = rows[0] as VisitRow | undefined;
  if (!row) {
    return undefined;
  }
  const { version, instanceId, configuredAt, clientId, ...key } = row;
  return {
    key,
    version: version ?? '',
    ...(instanceId && { instanceIntegration: { instanceId, configured: configuredAt !== null } }),
    ...(clientId && { client: clientId as FoundVisit['client'] }),
  };
}

export function serviceTokenStore({ reader, write }: Database): ServiceTokenStore {
  const db = camelCased(reader);
  const tokens = keptQuery(db, (hash: string) =>
    db
      .selectFrom('serviceTokens')
      .where('hash', '=', hash)
      .select(['id', 'kind', 'instanceId', 'ownerId', 'expiresAt', 'revokedAt', 'lastUsedAt'])
      .$narrowType<{ instanceId: InstanceId | null }>(),
  );
  return {
    findByHash: async (hash) => (await tokens(textOf(hash)))[0],
    markUsed: (id, at, unlessSince) =>
      write((writer) => markUsed(camelCased(writer), 'serviceTokens', { id, at, unlessSince })),
  };
}

interface Use {
  id: string;
  at: number;
  unlessSince: number;
}

const useOf = (table: 'apiKeys' | 'serviceTokens' | 'applicationSecrets') =>
  statement((db, { id, at, unlessSince }: Use) =>
    db
      .updateTable(table as 'apiKeys')
      .set({ lastUsedAt: at })
      .where('id', '=', id)
      .where((where) => where.or([where('lastUsedAt', 'is', null), where('lastUsedAt', '<', unlessSince)])),
  );

const uses = {
  apiKeys: useOf('apiKeys'),
  serviceTokens: useOf('serviceTokens'),
  applicationSecrets: useOf('applicationSecrets'),
};

/** Moves the last use of a credential to `at`, unless it is already `unlessSince` or later. */
export async function markUsed(db: Rows, table: keyof typeof uses, use: Use): Promise<void> {
  await uses[table](db, use);
}
