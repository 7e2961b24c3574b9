import type { ApplicationId } from '../../../generated/ids.js';
import { ErrorCode, existing } from '../../errors/service-error.js';
import { newClientSecret } from '../../identifiers/client-secret.js';
import { newPublicId } from '../../identifiers/public-id.js';
import { hashSecret } from '../../identifiers/random-secrets.js';
import { newRecordId } from '../../identifiers/record-id.js';
import { assertExpectedVersion, changedFields, type Update, writeChanged } from '../platform/changes.js';
import { Violations } from '../platform/violations.js';
import { auditChange } from '../unit-of-work.js';
import { madeAt, newVersion } from '../version.js';
import {
  type ApplicationFields,
  chosenSettings,
  DEFAULT_SETTINGS,
  NO_LINKS,
  storedSettings,
  validateFields,
  validateLinks,
  validateRedirectUris,
} from './application-rules.js';
import { requireInstance } from './integrations.js';
import type { Application, ApplicationSecret, ApplicationType, RedirectUri } from './rows/applications.js';
import type { OperatorChanges, OperatorRows } from './unit-of-work.js';

/** What these rules use of a write. */
type Ports = Pick<OperatorChanges, 'actor' | 'applications' | 'audit' | 'instances' | 'lock' | 'now'>;

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
    ...storedSettings(NO_LINKS, chosenSettings(creation)),
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

export async function getApplication(
  rows: Pick<OperatorRows, 'applications'>,
  id: string,
): Promise<Application> {
  return existing(await rows.applications.find(id), ErrorCode.APPLICATION_NOT_FOUND, 'application');
}

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
  return writeApplication(changes, 'updated', present, storedSettings(present.links, chosen));
}

export async function setApplicationEnabled(
  changes: Ports,
  id: string,
  enabled: boolean,
): Promise<Application> {
  const present = await lockedApplication(changes, id);
  return writeApplication(changes, enabled ? 'enabled' : 'disabled', present, { enabled });
}

export async function lockedApplication(
  changes: Pick<OperatorChanges, 'applications' | 'lock'>,
  id: string,
): Promise<Application> {
  await changes.lock(id);
  return getApplication(changes, id);
}

/** With the links by their own names, as callers know them. */
function flattened({ links, ...application }: Application) {
  return { ...application, ...links };
}

/** Writes changed fields with a new version and an audit event. */
async function writeApplication(
  changes: Ports,
  what: string,
  present: Application,
  fields: Partial<Application>,
): Promise<Application> {
  return writeChanged(present, fields, changes.now, async (changed) => {
    await changes.applications.update(changed);
    const attributes = changedFields(flattened(present), flattened(changed));
    await auditChange(changes, `application.${what}`, changed.id, attributes);
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

/** The application with a new version and its present parts. */
export async function renewed(
  changes: Pick<OperatorChanges, 'applications' | 'now'>,
  present: Application,
): Promise<Application> {
  await changes.applications.update({ ...present, version: newVersion(), updatedAt: changes.now });
  return getApplication(changes, present.id);
}

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
