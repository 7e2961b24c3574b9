import { randomUUID } from 'node:crypto';
import { isGrpcServiceError, type WorkflowClient } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { DomainCall } from './activities/domain-call.js';
import { backoffDelayMs, pause } from './backoff.js';
import { type WebhookRetryInput, webhookRetryWorkflowId } from './contract.js';
import { startOnce } from './limited-call.js';
import { type Log, reasonOf } from './log.js';

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

/** Failed deliveries of one subscription that one workflow retries. */
export interface RetryBatch {
  batchId: string;
  subscriptionId: string;
  instanceIntegrationId: string;
  eventTypes: string[];
  /** As in the input of the workflow. */
  address: string;
  reason: string;
  deliveries: string[];
}

const subscriptionKey = defineSearchAttributeKey('SubscriptionId', 'KEYWORD');
const instanceIntegrationKey = defineSearchAttributeKey('InstanceIntegrationId', 'KEYWORD');
const eventTypesKey = defineSearchAttributeKey('EventTypes', 'KEYWORD_LIST');

const NAMED_TYPES = 3;
const INVALID_ARGUMENT = 3;

/** Once for each batch. */
export async function startRetry(
  client: WorkflowClient,
  batch: RetryBatch,
  stop: AbortSignal,
): Promise<void> {
  const { address, reason, deliveries, subscriptionId, batchId } = batch;
  // In this order, for readers.
  const input: WebhookRetryInput = { address, reason, deliveries, subscriptionId, batchId };
  const start = (typedSearchAttributes: SearchAttributePair[]) =>
    startOnce(client, stop, 'webhookRetry', {
      workflowId: webhookRetryWorkflowId(subscriptionId, batchId),
      args: [input],
      typedSearchAttributes,
      staticSummary: summaryOf(batch),
    });
  await start(searchAttributesOf(batch)).catch((error) => {
    // A namespace without our attributes must not prevent retries; the worker warns about it.
    if (!isUnknownAttribute(error)) {
      throw error;
    }
    return start([]);
  });
}

function searchAttributesOf(batch: RetryBatch): SearchAttributePair[] {
  return [
    { key: subscriptionKey, value: batch.subscriptionId },
    { key: instanceIntegrationKey, value: batch.instanceIntegrationId },
    { key: eventTypesKey, value: batch.eventTypes },
  ];
}

function isUnknownAttribute(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return (
    isGrpcServiceError(cause) && cause.code === INVALID_ARGUMENT && /search attribute/i.test(cause.details)
  );
}

/** `12 deliveries to whs_… (user.created, user.updated)` */
function summaryOf({ deliveries: { length }, subscriptionId, eventTypes }: RetryBatch): string {
  const named = eventTypes.slice(0, NAMED_TYPES).join(', ');
  const others = eventTypes.length - NAMED_TYPES;
  const types = others > 0 ? `${named} and ${others} more` : named;
  return `${length} ${length === 1 ? 'delivery' : 'deliveries'} to ${subscriptionId} (${types})`;
}
