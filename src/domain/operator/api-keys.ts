import type { IntegrationId } from '../../../generated/ids.js';
import { ErrorCode, refused } from '../../errors/service-error.js';
import { apiKeyHint, newApiKey } from '../../identifiers/api-key.js';
import { hashSecret } from '../../identifiers/random-secrets.js';
import { newRecordId } from '../../identifiers/record-id.js';
import {
  assertExpectedVersion,
  changedFields,
  changesAnything,
  trimmed,
  type Update,
  updatedFields,
} from '../platform/changes.js';
import { Violations } from '../platform/violations.js';
import { auditChange, getterOf } from '../unit-of-work.js';
import { newVersion } from '../version.js';
import type { ActOn } from './audit-types.js';
import { getIntegration } from './integrations.js';
import { NOT_ROTATED, rotated, statusOf, UNUSED, validateExpiry, validateRotation } from './lifetime.js';
import type { ApiKey } from './rows/integrations.js';
import type { OperatorChanges } from './unit-of-work.js';

type Ports = Pick<OperatorChanges, 'actor' | 'apiKeys' | 'audit' | 'integrations' | 'lock' | 'now'>;

interface IssuedApiKey {
  apiKey: ApiKey;
  /** Shown only once. */
  key: string;
}

type Environment = 'live' | 'demo';

export async function createApiKey(
  changes: Ports,
  environment: Environment,
  { integrationId, label, expiresAt }: { integrationId: string; label: string; expiresAt?: number },
): Promise<IssuedApiKey> {
  validate({ label, expiresAt }, changes.now);
  await changes.lock(integrationId);
  const integration = await getIntegration(changes, integrationId);
  const issued = await issue(changes, environment, integration.id, label.trim(), expiresAt);
  await audit(changes, 'created', issued.apiKey);
  return issued;
}

export const getApiKey = getterOf('apiKeys', ErrorCode.API_KEY_NOT_FOUND, 'API key');

interface ApiKeyUpdate extends Update {
  apiKeyId: string;
  label?: string;
  expiresAt?: number;
}

export async function updateApiKey(changes: Ports, update: ApiKeyUpdate): Promise<ApiKey> {
  const fields = updatedFields(trimmed(update, 'label'), ['label'], ['expiresAt']);
  validate(fields, changes.now);
  const present = await lockedApiKey(changes, update.apiKeyId);
  assertExpectedVersion(present, update.expectedVersion);
  if (present.revokedAt !== null) {
    throw refused('The key is revoked, which is final.');
  }
  if (!changesAnything<ApiKey>(present, fields)) {
    return present;
  }
  const changed = { ...present, ...fields, ...rotationAfter(present, fields), version: newVersion() };
  await changes.apiKeys.update(changed);
  await audit(changes, 'updated', changed, changedFields(present, changed));
  return changed;
}

/** A rotated key whose end is put off or removed stays in use, with the lifetime that it gets by that. */
function rotationAfter(present: ApiKey, { expiresAt }: Partial<ApiKey>): Partial<ApiKey> {
  const isPutOff = expiresAt === null || (expiresAt ?? 0) > (present.expiresAt ?? Number.POSITIVE_INFINITY);
  return isPutOff ? NOT_ROTATED : {};
}

export async function rotateApiKey(
  changes: Ports,
  environment: Environment,
  { apiKeyId, overlapSeconds, expiresAt }: { apiKeyId: string; overlapSeconds?: number; expiresAt?: number },
): Promise<IssuedApiKey & { previous: ApiKey }> {
  validateRotation({ overlapSeconds, expiresAt }, changes.now);
  const present = await lockedApiKey(changes, apiKeyId);
  const status = statusOf(present, changes.now);
  if (status !== 'active') {
    throw refused(`The key is ${status}, so there is nothing to succeed. Create a new one.`);
  }
  const issued = await issue(changes, environment, present.integrationId, present.label, expiresAt);
  const previous = {
    ...present,
    ...rotated(present, changes.now, overlapSeconds),
    version: newVersion(),
  };
  await changes.apiKeys.update(previous);
  await audit(changes, 'rotated', present, { successor_id: issued.apiKey.id });
  await audit(changes, 'created', issued.apiKey, { predecessor_id: present.id });
  return { ...issued, previous };
}

/** Idempotent. */
export async function revokeApiKey(changes: Ports, id: string): Promise<ApiKey> {
  const present = await lockedApiKey(changes, id);
  if (present.revokedAt !== null) {
    return present;
  }
  const revoked = { ...present, revokedAt: changes.now, version: newVersion() };
  await changes.apiKeys.update(revoked);
  await audit(changes, 'revoked', revoked);
  return revoked;
}

async function issue(
  changes: Pick<OperatorChanges, 'apiKeys' | 'now'>,
  environment: Environment,
  integrationId: IntegrationId,
  label: string,
  expiresAt: number | undefined,
): Promise<IssuedApiKey> {
  const key = newApiKey(environment);
  const apiKey: ApiKey = {
    id: newRecordId('key'),
    integrationId,
    label,
    hint: apiKeyHint(key),
    version: newVersion(),
    createdAt: changes.now,
    expiresAt: expiresAt ?? null,
    ...UNUSED,
  };
  await changes.apiKeys.insert(apiKey, hashSecret(key));
  return { apiKey, key };
}

async function lockedApiKey(changes: Pick<OperatorChanges, 'apiKeys' | 'lock'>, id: string): Promise<ApiKey> {
  await changes.lock((await getApiKey(changes, id)).integrationId);
  return getApiKey(changes, id);
}

function audit(
  changes: Pick<OperatorChanges, 'actor' | 'audit'>,
  what: ActOn<'api_key'>,
  { id, integrationId }: ApiKey,
  more = {},
) {
  return auditChange(changes, `api_key.${what}`, id, { integration_id: integrationId, ...more });
}

function validate({ label, expiresAt }: { label?: string; expiresAt?: number | null }, now: number): void {
  const violations = new Violations();
  violations.givenText('label', label);
  validateExpiry(violations, expiresAt, now);
  violations.throwIfAny();
}
