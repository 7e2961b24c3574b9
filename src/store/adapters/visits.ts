import type { InstanceId } from '../../../generated/ids.js';
import type { FoundVisit, StoredApiKey, VisitStore } from '../../domain/access/visit-store.js';
import type { Database } from '../database.js';
import { keptQuery } from './kept-query.js';

interface VisitRow extends StoredApiKey {
  version: string | null;
  instanceId?: InstanceId | null;
  configuredAt?: number | null;
  clientId?: string | null;
}

export function visitStore({ reader, write }: Database): VisitStore {
  const keyByHash = (hash: string) =>
    reader
      .selectFrom('api_keys as key')
      .where('key.hash', '=', hash)
      .select([
        'key.id',
        'key.integration_id as integrationId',
        'key.expires_at as expiresAt',
        'key.revoked_at as revokedAt',
        'key.last_used_at as lastUsedAt',
      ]);

  const withConnection = (hash: string, id: string) =>
    keyByHash(hash)
      .leftJoin('instance_integrations as connection', (join) =>
        join.onRef('connection.integration_id', '=', 'key.integration_id').on('connection.id', '=', id),
      )
      .select(['connection.instance_id as instanceId', 'connection.configured_at as configuredAt']);

  const keys = keptQuery(reader, (hash: string) =>
    keyByHash(hash)
      .leftJoin('data_versions as data', 'data.subject_id', 'key.integration_id')
      .select('data.version'),
  );
  const connections = keptQuery(reader, (hash: string, id: string) =>
    withConnection(hash, id)
      .leftJoin('data_versions as data', 'data.subject_id', 'connection.instance_id')
      .select('data.version'),
  );
  const clients = keptQuery(reader, (hash: string, id: string, clientId: string) =>
    withConnection(hash, id)
      .leftJoin('clients as client', (join) =>
        join.onRef('client.instance_id', '=', 'connection.instance_id').on('client.id', '=', clientId),
      )
      // As a join, PostgreSQL 18.4 gives the version of a client that the join before it did not reach.
      .select((row) => [
        'client.id as clientId',
        row
          .selectFrom('data_versions')
          .whereRef('subject_id', '=', 'client.id')
          .select('version')
          .as('version'),
      ]),
  );

  return {
    findKey: async (hash) => toVisit(await keys(textOf(hash))),
    findConnection: async (hash, id) => toVisit(await connections(textOf(hash), id)),
    findClient: async (hash, id, clientId) => toVisit(await clients(textOf(hash), id, clientId)),

    markUsed: async (id, at, unlessSince) => {
      await write((writer) =>
        writer
          .updateTable('api_keys')
          .set({ last_used_at: at })
          .where('id', '=', id)
          .where((where) =>
            where.or([where('last_used_at', 'is', null), where('last_used_at', '<', unlessSince)]),
          )
          .execute(),
      );
    },
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
    ...(instanceId && { connection: { instanceId, configured: configuredAt !== null } }),
    ...(clientId && { client: clientId as FoundVisit['client'] }),
  };
}
