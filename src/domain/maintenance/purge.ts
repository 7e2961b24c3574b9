import type { Clock } from '../clock.js';

export interface PurgeStore {
  /** One transaction: removes at most `limit` API keys that were revoked or expired before the time given. */
  removeApiKeys(endedBefore: number, limit: number): Promise<number>;
  /** The same for service tokens. */
  removeServiceTokens(endedBefore: number, limit: number): Promise<number>;
}

export interface Retention {
  /** How long a credential is kept after it was revoked or expired, for those who look into an incident. */
  credentialsMs: number;
}

export interface PurgeReport {
  apiKeys: number;
  serviceTokens: number;
  /** Whether another batch may find more. */
  more: boolean;
}

/** Removes one bounded batch of each kind that is past its retention. Running it twice at once harms nothing. */
export async function purgeExpired(
  store: PurgeStore,
  retention: Retention,
  clock: Clock,
  limit: number,
): Promise<PurgeReport> {
  const endedBefore = clock() - retention.credentialsMs;
  const apiKeys = await store.removeApiKeys(endedBefore, limit);
  const serviceTokens = await store.removeServiceTokens(endedBefore, limit);
  return { apiKeys, serviceTokens, more: apiKeys === limit || serviceTokens === limit };
}
