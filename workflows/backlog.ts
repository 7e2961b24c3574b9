import type { WorkflowClient } from '@temporalio/client';
import { pause } from './backoff.js';
import { TASK_QUEUE } from './contract.js';
import { limitedCall } from './limited-call.js';

/** Approximate number of waiting tasks by type; undefined if the server does not report it. */
export type OnBacklog = (counts: Record<string, number> | undefined) => void;

/** The numbers of Temporal's task queue types. */
const queueTypes = { workflow: 1, activity: 2 };
const ANSWER_LIMIT_MS = 3_000;

/** Asks the server for its count of waiting tasks in the task queue. */
export async function watchBacklog(
  onBacklog: OnBacklog,
  client: WorkflowClient,
  stop: AbortSignal,
  everyMs = 10_000,
): Promise<void> {
  while (!stop.aborted) {
    onBacklog(await backlogOf(client, stop).catch(() => undefined));
    await pause(everyMs, stop);
  }
  onBacklog(undefined);
}

async function backlogOf(
  { connection, options: { namespace } }: WorkflowClient,
  stop: AbortSignal,
): Promise<Record<string, number> | undefined> {
  const counts: Record<string, number> = {};
  for (const [type, taskQueueType] of Object.entries(queueTypes)) {
    const { stats } = await limitedCall(connection, stop, ANSWER_LIMIT_MS, () =>
      connection.workflowService.describeTaskQueue({
        namespace,
        taskQueue: { name: TASK_QUEUE },
        taskQueueType,
        reportStats: true,
      }),
    );
    if (!stats) {
      return undefined;
    }
    counts[type] = Number(stats.approximateBacklogCount ?? 0);
  }
  return counts;
}
