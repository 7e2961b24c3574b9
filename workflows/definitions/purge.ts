import {
  ApplicationFailure,
  continueAsNew,
  defineQuery,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/maintenance.js';
import { type PurgeBatch, type PurgeInput, type PurgeProgress, queryNames } from '../contract.js';
import { activitiesWith } from './activities.js';

const progressQuery = defineQuery<PurgeProgress>(queryNames.progress);

/**
 * Deletes expired rows in steps until none is left. Continues as new at its budget: a purge that stopped
 * could fall behind, one that looped would outgrow its history. A step may count nothing, because some rows
 * are internal to the domain; a whole run of such steps is a fault. Workers of two releases run one purge
 * during an upgrade: the commands must not depend on what only one of them knows.
 */
export async function purge(input: PurgeInput): Promise<PurgeProgress> {
  let progress: PurgeProgress = input.carried ?? { batches: 0, deleted: {}, more: true };
  setHandler(progressQuery, () => progress);

  const { purgeExpired } = activitiesWith<MaintenanceActivities>(input.batchTimeoutMs, input);
  const before = total(progress.deleted);
  for (let done = 0; done < input.batchesPerRun; done++) {
    if (progress.batches > 0 && input.pauseMs > 0) {
      await sleep(input.pauseMs);
    }
    // Numbers continue after a continue-as-new, so an activity id names one step of the whole purge.
    const number = progress.batches + 1;
    const batch = await purgeExpired.executeWithOptions(
      {
        activityId: `batch-${number}`,
        summary: `Step ${number}: batches of up to ${input.batchLimit} expired rows`,
      },
      [{ limit: input.batchLimit, stepMs: input.stepMs, restMs: input.restMs }],
    );
    progress = add(progress, batch);
    setCurrentDetails(describe(progress));
    if (!batch.more) {
      return progress;
    }
  }
  if (total(progress.deleted) === before) {
    // Continuing could loop forever on rows that the domain sees but cannot delete.
    throw ApplicationFailure.create({
      message: 'The domain reports expired rows, but a whole run of batches deleted none of them.',
      type: 'PurgeMakesNoProgress',
      nonRetryable: true,
      details: [progress],
    });
  }
  return continueAsNew<typeof purge>({ ...input, carried: progress });
}

function add(progress: PurgeProgress, batch: PurgeBatch): PurgeProgress {
  const deleted = { ...progress.deleted };
  for (const [kind, count] of Object.entries(batch.deleted)) {
    deleted[kind] = (deleted[kind] ?? 0) + count;
  }
  return { batches: progress.batches + 1, deleted, more: batch.more };
}

function total(deleted: Record<string, number>): number {
  return Object.values(deleted).reduce((sum, count) => sum + count, 0);
}

function describe({ batches, deleted, more }: PurgeProgress): string {
  const kinds = Object.entries(deleted).filter(([, count]) => count > 0);
  const counts = kinds.map(([kind, count]) => `${kind} ${count}`).join(', ') || 'nothing that is counted';
  return `Deleted in ${batches} ${batches === 1 ? 'step' : 'steps'}: ${counts}; ${more ? 'more is left' : 'done'}.`;
}
