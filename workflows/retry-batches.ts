import { randomUUID } from 'node:crypto';
import type { DomainCall } from './activities/domain-call.js';
import { backoffDelayMs, pause } from './backoff.js';
import { type Log, reasonOf } from './log.js';
import type { RetryBatch } from './start-retry.js';

/** The domain's list of batches of failed deliveries. */
export interface RetryBatchList {
  /** Unmarked ones, oldest first; waits while there are none, up to a limit. */
  toHandOver(request: { limit: number; maxWaitMs: number }, call: DomainCall): Promise<RetryBatch[]>;
  markHandedOver(batchIds: string[], call: DomainCall): Promise<void>;
}

export interface RetryBatchOptions {
  list: RetryBatchList;
  /** Starts the retries of a batch, unless they have started. */
  start: (batch: RetryBatch, stop: AbortSignal) => Promise<void>;
  log: Log;
}

/** What the domain is asked for at once, and for how long it may wait while there is none. */
const request = { limit: 100, maxWaitMs: 20_000 };

const backoff = { firstDelayMs: 250, maxDelayMs: 15_000 };

/** Concurrent starts; Temporal takes about fifty a second. */
const STARTS_AT_ONCE = 8;

/** Between two looks, for a domain that answers at once without batches. */
const REST_MS = 50;

/**
 * Hands over each batch of failed deliveries. Unmarked ones are listed again after some seconds, so none is
 * lost in an outage. If Temporal loses a workflow, the relay makes its attempts by their due times.
 */
export async function handOverRetryBatches(options: RetryBatchOptions, stop: AbortSignal): Promise<void> {
  const { log } = options;
  let failures = 0;
  while (!stop.aborted) {
    try {
      await handOverSome(options, stop);
      if (failures > 0) {
        log.info('webhook retries are handed over again', { failures });
      }
      failures = 0;
      await pause(REST_MS, stop);
    } catch (error) {
      if (stop.aborted) {
        return;
      }
      failures++;
      const reason = reasonOf(error);
      log[failures === 1 ? 'warn' : 'debug']('webhook retries are not handed over for now', { reason });
      await pause(backoffDelayMs(failures, backoff), stop);
    }
  }
}

/** Marks the started ones even if another start failed, and then fails with that error. */
async function handOverSome({ list, start, log }: RetryBatchOptions, stop: AbortSignal): Promise<void> {
  const call = { requestId: `retry-batches/${randomUUID()}`, signal: stop };
  const batches = await list.toHandOver(request, call);
  const waiting = [...batches];
  const started: string[] = [];
  const failures: unknown[] = [];
  const startInTurn = async () => {
    for (let next = waiting.shift(); next && failures.length === 0; next = waiting.shift()) {
      await start(next, stop);
      started.push(next.batchId);
    }
  };
  const starters = Array.from({ length: STARTS_AT_ONCE }, () =>
    startInTurn().catch((failure) => void failures.push(failure)),
  );
  await Promise.all(starters);
  if (started.length > 0) {
    await list.markHandedOver(started, call);
    log.debug('webhook retries are handed over', { batches: started.length });
  }
  if (failures.length > 0) {
    throw failures[0];
  }
}
