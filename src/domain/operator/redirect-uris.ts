import { ErrorCode, fieldRefusal, ServiceError } from '../../errors/service-error.js';
import { Violations } from '../platform/violations.js';
import { auditChange } from '../unit-of-work.js';
import { MAX_REDIRECT_URIS, validateRedirectUri } from './application-rules.js';
import { lockedApplication, renewed } from './applications.js';
import { requireInstance } from './integrations.js';
import type { Application, RedirectUri } from './rows/applications.js';
import type { OperatorChanges } from './unit-of-work.js';

/** What these rules use of a write. */
type Ports = Pick<OperatorChanges, 'actor' | 'applications' | 'audit' | 'instances' | 'lock' | 'now'>;

/** An address of an application belongs to one instance, which tells a sign-in its instance. */
export async function addRedirectUri(
  changes: Ports,
  applicationId: string,
  redirectUri: RedirectUri,
): Promise<Application> {
  const { uri, instanceId } = redirectUri;
  await changes.lock(instanceId);
  const present = await lockedApplication(changes, applicationId);
  const violations = new Violations();
  validateRedirectUri(violations, 'redirect_uri', redirectUri, present.type);
  violations.throwIfAny();
  await requireInstance(changes, instanceId, 'redirect_uri.instance_id');
  const registered = present.redirectUris.find((one) => one.uri === uri);
  if (registered?.instanceId === instanceId) {
    return present;
  }
  if (registered) {
    const message = 'The address is registered for another instance already.';
    const violation = `belongs to ${registered.instanceId}`;
    throw fieldRefusal(ErrorCode.ALREADY_EXISTS, message, 'redirect_uri.uri', violation);
  }
  if (present.redirectUris.length >= MAX_REDIRECT_URIS) {
    const message = `The application has ${MAX_REDIRECT_URIS} redirect URIs already. Remove one first.`;
    throw new ServiceError(ErrorCode.TRANSITION_REFUSED, message);
  }
  await changes.applications.insertRedirectUri(present.id, redirectUri);
  const application = await renewed(changes, present);
  await auditChange(changes, 'application.redirect_uri_added', present.id, { uri, instance_id: instanceId });
  return application;
}

export async function removeRedirectUri(
  changes: Ports,
  { applicationId, uri }: { applicationId: string; uri: string },
): Promise<Application> {
  const present = await lockedApplication(changes, applicationId);
  if (!present.redirectUris.some((one) => one.uri === uri)) {
    throw new ServiceError(ErrorCode.REDIRECT_URI_NOT_FOUND, 'The application has no such redirect URI.');
  }
  await changes.applications.deleteRedirectUri(present.id, uri);
  const application = await renewed(changes, present);
  await auditChange(changes, 'application.redirect_uri_removed', present.id, { uri });
  return application;
}
