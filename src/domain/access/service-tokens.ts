import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { hashSecret } from '../../identifiers/secret-hash.js';
import type { ServiceTokenKind } from '../../identifiers/service-token.js';
import type { Clock } from '../clock.js';

export interface StoredServiceToken {
  id: string;
  kind: ServiceTokenKind;
  expiresAt: number | null;
  revokedAt: number | null;
}

export interface ServiceTokenStore {
  /** One read by the hash of the token, the only form in which tokens are kept. */
  findByHash(hash: Uint8Array): Promise<StoredServiceToken | undefined>;
}

/** Whose token it is. All refusals are one, so that nothing is learned from them. */
export async function identifyServiceToken(
  tokens: ServiceTokenStore,
  clock: Clock,
  token: string,
): Promise<ServiceTokenKind> {
  const stored = await tokens.findByHash(hashSecret(token));
  const expired = stored?.expiresAt != null && stored.expiresAt <= clock();
  if (!stored || stored.revokedAt !== null || expired) {
    throw new ServiceError(ErrorCode.SERVICE_TOKEN_INVALID, 'This service token is not valid here.');
  }
  return stored.kind;
}
