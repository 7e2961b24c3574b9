import {
  type WorkflowClient,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdReusePolicy,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { taskQueue, type workflowTypes } from './contract.js';
import { limitedCall } from './limited-call.js';

const startLimitMs = 5_000;

/** Starts a workflow, unless one with its id runs or has run. */
export async function startOnce(
  client: WorkflowClient,
  stop: AbortSignal,
  type: keyof typeof workflowTypes,
  options: Omit<WorkflowStartOptions, 'taskQueue' | 'workflowIdReusePolicy'>,
): Promise<void> {
  const workflowIdReusePolicy = WorkflowIdReusePolicy.REJECT_DUPLICATE;
  const start = () => client.start(type, { ...options, taskQueue, workflowIdReusePolicy });
  await limitedCall(client, stop, startLimitMs, start).catch((error) => {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  });
}
