import type { DemoCredentials, DemoSeed, DemoStore } from '../../domain/demo/seed.js';
import { newVersion } from '../../domain/version.js';
import { apiKeyHint } from '../../identifiers/api-key.js';
import { hashSecret } from '../../identifiers/secret-hash.js';
import type { Database, Writer } from '../database.js';

export function demoStore({ write }: Database): DemoStore {
  return {
    plant: (seed, credentials) =>
      write(async (writer) => {
        await plantDirectory(writer, seed);
        await plantCredentials(writer, seed, credentials);
      }),
  };
}

async function plantDirectory(
  writer: Writer,
  { createdAt, instances, integrations }: DemoSeed,
): Promise<void> {
  const times = { created_at: createdAt, updated_at: createdAt };
  await writer
    .insertInto('instances')
    .values(instances.map(({ id, name }) => ({ id, name, ...times })))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  await writer
    .insertInto('integrations')
    .values(integrations.map(({ id, name }) => ({ id, name, version: newVersion(), ...times })))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  const connections = integrations.flatMap(({ id, connections }) =>
    connections.map((connection, index) => ({
      id: connection.id,
      integration_id: id,
      instance_id: connection.instance,
      configured_at: connection.configured ? createdAt : null,
      created_at: createdAt + index,
      updated_at: createdAt + index,
    })),
  );
  await writer
    .insertInto('instance_integrations')
    .values(connections)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

async function plantCredentials(
  writer: Writer,
  { createdAt }: DemoSeed,
  credentials: DemoCredentials,
): Promise<void> {
  const lifetime = { created_at: createdAt, expires_at: null, revoked_at: null };
  const apiKeys = Object.entries(credentials.apiKeys).map(([integrationId, key]) => ({
    ...lifetime,
    ...identityOf('key', key),
    integration_id: integrationId,
    label: 'Demo key',
    hint: apiKeyHint(key),
    last_used_at: null,
  }));
  const tokens = Object.entries(credentials.serviceTokens).map(([kind, token]) => ({
    ...lifetime,
    ...identityOf('tok', token),
    kind: kind as 'operator' | 'platform',
    label: `Demo ${kind}`,
  }));
  await writer
    .insertInto('api_keys')
    .values(apiKeys)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  await writer
    .insertInto('service_tokens')
    .values(tokens)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** An id that follows from the secret makes planting repeatable. */
function identityOf(prefix: string, secret: string) {
  const hash = hashSecret(secret).toString('base64url');
  return { id: `${prefix}_${hashSecret(hash).toString('hex').slice(0, 22)}`, hash };
}
