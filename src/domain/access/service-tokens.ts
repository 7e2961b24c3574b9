import type { InstanceId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { hashSecret } from '../../identifiers/secret-hash.js';
import type { ServiceTokenKind } from '../../identifiers/service-token.js';
import type { Clock } from '../clock.js';
import { type MarkUsed, noteUse } from './last-use.js';

export interface StoredServiceToken {
  id: string;
  kind: ServiceTokenKind;
  /** The one instance that it reaches; null for all. */
  instanceId: InstanceId | null;
  /** The first token of its line of succession; null in that one itself. */
  ownerId: string | null;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
}

export interface ServiceTokenStore {
  /** One read by the hash of the token, the only form in which tokens are kept. */
  findByHash(hash: Uint8Array): Promise<StoredServiceToken | undefined>;
  markUsed: MarkUsed;
}

/** All refusals of a token are one to its holder, so that nothing is learned from them; who keeps the service is told more. */
export class ServiceTokenRefusal extends ServiceError {
  constructor(
    readonly reason: 'unknown' | 'revoked' | 'expired',
    /** Id of the token, where there is such a one. */
    readonly tokenId?: string,
  ) {
    super(ErrorCode.SERVICE_TOKEN_INVALID, 'This service token is not valid here.');
  }
}

/** Whose token it is, or the refusal. */
export async function identifyServiceToken(
  tokens: Pick<ServiceTokenStore, 'findByHash'>,
  clock: Clock,
  token: string,
): Promise<StoredServiceToken> {
  const stored = await tokens.findByHash(hashSecret(token));
  const expired = stored?.expiresAt != null && stored.expiresAt <= clock();
  if (!stored) {
    throw new ServiceTokenRefusal('unknown');
  }
  if (stored.revokedAt !== null || expired) {
    throw new ServiceTokenRefusal(stored.revokedAt !== null ? 'revoked' : 'expired', stored.id);
  }
  return stored;
}

const LAST_USE_STEP_MS = 300_000;

export async function noteUseOfServiceToken(
  tokens: Pick<ServiceTokenStore, 'markUsed'>,
  clock: Clock,
  token: StoredServiceToken,
): Promise<void> {
  await noteUse(token, clock(), LAST_USE_STEP_MS, tokens.markUsed);
}
