import type { InstanceId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { newRecordId } from '../../identifiers/record-id.js';
import { hashSecret } from '../../identifiers/secret-hash.js';
import {
  newServiceToken,
  type ServiceTokenKind,
  serviceTokenKinds,
} from '../../identifiers/service-token.js';
import type { PageRequest } from '../directory/page.js';
import { MAX_NAME_LENGTH, Violations } from '../platform/violations.js';
import { requireInstance } from './instances.js';
import { endOfOverlap, type KeyStatus, statusOf, validateExpiry, validateOverlap } from './lifetime.js';
import type { OperatorChanges, OperatorRows } from './unit-of-work.js';

/** What the store keeps of a service token; the token itself is not part of it. */
export interface ServiceToken {
  id: string;
  kind: ServiceTokenKind;
  /** The one instance that a platform token reaches; null for all. */
  instanceId: InstanceId | null;
  /** The first token of its line of succession, whose idempotency keys are its own; null in that one itself. */
  ownerId: string | null;
  label: string;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
}

export interface ServiceTokenRows {
  find(id: string): Promise<ServiceToken | undefined>;
  /** Newest first; the status is as of `now`. */
  page(page: PageRequest, filter: { status?: KeyStatus; now: number }): Promise<ServiceToken[]>;
  /** How many of a kind work at that time. */
  countActive(kind: ServiceTokenKind, now: number): Promise<number>;
  insert(token: ServiceToken, hash: Uint8Array): Promise<void>;
  revoke(id: string, at: number): Promise<void>;
  expire(id: string, at: number): Promise<void>;
}

export interface IssuedServiceToken {
  serviceToken: ServiceToken;
  /** Shown this once. */
  token: string;
}

export interface ServiceTokenCreation {
  kind: ServiceTokenKind | undefined;
  label: string;
  expiresAt?: number;
  instanceId?: string;
}

export interface ServiceTokenRotation {
  serviceTokenId: string;
  overlapSeconds?: number;
  expiresAt?: number;
}

/** Whoever counts or adds operator tokens holds this, so that two who revoke at once cannot leave none. */
const OPERATOR_TOKENS = 'operator-tokens';

export async function createServiceToken(
  changes: OperatorChanges,
  environment: 'live' | 'demo',
  { kind, label, expiresAt, instanceId }: ServiceTokenCreation,
): Promise<IssuedServiceToken> {
  const violations = new Violations();
  if (kind === undefined) {
    violations.add('role', `must be one of ${serviceTokenKinds.join(', ')}`);
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
    revokedAt: null,
    lastUsedAt: null,
  };
  await changes.serviceTokens.insert(serviceToken, hashSecret(token));
  await record(changes, 'created', serviceToken);
  return { serviceToken, token };
}

/** Both work during the overlap. The successor has role, label, instance, idempotency keys and length of life of the present one. */
export async function rotateServiceToken(
  changes: OperatorChanges,
  environment: 'live' | 'demo',
  { serviceTokenId, overlapSeconds, expiresAt }: ServiceTokenRotation,
): Promise<IssuedServiceToken & { previous: ServiceToken }> {
  const violations = new Violations();
  validateExpiry(violations, expiresAt, changes.now);
  validateOverlap(violations, overlapSeconds);
  violations.throwIfAny();
  await changes.lock(OPERATOR_TOKENS);
  const present = await getServiceToken(changes, serviceTokenId);
  const status = statusOf(present, changes.now);
  if (status !== 'active') {
    const message = `The token is ${status}, so there is nothing to succeed. Create a new one.`;
    throw new ServiceError(ErrorCode.TRANSITION_REFUSED, message);
  }
  const token = newServiceToken(present.kind, environment);
  const serviceToken: ServiceToken = {
    ...present,
    id: newRecordId('tok'),
    ownerId: present.ownerId ?? present.id,
    createdAt: changes.now,
    expiresAt: expiresAt ?? endOfEqualLife(present, changes.now),
    lastUsedAt: null,
  };
  await changes.serviceTokens.insert(serviceToken, hashSecret(token));
  const endsAt = endOfOverlap(present.expiresAt, changes.now, overlapSeconds);
  await changes.serviceTokens.expire(present.id, endsAt);
  await record(changes, 'rotated', present, { successor_id: serviceToken.id });
  return { serviceToken, token, previous: { ...present, expiresAt: endsAt } };
}

/** A token that was meant to end is not made to last for ever by its rotation. */
function endOfEqualLife({ createdAt, expiresAt }: ServiceToken, now: number): number | null {
  return expiresAt === null ? null : now + expiresAt - createdAt;
}

/** The token with which everything begins, or begins again when all others have ended: only where none works. */
export async function createFirstOperatorToken(
  changes: OperatorChanges,
  environment: 'live' | 'demo',
  expiresAt?: number,
): Promise<IssuedServiceToken> {
  await changes.lock(OPERATOR_TOKENS);
  if ((await changes.serviceTokens.countActive('operator', changes.now)) > 0) {
    throw new ServiceError(ErrorCode.TRANSITION_REFUSED, 'There is an operator token already that works.');
  }
  return createServiceToken(changes, environment, { kind: 'operator', label: 'First operator', expiresAt });
}

export async function getServiceToken(
  rows: Pick<OperatorRows, 'serviceTokens'>,
  id: string,
): Promise<ServiceToken> {
  const token = await rows.serviceTokens.find(id);
  if (!token) {
    throw new ServiceError(ErrorCode.SERVICE_TOKEN_NOT_FOUND, 'There is no such service token.');
  }
  return token;
}

/** Revoking twice is revoking once. The last operator token stays, or nobody could make another. */
export async function revokeServiceToken(changes: OperatorChanges, id: string): Promise<ServiceToken> {
  await changes.lock(OPERATOR_TOKENS);
  const present = await getServiceToken(changes, id);
  if (present.revokedAt !== null) {
    return present;
  }
  const lets = present.kind === 'operator' && statusOf(present, changes.now) === 'active';
  if (lets && (await changes.serviceTokens.countActive('operator', changes.now)) === 1) {
    const message = 'This is the last operator token that works. Create another one first.';
    throw new ServiceError(ErrorCode.TRANSITION_REFUSED, message);
  }
  await changes.serviceTokens.revoke(id, changes.now);
  const revoked = { ...present, revokedAt: changes.now };
  await record(changes, 'revoked', revoked);
  return revoked;
}

function record(changes: OperatorChanges, what: string, { id, kind, instanceId }: ServiceToken, more = {}) {
  const subject = { type: 'service_token', id };
  const attributes = { role: kind, ...(instanceId && { instance_id: instanceId }), ...more };
  return changes.record({ type: `service_token.${what}`, subject, attributes });
}
