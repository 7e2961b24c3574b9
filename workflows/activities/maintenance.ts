import { setTimeout as sleep } from 'node:timers/promises';
import type { CodeCounts, PurgeBatch, PurgeInput, SigningKeyRotationOutcome } from '../contract.js';
import { type DomainCall, domainCall, workflowId } from './domain-call.js';

export interface Maintenance {
  /**
   * Deletes at most `limit` expired rows in short transactions. Of several runs at once, all but one are told
   * that another is active. With a time, a run begins only if none has ended within it.
   */
  purgeExpired(
    request: { limit: number; run: string; unlessEndedWithinSeconds?: number },
    call: DomainCall,
  ): Promise<PurgeBatch & { otherRunActive: boolean }>;
  /** Marks the minute's unredeemed codes as EXPIRED; `retryInMs` is null unless some are still valid. */
  expireAuthorizationCodes(
    request: { minute: Date },
    call: DomainCall,
  ): Promise<CodeCounts & { retryInMs: number | null }>;
  /** Takes every due step of the rotation; a second call finds none. */
  advanceSigningKeys(call: DomainCall): Promise<SigningKeyRotationOutcome>;
}

type PurgeStep = { limit: number } & Pick<PurgeInput, 'stepMs' | 'restMs'>;

export type MaintenanceActivities = ReturnType<typeof maintenanceActivities>;

export function maintenanceActivities(domain: Maintenance) {
  return {
    /**
     * Runs batches for about `stepMs`, at least one. If a later one fails, returns the counts so far: the
     * next step meets the failure in its first batch, and has no counts to lose.
     */
    async purgeExpired({ limit, stepMs = 0, restMs = 0 }: PurgeStep): Promise<PurgeBatch> {
      const call = domainCall();
      const endsAt = performance.now() + stepMs;
      const deleted: Record<string, number> = {};
      let more: boolean | undefined;
      do {
        let batch: PurgeBatch;
        try {
          batch = await domain.purgeExpired({ limit, run: workflowId() }, call);
        } catch (error) {
          if (more) {
            return { deleted, more };
          }
          throw error;
        }
        for (const [kind, count] of Object.entries(batch.deleted)) {
          deleted[kind] = (deleted[kind] ?? 0) + count;
        }
        more = batch.more;
        if (more && restMs > 0) {
          await sleep(restMs, undefined, { signal: call.signal }).catch(() => undefined);
        }
      } while (more && performance.now() < endsAt && !call.signal.aborted);
      return { deleted, more };
    },
    /** A minute is a text, `2026-07-01T10:00Z`; `retryInMs` is null when all its codes have expired. */
    async expireAuthorizationCodes({ minute }: { minute: string }) {
      const { retryInMs, ...counts } = await domain.expireAuthorizationCodes(
        { minute: new Date(minute) },
        domainCall(),
      );
      return { counts, retryInMs };
    },
    advanceSigningKeys: () => domain.advanceSigningKeys(domainCall()),
  };
}
