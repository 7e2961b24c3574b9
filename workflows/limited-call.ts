import {
  type WorkflowClient,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdReusePolicy,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { TASK_QUEUE } from './contract.js';

/**
 * A call to the server that ends with `over` or after the limit. The client never removes its listener from a
 * call's signal, so a longer-lived signal is not passed to it.
 */
export async function limitedCall<T>(
  client: Pick<WorkflowClient, 'withAbortSignal' | 'withDeadline'>,
  over: AbortSignal,
  limitMs: number,
  call: () => Promise<T>,
): Promise<T> {
  over.throwIfAborted();
  const own = new AbortController();
  const abort = () => own.abort(over.reason);
  over.addEventListener('abort', abort);
  try {
    return await client.withAbortSignal(own.signal, () => client.withDeadline(Date.now() + limitMs, call));
  } finally {
    over.removeEventListener('abort', abort);
  }
}

/** The names of the exported definitions. */
export type WorkflowType = keyof typeof import('./definitions/index.js');

const START_LIMIT_MS = 5_000;

/** Starts a workflow, unless one with its id runs or has run. */
export async function startOnce(
  client: WorkflowClient,
  stop: AbortSignal,
  type: WorkflowType,
  options: Omit<WorkflowStartOptions, 'taskQueue' | 'workflowIdReusePolicy'>,
): Promise<void> {
  const workflowIdReusePolicy = WorkflowIdReusePolicy.REJECT_DUPLICATE;
  const start = () => client.start(type, { ...options, taskQueue: TASK_QUEUE, workflowIdReusePolicy });
  await limitedCall(client, stop, START_LIMIT_MS, start).catch((error) => {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
      throw error;
    }
  });
}
