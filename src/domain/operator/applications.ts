import type { ApplicationId } from '../../../generated/ids.js';
import { ErrorCode, fieldRefusal, refused, ServiceError } from '../../errors/service-error.js';
import { newClientSecret } from '../../identifiers/client-secret.js';
import { newPublicId } from '../../identifiers/public-id.js';
import { hashSecret } from '../../identifiers/random-secrets.js';
import { newRecordId } from '../../identifiers/record-id.js';
import { assertExpectedVersion, changedFields, type Update, writeChanged } from '../platform/changes.js';
import { Violations } from '../platform/violations.js';
import { auditChange, getterOf } from '../unit-of-work.js';
import { madeAt, newVersion } from '../version.js';
import {
  type ApplicationFields,
  chosenSettings,
  DEFAULT_SETTINGS,
  MAX_REDIRECT_URIS,
  storedSettings,
  validateFields,
  validateLinks,
  validateRedirectUri,
  validateRedirectUris,
} from './application-rules.js';
import type { ActOn } from './audit-types.js';
import { requireInstance } from './integrations.js';
import { letEnd, validateRotation } from './lifetime.js';
import type { Application, ApplicationSecret, ApplicationType, RedirectUri } from './rows/applications.js';
import type { OperatorChanges } from './unit-of-work.js';

type Ports = Pick<OperatorChanges, 'actor' | 'applications' | 'audit' | 'instances' | 'lock' | 'now'>;

/** Each valid secret is one more that may leak. */
const MAX_SECRETS = 10;

export interface ApplicationCreation extends ApplicationFields {
  name: string;
  type: ApplicationType | undefined;
  redirectUris: readonly RedirectUri[];
  firstParty: boolean;
}

export async function createApplication(
  changes: Ports,
  environment: 'live' | 'demo',
  creation: ApplicationCreation,
): Promise<{ application: Application; clientSecret: string | undefined }> {
  const type = checkedType(creation, environment);
  const redirectUris: RedirectUri[] = [];
  await changes.lock(...new Set(creation.redirectUris.map(({ instanceId }) => instanceId).sort()));
  for (const [index, { uri, instanceId }] of creation.redirectUris.entries()) {
    const instance = await requireInstance(changes, instanceId, `redirect_uris[${index}].instance_id`);
    redirectUris.push({ uri, instanceId: instance.id });
  }
  const application: Application = {
    id: newPublicId('ApplicationId'),
    type,
    enabled: true,
    name: creation.name.trim(),
    firstParty: creation.firstParty,
    ...DEFAULT_SETTINGS,
    ...storedSettings(chosenSettings(creation)),
    redirectUris,
    secrets: [],
    ...madeAt(changes.now),
  };
  await changes.applications.insert(application);
  await auditChange(changes, 'application.created', application.id);
  if (type === 'public') {
    return { application, clientSecret: undefined };
  }
  const { secret, clientSecret } = await newSecret(changes, environment, application.id);
  return { application: { ...application, secrets: [secret] }, clientSecret };
}

export const getApplication = getterOf('applications', ErrorCode.APPLICATION_NOT_FOUND, 'application');

interface ApplicationUpdate extends ApplicationFields, Update {
  applicationId: string;
}

export async function updateApplication(
  changes: Ports,
  update: ApplicationUpdate,
  environment: 'live' | 'demo' = 'live',
): Promise<Application> {
  const chosen = chosenSettings(update);
  const present = await lockedApplication(changes, update.applicationId);
  const violations = new Violations();
  validateFields(violations, present.type, chosen);
  validateLinks(violations, environment, chosen);
  violations.throwIfAny();
  assertExpectedVersion(present, update.expectedVersion);
  return writeApplication(changes, 'updated', present, storedSettings(chosen));
}

export async function setApplicationEnabled(
  changes: Ports,
  id: string,
  enabled: boolean,
): Promise<Application> {
  const present = await lockedApplication(changes, id);
  return writeApplication(changes, enabled ? 'enabled' : 'disabled', present, { enabled });
}

async function lockedApplication(
  changes: Pick<OperatorChanges, 'applications' | 'lock'>,
  id: string,
): Promise<Application> {
  await changes.lock(id);
  return getApplication(changes, id);
}

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
    throw refused(`The application has ${MAX_REDIRECT_URIS} redirect URIs already. Remove one first.`);
  }
  await changes.applications.insertRedirectUri(present.id, redirectUri);
  return renewed(changes, 'redirect_uri_added', present, { uri, instance_id: instanceId });
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
  return renewed(changes, 'redirect_uri_removed', present, { uri });
}

/** Removes expired secrets; valid ones end after the overlap. */
export async function rotateSecret(
  changes: Ports,
  environment: 'live' | 'demo',
  { applicationId, overlapSeconds }: { applicationId: string; overlapSeconds?: number },
): Promise<{ application: Application; clientSecret: string }> {
  validateRotation({ overlapSeconds }, changes.now);
  const present = await lockedApplication(changes, applicationId);
  if (present.type === 'public') {
    throw refused('A public application has no secret.');
  }
  await letEnd(changes.applications, present.secrets, [changes.now, overlapSeconds], {
    most: MAX_SECRETS,
    message: `The application has ${MAX_SECRETS} secrets that work. Revoke one first.`,
  });
  const { secret, clientSecret } = await newSecret(changes, environment, present.id);
  const application = await renewed(changes, 'secret_rotated', present, { secret_id: secret.id });
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
  return renewed(changes, 'secret_revoked', present, { secret_id: secretId });
}

/** After a change of its parts: a new version and an audit event. */
async function renewed(
  changes: Ports,
  what: ActOn<'application'>,
  present: Application,
  attributes: Record<string, string>,
): Promise<Application> {
  await changes.applications.update({ ...present, version: newVersion(), updatedAt: changes.now });
  await auditChange(changes, `application.${what}`, present.id, attributes);
  return getApplication(changes, present.id);
}

/** Writes changed fields with a new version and an audit event. */
async function writeApplication(
  changes: Ports,
  what: ActOn<'application'>,
  present: Application,
  fields: Partial<Application>,
): Promise<Application> {
  return writeChanged(present, fields, changes.now, async (changed) => {
    await changes.applications.update(changed);
    await auditChange(changes, `application.${what}`, changed.id, changedFields(present, changed));
  });
}

/** Reports all faults that are visible without the database. */
function checkedType(creation: ApplicationCreation, environment: 'live' | 'demo'): ApplicationType {
  const violations = new Violations();
  const { type = 'public' } = creation;
  if (creation.type === undefined) {
    violations.add('type', 'must be confidential or public');
  }
  validateFields(violations, type, creation);
  validateLinks(violations, environment, creation);
  validateRedirectUris(violations, creation.redirectUris, type);
  violations.throwIfAny();
  return type;
}

async function newSecret(
  changes: Pick<OperatorChanges, 'applications' | 'now'>,
  environment: 'live' | 'demo',
  applicationId: ApplicationId,
): Promise<{ secret: ApplicationSecret; clientSecret: string }> {
  const clientSecret = newClientSecret(environment);
  const secret = { id: newRecordId('sec'), createdAt: changes.now, expiresAt: null, lastUsedAt: null };
  await changes.applications.insertSecret(applicationId, secret, hashSecret(clientSecret));
  return { secret, clientSecret };
}
