import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { newRecordId } from '../../identifiers/record-id.js';
import { hashSecret } from '../../identifiers/secret-hash.js';
import { newServiceToken, type ServiceTokenKind } from '../../identifiers/service-token.js';
import type { PageRequest } from '../directory/page.js';
import { MAX_NAME_LENGTH, Violations } from '../platform/violations.js';
import { type KeyStatus, statusOf, validateExpiry } from './lifetime.js';
import type { OperatorChanges, OperatorRows } from './unit-of-work.js';

/** With what an operator or the platform may call gRPC; the token itself is not among it. */
export interface ServiceToken {
  id: string;
  kind: ServiceTokenKind;
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
  /** Whether there is one of the kind, working or not. */
  hasAny(kind: ServiceTokenKind): Promise<boolean>;
  insert(token: ServiceToken, hash: Uint8Array): Promise<void>;
  revoke(id: string, at: number): Promise<void>;
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
}

/** Whoever counts or adds operator tokens holds this, so that two who revoke at once cannot leave none. */
const OPERATOR_TOKENS = 'operator-tokens';

export async function createServiceToken(
  changes: OperatorChanges,
  environment: 'live' | 'demo',
  { kind, label, expiresAt }: ServiceTokenCreation,
): Promise<IssuedServiceToken> {
  const violations = new Violations();
  if (kind === undefined) {
    violations.add('role', 'must be operator or platform');
  }
  violations.requiredText('label', label, MAX_NAME_LENGTH);
  validateExpiry(violations, expiresAt, changes.now);
  violations.throwIfAny();
  const checkedKind = kind as ServiceTokenKind;
  const token = newServiceToken(checkedKind, environment);
  const serviceToken: ServiceToken = {
    id: newRecordId('tok'),
    kind: checkedKind,
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

/** The token with which everything begins: only where there has been none. */
export async function createFirstOperatorToken(
  changes: OperatorChanges,
  environment: 'live' | 'demo',
): Promise<IssuedServiceToken> {
  await changes.lock(OPERATOR_TOKENS);
  if (await changes.serviceTokens.hasAny('operator')) {
    throw new ServiceError(ErrorCode.TRANSITION_REFUSED, 'There is an operator token already.');
  }
  return createServiceToken(changes, environment, { kind: 'operator', label: 'First operator' });
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

function record(changes: OperatorChanges, what: string, { id, kind }: ServiceToken) {
  const subject = { type: 'service_token', id };
  return changes.record({ type: `service_token.${what}`, subject, attributes: { role: kind } });
}
