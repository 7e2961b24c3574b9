import type { IntegrationId } from '../../../generated/ids.js';
import { ErrorCode, type RateLimit, ServiceError } from '../../errors/service-error.js';
import type { Clock } from '../clock.js';
import type { ApiKeyStore, StoredApiKey } from './api-key-store.js';
import type { RateLimiter } from './rate-limiter.js';

/** An integration whose key was accepted, for the length of one call. */
export interface Visitor {
  integrationId: IntegrationId;
  integrationVersion: string;
  apiKeyId: string;
  rateLimit: RateLimit;
}

/** Last use is for people who clean up keys; the hour is near enough and keeps reads from writing. */
const LAST_USE_STEP_MS = 3_600_000;

/** Lets an integration in: first the key, then the rate. */
export class Gatekeeper {
  constructor(
    private readonly keys: ApiKeyStore,
    private readonly limiter: RateLimiter,
    private readonly clock: Clock,
    private readonly onBackgroundError: (error: unknown) => void,
  ) {}

  async admit(keyHash: Uint8Array): Promise<Visitor> {
    const key = await this.keys.findByHash(keyHash);
    const now = this.clock();
    if (!key || key.revokedAt !== null) {
      throw new ServiceError(
        ErrorCode.API_KEY_UNKNOWN,
        'This API key is not known. It may have been revoked.',
      );
    }
    if (key.expiresAt !== null && key.expiresAt <= now) {
      throw new ServiceError(
        ErrorCode.API_KEY_EXPIRED,
        'This API key has expired. Ask the operator for a new one.',
      );
    }
    const { allowed, ...rateLimit } = this.limiter.take(key.integrationId);
    if (!allowed) {
      const retryAfterSeconds = rateLimit.resetSeconds;
      const message = `Too many requests. Please try again in ${retryAfterSeconds} s.`;
      throw new ServiceError(ErrorCode.RATE_LIMITED, message, { rateLimit, retryAfterSeconds });
    }
    this.#noteUse(key, now).catch(this.onBackgroundError);
    const { integrationId, integrationVersion, id } = key;
    return { integrationId, integrationVersion, apiKeyId: id, rateLimit };
  }

  /** Nobody waits for it: a lost note costs an hour of accuracy. */
  async #noteUse(key: StoredApiKey, now: number): Promise<void> {
    const unlessSince = now - LAST_USE_STEP_MS;
    if (key.lastUsedAt === null || key.lastUsedAt < unlessSince) {
      await this.keys.markUsed(key.id, now, unlessSince);
    }
  }
}
