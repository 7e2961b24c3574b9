import { isGrpcServiceError, type WorkflowClient } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { type WebhookRetryInput, webhookRetryWorkflowId } from './contract.js';
import { startOnce } from './limited-call.js';

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
