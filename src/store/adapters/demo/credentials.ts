import type { DemoCredentials, DemoSeed } from '../../../domain/demo/seed.js';
import { newVersion } from '../../../domain/version.js';
import { apiKeyHint } from '../../../identifiers/api-key.js';
import { hashSecret, storedHash } from '../../../identifiers/random-secrets.js';
import type { RecordKind } from '../../../identifiers/record-id.js';
import type { ServiceTokenKind } from '../../../identifiers/service-token.js';
import type { Writer } from '../../database.js';
import { insert } from './insert.js';

/** Existing credentials stay as they are: revoked ones stay revoked. */
export async function seedCredentials(
  writer: Writer,
  { createdAt }: DemoSeed,
  { apiKeys, serviceTokens, clientSecrets }: DemoCredentials,
): Promise<void> {
  const unused = { createdAt, expiresAt: null, lastUsedAt: null };
  const keys = Object.entries(apiKeys).map(([integrationId, key]) => ({
    ...unused,
    ...identityOf('key', key),
    revokedAt: null,
    version: newVersion(),
    integrationId,
    label: 'Demo key',
    hint: apiKeyHint(key),
  }));
  const tokens = Object.entries(serviceTokens).map(([kind, token]) => ({
    ...unused,
    ...identityOf('tok', token),
    revokedAt: null,
    kind: kind as ServiceTokenKind,
    instanceId: null,
    ownerId: null,
    label: `Demo ${kind}`,
  }));
  const secrets = Object.entries(clientSecrets).map(([applicationId, secret]) => ({
    ...unused,
    ...identityOf('sec', secret),
    applicationId,
  }));
  await insert(writer, 'apiKeys', keys);
  await insert(writer, 'serviceTokens', tokens);
  await insert(writer, 'applicationSecrets', secrets);
}

/** The id is derived from the secret, so that a repeated insert finds the row. */
function identityOf(kind: RecordKind, secret: string) {
  const hash = storedHash(secret);
  return { id: `${kind}_${hashSecret(hash).toString('hex').slice(0, 22)}`, hash };
}
