import type { CodeCounts } from '../contract.js';
import { type DomainCall, domainCall } from './domain-call.js';

export interface CodeExpiringDomain {
  /** Marks the minute's unredeemed codes as EXPIRED; `retryAt` if some are still valid. */
  expireAuthorizationCodes(
    request: { minute: Date },
    call: DomainCall,
  ): Promise<CodeCounts & { retryAt: Date | null }>;
}

export interface CodeExpiryActivities {
  /** A minute is a text such as `2026-07-01T10:00Z`; `retryInMs` is null when all its codes have expired. */
  expireAuthorizationCodes(request: {
    minute: string;
  }): Promise<{ counts: CodeCounts; retryInMs: number | null }>;
}

export function createCodeExpiryActivities(domain: CodeExpiringDomain): CodeExpiryActivities {
  return {
    async expireAuthorizationCodes({ minute }) {
      const { issued, redeemed, expired, retryAt } = await domain.expireAuthorizationCodes(
        { minute: new Date(minute) },
        domainCall(),
      );
      // A delay, because a workflow reads no clock.
      const retryInMs = retryAt && Math.max(0, retryAt.getTime() - Date.now());
      return { counts: { issued, redeemed, expired }, retryInMs };
    },
  };
}
