import type { PurgeBatch } from '../contract.js';
import { type DomainCall, domainCall } from './domain-call.js';

export interface PurgingDomain {
  /** Deletes at most `limit` expired rows in one transaction. */
  purgeExpired(request: { limit: number }, call: DomainCall): Promise<PurgeBatch>;
}

export interface PurgeActivities {
  purgeExpired(request: { limit: number }): Promise<PurgeBatch>;
}

export function createPurgeActivities(domain: PurgingDomain): PurgeActivities {
  return {
    async purgeExpired({ limit }) {
      const { deleted, more } = await domain.purgeExpired({ limit }, domainCall());
      return { deleted, more };
    },
  };
}
