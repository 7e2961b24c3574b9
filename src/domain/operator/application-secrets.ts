import type { ApplicationId } from '../../../generated/ids.js';
import { newClientSecret } from '../../identifiers/client-secret.js';
import { hashSecret } from '../../identifiers/random-secrets.js';
import { newRecordId } from '../../identifiers/record-id.js';
import type { ApplicationSecret } from './rows/application-secrets.js';
import type { OperatorChanges } from './unit-of-work.js';

export async function newSecret(
  changes: Pick<OperatorChanges, 'applications' | 'now'>,
  environment: 'live' | 'demo',
  applicationId: ApplicationId,
): Promise<{ secret: ApplicationSecret; clientSecret: string }> {
  const clientSecret = newClientSecret(environment);
  const secret = { id: newRecordId('sec'), createdAt: changes.now, expiresAt: null, lastUsedAt: null };
  await changes.applications.insertSecret(applicationId, secret, hashSecret(clientSecret));
  return { secret, clientSecret };
}
