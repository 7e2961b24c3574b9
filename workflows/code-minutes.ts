import { randomUUID } from 'node:crypto';
import type { WorkflowClient } from '@temporalio/client';
import type { DomainCall } from './activities/domain-call.js';
import { pause } from './backoff.js';
import { type CodeExpiryInput, codeExpiryWorkflowId, defaultCodeExpiryLimits } from './contract.js';
import { startOnce } from './limited-call.js';
import { type Log, reasonOf } from './log.js';

export interface CodeMinute {
  minute: Date;
  /** When the last of its codes expires. */
  expiresAt: Date;
  /** The same in milliseconds from now, by the domain's clock. */
  expiresInMs: number;
}

/** The domain's list of minutes with issued codes. */
export interface CodeMinuteList {
  /** Those without a workflow, oldest first. */
  toWatch(limit: number, call: DomainCall): Promise<CodeMinute[]>;
  markWatched(minutes: Date[], call: DomainCall): Promise<void>;
}

export interface CodeMinuteOptions {
  list: CodeMinuteList;
  log: Log;
  everyMs?: number;
  batch?: number;
}

/** A rest between batches, so that requests and running workflows get their turns. */
const REST_MS = 250;

/**
 * Starts an expiry workflow for each minute with issued codes. Unmarked minutes are listed again, so none is
 * lost in an outage, and no request waits for it.
 */
export async function watchCodeMinutes(
  options: CodeMinuteOptions,
  client: WorkflowClient,
  stop: AbortSignal,
): Promise<void> {
  const { everyMs = 15_000, log } = options;
  let failures = 0;
  while (!stop.aborted) {
    let isMore = false;
    try {
      isMore = await watchBatch(options, client, stop);
      if (failures > 0) {
        log.info('authorization code minutes are watched again', { failures });
      }
      failures = 0;
    } catch (error) {
      if (stop.aborted) {
        return;
      }
      failures++;
      const reason = reasonOf(error);
      log[failures === 1 ? 'warn' : 'debug']('authorization code minutes are not watched for now', {
        reason,
      });
    }
    await pause(isMore ? REST_MS : everyMs * (0.8 + 0.4 * Math.random()), stop);
  }
}

/** True if there may be more than the batch. */
async function watchBatch(
  { list, batch = 100, log }: CodeMinuteOptions,
  client: WorkflowClient,
  stop: AbortSignal,
): Promise<boolean> {
  const call = { requestId: `code-minutes/${randomUUID()}`, signal: stop };
  const minutes = await list.toWatch(batch, call);
  const started: Date[] = [];
  try {
    for (const codeMinute of minutes) {
      await startExpiry(client, codeMinute, stop);
      started.push(codeMinute.minute);
    }
  } finally {
    if (started.length > 0) {
      await list.markWatched(started, call);
    }
  }
  if (started.length > 0) {
    log.debug('authorization code minutes are watched', { minutes: started.length });
  }
  return minutes.length === batch;
}

async function startExpiry(
  client: WorkflowClient,
  { minute, expiresAt, expiresInMs }: CodeMinute,
  stop: AbortSignal,
): Promise<void> {
  const input: CodeExpiryInput = {
    ...defaultCodeExpiryLimits,
    minute: toMinuteText(minute),
    waitMs: expiresInMs,
  };
  await startOnce(client, stop, 'authorizationCodeExpiry', {
    workflowId: codeExpiryWorkflowId(input.minute),
    args: [input],
    staticSummary: `Authorization codes issued in the minute ${input.minute}, over at ${toMinuteText(expiresAt)}`,
  });
}

/** `2026-07-01T10:00Z` */
function toMinuteText(at: Date): string {
  return `${at.toISOString().slice(0, 16)}Z`;
}
