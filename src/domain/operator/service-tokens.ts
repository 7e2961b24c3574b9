import { ErrorCode, refused } from '../../errors/service-error.js';
import { hashSecret } from '../../identifiers/random-secrets.js';
import { newRecordId } from '../../identifiers/record-id.js';
import {
  newServiceToken,
  SERVICE_TOKEN_KINDS,
  type ServiceTokenKind,
} from '../../identifiers/service-token.js';
import { LATEST_MS } from '../clock.js';
import { MAX_NAME_LENGTH, Violations } from '../platform/violations.js';
import { auditChange, getterOf } from '../unit-of-work.js';
import type { ActOn } from './audit-types.js';
import { requireInstance } from './integrations.js';
import { intendedEnd, rotated, statusOf, UNUSED, validateExpiry, validateRotation } from './lifetime.js';
import type { ServiceToken } from './rows/service-tokens.js';
import type { OperatorChanges } from './unit-of-work.js';

type Ports = Pick<OperatorChanges, 'actor' | 'audit' | 'instances' | 'lock' | 'now' | 'serviceTokens'>;

export interface IssuedServiceToken {
  serviceToken: ServiceToken;
  /** Shown only once. */
  token: string;
}

interface ServiceTokenCreation {
  kind: ServiceTokenKind | undefined;
  label: string;
  expiresAt?: number;
  instanceId?: string;
}

interface ServiceTokenRotation {
  serviceTokenId: string;
  overlapSeconds?: number;
  expiresAt?: number;
}

/** Serializes changes of operator tokens, so that concurrent revocations cannot end them all. */
const OPERATOR_TOKENS = 'operator-tokens';

export async function createServiceToken(
  changes: Ports,
  environment: 'live' | 'demo',
  { kind, label, expiresAt, instanceId }: ServiceTokenCreation,
): Promise<IssuedServiceToken> {
  const violations = new Violations();
  if (kind === undefined) {
    violations.add('role', `must be one of ${SERVICE_TOKEN_KINDS.join(', ')}`);
  }
  violations.requiredText('label', label, MAX_NAME_LENGTH);
  validateExpiry(violations, expiresAt, changes.now);
  if (instanceId !== undefined && kind !== 'platform') {
    violations.add('instance_id', 'is for platform tokens only');
  }
  violations.throwIfAny();
  const instance =
    instanceId === undefined ? undefined : await requireInstance(changes, instanceId, 'instance_id');
  const checkedKind = kind as ServiceTokenKind;
  const token = newServiceToken(checkedKind, environment);
  const serviceToken: ServiceToken = {
    id: newRecordId('tok'),
    kind: checkedKind,
    instanceId: instance?.id ?? null,
    ownerId: null,
    label: label.trim(),
    createdAt: changes.now,
    expiresAt: expiresAt ?? null,
    ...UNUSED,
  };
  await changes.serviceTokens.insert(serviceToken, hashSecret(token));
  await audit(changes, 'created', serviceToken);
  return { serviceToken, token };
}

/** Both are valid during the overlap. The successor inherits everything, including its lifetime. */
export async function rotateServiceToken(
  changes: Ports,
  environment: 'live' | 'demo',
  { serviceTokenId, overlapSeconds, expiresAt }: ServiceTokenRotation,
): Promise<IssuedServiceToken & { previous: ServiceToken }> {
  validateRotation({ overlapSeconds, expiresAt }, changes.now);
  await changes.lock(OPERATOR_TOKENS);
  const present = await getServiceToken(changes, serviceTokenId);
  const status = statusOf(present, changes.now);
  if (status !== 'active') {
    throw refused(`The token is ${status}, so there is nothing to succeed. Create a new one.`);
  }
  const token = newServiceToken(present.kind, environment);
  const serviceToken: ServiceToken = {
    ...present,
    id: newRecordId('tok'),
    ownerId: present.ownerId ?? present.id,
    createdAt: changes.now,
    expiresAt: expiresAt ?? endOfEqualLife(present, changes.now),
    ...UNUSED,
  };
  await changes.serviceTokens.insert(serviceToken, hashSecret(token));
  const rotation = rotated(present, changes.now, overlapSeconds);
  await changes.serviceTokens.rotate(present.id, rotation);
  await audit(changes, 'rotated', present, { successor_id: serviceToken.id });
  await audit(changes, 'created', serviceToken, { predecessor_id: present.id });
  return { serviceToken, token, previous: { ...present, ...rotation } };
}

/** The rotation of an expiring token must not make it permanent. */
function endOfEqualLife(present: ServiceToken, now: number): number | null {
  const end = intendedEnd(present);
  return end === null ? null : Math.min(now + end - present.createdAt, LATEST_MS);
}

/**
 * The first token, or a new one while none works. With `replacesUnused`, also while only one works that was
 * never used: its output may be lost, so it is revoked.
 */
export async function createFirstOperatorToken(
  changes: Ports,
  environment: 'live' | 'demo',
  { expiresAt, replacesUnused = false }: { expiresAt?: number; replacesUnused?: boolean } = {},
): Promise<IssuedServiceToken & { lost: ServiceToken | undefined }> {
  await changes.lock(OPERATOR_TOKENS);
  const [present, other] = await changes.serviceTokens.someActive('operator', changes.now);
  const mayReplace = replacesUnused && other === undefined && present?.lastUsedAt === null;
  if (present && !mayReplace) {
    const message = replacesUnused
      ? 'The working operator token has been used, or there are several.'
      : 'There already is a working operator token.';
    throw refused(message);
  }
  const creation = { kind: 'operator', label: 'First operator', expiresAt } as const;
  const issued = await createServiceToken(changes, environment, creation);
  // Last: the only operator token cannot be revoked.
  return { ...issued, lost: present && (await revokeServiceToken(changes, present.id)) };
}

const getServiceToken = getterOf('serviceTokens', ErrorCode.SERVICE_TOKEN_NOT_FOUND, 'service token');

/** Idempotent. The last operator token cannot be revoked, because it is needed to make others. */
export async function revokeServiceToken(changes: Ports, id: string): Promise<ServiceToken> {
  await changes.lock(OPERATOR_TOKENS);
  const present = await getServiceToken(changes, id);
  if (present.revokedAt !== null) {
    return present;
  }
  const works = present.kind === 'operator' && statusOf(present, changes.now) === 'active';
  if (works && (await changes.serviceTokens.someActive('operator', changes.now)).length === 1) {
    throw refused('This is the last operator token that works. Create another one first.');
  }
  await changes.serviceTokens.revoke(id, changes.now);
  const revoked = { ...present, revokedAt: changes.now };
  await audit(changes, 'revoked', revoked);
  return revoked;
}

function audit(
  changes: Pick<OperatorChanges, 'actor' | 'audit'>,
  what: ActOn<'service_token'>,
  { id, kind, instanceId }: ServiceToken,
  more = {},
) {
  const attributes = { role: kind, ...(instanceId && { instance_id: instanceId }), ...more };
  return auditChange(changes, `service_token.${what}`, id, attributes);
}
