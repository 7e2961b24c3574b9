import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { Violations } from '../platform/violations.js';
import { auditChange } from '../unit-of-work.js';
import { lockedApplication, newSecret, renewed } from './applications.js';
import { letEnd, validateOverlap } from './lifetime.js';
import type { Application } from './rows/applications.js';
import type { OperatorChanges } from './unit-of-work.js';

/** What these rules use of a write. */
type Ports = Pick<OperatorChanges, 'actor' | 'applications' | 'audit' | 'lock' | 'now'>;

/** Each valid secret is one more that may leak. */
const MAX_SECRETS = 10;

/** Removes expired secrets; valid ones end after the overlap. */
export async function rotateSecret(
  changes: Ports,
  environment: 'live' | 'demo',
  { applicationId, overlapSeconds }: { applicationId: string; overlapSeconds?: number },
): Promise<{ application: Application; clientSecret: string }> {
  const violations = new Violations();
  validateOverlap(violations, overlapSeconds);
  violations.throwIfAny();
  const present = await lockedApplication(changes, applicationId);
  if (present.type === 'public') {
    throw new ServiceError(ErrorCode.TRANSITION_REFUSED, 'A public application has no secret.');
  }
  await letEnd(changes.applications, present.secrets, [changes.now, overlapSeconds], {
    most: MAX_SECRETS,
    message: `The application has ${MAX_SECRETS} secrets that work. Revoke one first.`,
  });
  const { secret, clientSecret } = await newSecret(changes, environment, present.id);
  const application = await renewed(changes, present);
  await auditChange(changes, 'application.secret_rotated', present.id, { secret_id: secret.id });
  return { application, clientSecret };
}

export async function revokeSecret(
  changes: Ports,
  { applicationId, secretId }: { applicationId: string; secretId: string },
): Promise<Application> {
  const present = await lockedApplication(changes, applicationId);
  if (!present.secrets.some(({ id }) => id === secretId)) {
    throw new ServiceError(ErrorCode.APPLICATION_SECRET_NOT_FOUND, 'The application has no such secret.');
  }
  await changes.applications.deleteSecret(secretId);
  const application = await renewed(changes, present);
  await auditChange(changes, 'application.secret_revoked', present.id, { secret_id: secretId });
  return application;
}
