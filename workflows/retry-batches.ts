import { randomUUID } from 'node:crypto';
import type { DomainCall } from './activities/domain-call.js';
import { type BackoffSettings, backoffDelayMs, pause } from './backoff.js';
import type { Log } from './log.js';
import { reasonOf } from './reason.js';
import type { RetryBatch } from './start-retry.js';

/** The domain's list of batches of failed deliveries. */
export interface RetryBatchList {
  /** Those not marked yet, oldest first; waits while there are none, for this long at most. */
  toHandOver(request: { limit: number; maxWaitMs: number }, call: DomainCall): Promise<RetryBatch[]>;
  markHandedOver(batchIds: string[], call: DomainCall): Promise<void>;
}

export interface RetryBatchOptions {
  list: RetryBatchList;
  /** Sees to it that a batch is retried; for one that it has already, it does nothing. */
  start: (batch: RetryBatch, stop: AbortSignal) => Promise<void>;
  log: Log;
  batch?: number;
  maxWaitMs?: number;
  backoff?: BackoffSettings;
}

/** Batches that are started side by side; Temporal takes about fifty a second. */
const startsAtOnce = 8;

/** Between two looks, for a domain that answers at once that there is nothing. */
const restMs = 50;

/**
 * Hands each batch of failed deliveries to whoever retries it. What is not marked is listed again, so neither a lost answer
 * nor an outage of Temporal loses a batch; and what a server lost with its database the domain lists again as overdue.
 */
export async function handOverRetryBatches(options: RetryBatchOptions, stop: AbortSignal): Promise<void> {
  const { backoff = { firstDelayMs: 250, maxDelayMs: 15_000 }, log } = options;
  let failures = 0;
  while (!stop.aborted) {
    try {
      await handOverSome(options, stop);
      if (failures > 0) log.info('webhook retries are handed over again', { failures });
      failures = 0;
      await pause(restMs, stop);
    } catch (error) {
      if (stop.aborted) return;
      failures++;
      const reason = reasonOf(error);
      log[failures === 1 ? 'warn' : 'debug']('webhook retries are not handed over for now', { reason });
      await pause(backoffDelayMs(failures, backoff), stop);
    }
  }
}

/** Marks what it started although another start failed, and then fails with that. */
async function handOverSome(
  { list, start, batch = 100, maxWaitMs = 20_000, log }: RetryBatchOptions,
  stop: AbortSignal,
): Promise<void> {
  const call = { requestId: `retry-batches/${randomUUID()}`, signal: stop };
  const batches = await list.toHandOver({ limit: batch, maxWaitMs }, call);
  const waiting = [...batches];
  const started: string[] = [];
  const failures: unknown[] = [];
  const startInTurn = async () => {
    for (let next = waiting.shift(); next && failures.length === 0; next = waiting.shift()) {
      await start(next, stop);
      started.push(next.batchId);
    }
  };
  const starters = Array.from({ length: startsAtOnce }, () =>
    startInTurn().catch((failure) => void failures.push(failure)),
  );
  await Promise.all(starters);
  if (started.length > 0) {
    await list.markHandedOver(started, call);
    log.debug('webhook retries are handed over', { batches: started.length });
  }
  if (failures.length > 0) throw failures[0];
}
