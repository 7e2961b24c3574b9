import { createActivities } from '../../../../workflows/activities/index.js';
import { type OnBacklog, watchBacklog } from '../../../../workflows/backlog.js';
import { watchCodeMinutes } from '../../../../workflows/code-minutes.js';
import { handOverRetryBatches, type RetryBatch, startRetry } from '../../../../workflows/retry-batches.js';
import type { Work } from '../../../../workflows/worker.js';
import { namespaceClaimOf } from '../../from-config.js';
import { codeMinutesOver, maintenanceOver, retriesOver, retryBatchesOver } from '../calls-of-domain.js';
import type { RoleOptions } from '../role.js';
import { advanceKeysEveryMs } from '../timed-maintenance.js';
import type { WorkersDomain } from '../worker.js';

/** What the worker does for Temporal. Loads the SDK, so import it only when a Temporal server answers. */
export function temporalWork(
  { config, log }: Pick<RoleOptions, 'config' | 'log'>,
  { relay, maintenance }: WorkersDomain,
  onBacklog: OnBacklog,
): Work {
  const codeMinutes = { list: codeMinutesOver(maintenance), log };
  return {
    activities: createActivities({
      maintenance: maintenanceOver(maintenance),
      webhookRetries: retriesOver(relay),
    }),
    schedules: {
      purgeIntervalMs: config.PURGE_INTERVAL,
      signingKeyRotationIntervalMs: advanceKeysEveryMs(config),
      startAtOnce: true,
      owner: namespaceClaimOf(config),
    },
    companions: [
      (client, stop) => watchBacklog(onBacklog, client, stop),
      (client, stop) => watchCodeMinutes(codeMinutes, client, stop),
      (client, stop) => {
        const start = (batch: RetryBatch) => startRetry(client, batch, stop);
        return handOverRetryBatches({ list: retryBatchesOver(relay), start, log }, stop);
      },
    ],
  };
}
