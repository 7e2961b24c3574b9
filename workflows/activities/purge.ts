import type { PurgeBatch } from '../contract.js';
import { type DomainCall, domainCall, workflowId } from './domain-call.js';

export interface PurgingDomain {
  /**
   * Deletes at most `limit` expired rows in short transactions. Of several runs at once, all but one are told
   * that another is active. With a time, a run begins only if none has ended within it.
   */
  purgeExpired(
    request: { limit: number; run: string; unlessEndedWithinSeconds?: number },
    call: DomainCall,
  ): Promise<PurgeBatch & { otherRunActive: boolean }>;
}

export interface PurgeActivities {
  purgeExpired(request: { limit: number }): Promise<PurgeBatch>;
}

export function createPurgeActivities(domain: PurgingDomain): PurgeActivities {
  return {
    async purgeExpired({ limit }) {
      const { deleted, more } = await domain.purgeExpired({ limit, run: workflowId() }, domainCall());
      return { deleted, more };
    },
  };
}
