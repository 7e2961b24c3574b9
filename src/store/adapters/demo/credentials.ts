import type { DemoCredentials } from '../../../domain/demo/credentials.js';
import type { DemoSeed } from '../../../domain/demo/seed.js';
import { apiKeyHint } from '../../../identifiers/api-key.js';
import { storedHash } from '../../../identifiers/random-secrets.js';
import type { RecordKind } from '../../../identifiers/record-id.js';
import { hashSecret } from '../../../identifiers/secret-hash.js';
import type { ServiceTokenKind } from '../../../identifiers/service-token.js';
import type { Writer } from '../../database.js';
import { insert } from './insert.js';

/** Whatever they were before; what was revoked stays revoked. */
export async function plantCredentials(
  writer: Writer,
  { createdAt }: DemoSeed,
  { apiKeys, serviceTokens, clientSecrets }: DemoCredentials,
): Promise<void> {
  const unused = { created_at: createdAt, expires_at: null, last_used_at: null };
  const keys = Object.entries(apiKeys).map(([integrationId, key]) => ({
    ...unused,
    ...identityOf('key', key),
    revoked_at: null,
    integration_id: integrationId,
    label: 'Demo key',
    hint: apiKeyHint(key),
  }));
  const tokens = Object.entries(serviceTokens).map(([kind, token]) => ({
    ...unused,
    ...identityOf('tok', token),
    revoked_at: null,
    kind: kind as ServiceTokenKind,
    instance_id: null,
    owner_id: null,
    label: `Demo ${kind}`,
  }));
  const secrets = Object.entries(clientSecrets).map(([applicationId, secret]) => ({
    ...unused,
    ...identityOf('sec', secret),
    application_id: applicationId,
  }));
  await insert(writer, 'api_keys', keys);
  await insert(writer, 'service_tokens', tokens);
  await insert(writer, 'application_secrets', secrets);
}

/** An id that follows from the secret makes planting repeatable. */
function identityOf(kind: RecordKind, secret: string) {
  const hash = storedHash(secret);
  return { id: `${kind}_${hashSecret(hash).toString('hex').slice(0, 22)}`, hash };
}
