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

const LAST_USE_STEP_MS = 300_000;

/** Identifies the holder of a token and notes its use, or throws the refusal. */
export async function identifyServiceToken(
  tokens: ServiceTokenStore,
  clock: Clock,
  token: string,
  onLostUse: (error: unknown) => void,
): Promise<StoredServiceToken> {
  const stored = await tokens.findByHash(hashSecret(token));
  const now = clock();
  const status = stored ? statusOf(stored, now) : 'unknown';
  if (status !== 'active') {
    throw new ServiceTokenRefusal(status, stored?.id);
  }
  const known = stored as StoredServiceToken;
  // The call does not wait for it: a lost note costs some accuracy.
  noteUse(known, now, LAST_USE_STEP_MS, tokens.markUsed).catch(onLostUse);
  return known;
}
