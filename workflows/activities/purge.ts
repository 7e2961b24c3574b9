import { cancellationSignal } from '@temporalio/activity';
import type { PurgeBatch } from '../contract.js';
import { activityRequestId } from './request-id.js';

export interface Maintenance {
  /** Deletes at most `limit` expired rows in one transaction. `signal` ends the call when the worker must go. */
  purgeExpired(
    request: { limit: number },
    options: { requestId: string; signal: AbortSignal },
  ): Promise<PurgeBatch>;
}

export interface PurgeActivities {
  purgeExpired(request: { limit: number }): Promise<PurgeBatch>;
}

export function createPurgeActivities({ maintenance }: { maintenance: Maintenance }): PurgeActivities {
  return {
    async purgeExpired({ limit }) {
      const { deleted, more } = await maintenance.purgeExpired(
        { limit },
        { requestId: activityRequestId(), signal: cancellationSignal() },
      );
      return { deleted, more };
    },
  };
}
