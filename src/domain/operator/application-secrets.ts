import type { ApplicationId } from '../../../generated/ids.js';
import { newClientSecret } from '../../identifiers/client-secret.js';
import { newRecordId } from '../../identifiers/record-id.js';
import { hashSecret } from '../../identifiers/secret-hash.js';
import type { OperatorChanges } from './unit-of-work.js';

/** How a confidential application proves who it is; the secret itself is not among it. */
export interface ApplicationSecret {
  id: string;
  createdAt: number;
  /** Null until a rotation sets it. */
  expiresAt: number | null;
  lastUsedAt: number | null;
}

export interface SecretRows {
  insertSecret(id: ApplicationId, secret: ApplicationSecret, hash: Uint8Array): Promise<void>;
  setSecretExpiry(secretId: string, expiresAt: number): Promise<void>;
  deleteSecret(secretId: string): Promise<void>;
}

export async function newSecret(
  changes: OperatorChanges,
  environment: 'live' | 'demo',
  applicationId: ApplicationId,
): Promise<{ secret: ApplicationSecret; clientSecret: string }> {
  const clientSecret = newClientSecret(environment);
  const secret = { id: newRecordId('sec'), createdAt: changes.now, expiresAt: null, lastUsedAt: null };
  await changes.applications.insertSecret(applicationId, secret, hashSecret(clientSecret));
  return { secret, clientSecret };
}
