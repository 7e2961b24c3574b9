import { randomUUID } from 'node:crypto';
import type { WorkflowClient } from '@temporalio/client';
import type { DomainCall } from './activities/domain-call.js';
import { type BackoffSettings, backoffDelayMs, pause } from './backoff.js';
import type { Log } from './log.js';
import { reasonOf } from './reason.js';
import { type RetryBatch, startRetry } from './start-retry.js';

/** The domain's list of batches of failed deliveries. */
export interface RetryBatchList {
  /** Those not marked yet, oldest first; waits while there are none, for this long at most. */
  toHandOver(request: { limit: number; maxWaitMs: number }, call: DomainCall): Promise<RetryBatch[]>;
  markHandedOver(batchIds: string[], call: DomainCall): Promise<void>;
}

export interface RetryBatchOptions {
  list: RetryBatchList;
  log: Log;
  batch?: number;
  maxWaitMs?: number;
  backoff?: BackoffSettings;
}

/** Workflows that are started side by side; the server takes about fifty a second. */
const startsAtOnce = 8;

/** Between two looks, for a domain that answers at once that there is nothing. */
const restMs = 50;

/**
 * Gives each batch of failed deliveries its workflow. What is not marked is listed again, so neither a lost answer
 * nor an outage of Temporal loses a batch; and what a server lost with its database the domain lists again as overdue.
 */
export async function handOverRetryBatches(
  options: RetryBatchOptions,
  client: WorkflowClient,
  stop: AbortSignal,
): Promise<void> {
  const { backoff = { firstDelayMs: 250, maxDelayMs: 15_000 }, log } = options;
  let failures = 0;
  while (!stop.aborted) {
    try {
      await handOverSome(options, client, stop);
      if (failures > 0) log.info('webhook retries are handed to temporal again', { failures });
      failures = 0;
      await pause(restMs, stop);
    } catch (error) {
      if (stop.aborted) return;
      failures++;
      const reason = reasonOf(error);
      log[failures === 1 ? 'warn' : 'debug']('webhook retries are not handed to temporal for now', {
        reason,
      });
      await pause(backoffDelayMs(failures, backoff), stop);
    }
  }
}

/** Marks what it started although another start failed, and then fails with that. */
async function handOverSome(
  { list, batch = 100, maxWaitMs = 20_000, log }: RetryBatchOptions,
  client: WorkflowClient,
  stop: AbortSignal,
): Promise<void> {
  const call = { requestId: `retry-batches/${randomUUID()}`, signal: stop };
  const batches = await list.toHandOver({ limit: batch, maxWaitMs }, call);
  const waiting = [...batches];
  const started: string[] = [];
  const failures: unknown[] = [];
  const startInTurn = async () => {
    for (let next = waiting.shift(); next && failures.length === 0; next = waiting.shift()) {
      await startRetry(client, next, stop);
      started.push(next.batchId);
    }
  };
  const starters = Array.from({ length: startsAtOnce }, () =>
    startInTurn().catch((failure) => void failures.push(failure)),
  );
  await Promise.all(starters);
  if (started.length > 0) {
    await list.markHandedOver(started, call);
    log.debug('webhook retries are handed to temporal', { batches: started.length });
  }
  if (failures.length > 0) throw failures[0];
}
