import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { hashSecret } from '../../identifiers/random-secrets.js';
import type { Clock } from '../clock.js';
import { type MarkUsed, noteUse, type Rotation, statusOf } from '../operator/lifetime.js';
import type { ServiceToken } from '../operator/rows/service-tokens.js';

export type StoredServiceToken = Omit<ServiceToken, 'label' | 'createdAt' | keyof Rotation>;

export interface ServiceTokenStore {
  /** One read, by the hash of the token; only hashes are stored. */
  findByHash(hash: Uint8Array): Promise<StoredServiceToken | undefined>;
  markUsed: MarkUsed;
}

/** One refusal for the holder of a token, which discloses nothing; operators see the reason. */
export class ServiceTokenRefusal extends ServiceError {
  constructor(
    readonly reason: 'unknown' | 'revoked' | 'expired',
    /** Id of the token, if it exists. */
    readonly tokenId?: string,
  ) {
    super(ErrorCode.SERVICE_TOKEN_INVALID, 'This service token is not valid here.');
  }
}

/** Identifies the holder of a token, or throws the refusal. */
export async function identifyServiceToken(
  tokens: Pick<ServiceTokenStore, 'findByHash'>,
  clock: Clock,
  token: string,
): Promise<StoredServiceToken> {
  const stored = await tokens.findByHash(hashSecret(token));
  const status = stored ? statusOf(stored, clock()) : 'unknown';
  if (status !== 'active') {
    throw new ServiceTokenRefusal(status, stored?.id);
  }
  return stored as StoredServiceToken;
}

const LAST_USE_STEP_MS = 300_000;

export async function noteUseOfServiceToken(
  tokens: Pick<ServiceTokenStore, 'markUsed'>,
  clock: Clock,
  token: StoredServiceToken,
): Promise<void> {
  await noteUse(token, clock(), LAST_USE_STEP_MS, tokens.markUsed);
}
