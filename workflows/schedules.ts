import { isDeepStrictEqual } from 'node:util';
import {
  ScheduleAlreadyRunning,
  type ScheduleClient,
  type ScheduleDescription,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
  type ScheduleUpdateOptions,
} from '@temporalio/client';
import { defaultPurgeInput, defaultSigningKeyRotationInput, scheduleIds, TASK_QUEUE } from './contract.js';
import type { WorkflowType } from './limited-call.js';
import { type OwnerClaim, ownerMemo, refuseOther } from './namespace.js';

export interface ScheduleSettings {
  purgeIntervalMs: number;
  signingKeyRotationIntervalMs: number;
  /** Runs each once when it is made, which shows that all is connected. */
  startAtOnce: boolean;
  /** Whose schedules they are; absent, they may be those of any installation. */
  owner?: OwnerClaim | undefined;
}

type ScheduleOutcome = 'created' | 'updated' | 'unchanged';

type Definition = Pick<ScheduleOptions, 'spec' | 'action' | 'policies'> & { scheduleId: string };

/**
 * Updates the server's schedules to the settings, or makes only missing ones. Idempotent. Leaves pauses and
 * notes to the operators. Throws `NamespaceTaken` instead of changing those of another installation.
 */
export async function ensureSchedules(
  client: ScheduleClient,
  settings: ScheduleSettings,
  onlyMissing = false,
): Promise<Record<string, ScheduleOutcome>> {
  const outcomes: Record<string, ScheduleOutcome> = {};
  for (const definition of schedulesOf(settings)) {
    const { scheduleId } = definition;
    outcomes[scheduleId] = await ensureSchedule(client, definition, settings, onlyMissing);
  }
  return outcomes;
}

function schedulesOf({
  purgeIntervalMs,
  signingKeyRotationIntervalMs,
  owner,
}: ScheduleSettings): Definition[] {
  const memo = ownerMemo(owner);
  return [
    every(purgeIntervalMs, {
      memo,
      scheduleId: scheduleIds.purge,
      workflowType: 'purge',
      args: [defaultPurgeInput],
      staticSummary:
        'Deletes what is past its retention: sessions and interactions of the sign-on, authorization codes, grants, links, ' +
        'changes of addresses, notices, counts of attempts, idempotency keys, audit events, events, deliveries, retry batches, ' +
        'deleted subscriptions, replaced secrets, retired signing keys, ended API keys and service tokens',
    }),
    every(signingKeyRotationIntervalMs, {
      memo,
      scheduleId: scheduleIds.signingKeyRotation,
      workflowType: 'signingKeyRotation',
      args: [defaultSigningKeyRotationInput],
      staticSummary: 'Publishes, activates and retires signing keys that are due',
    }),
  ];
}

type Started = { workflowType: WorkflowType } & Pick<Definition['action'], 'args' | 'staticSummary' | 'memo'>;

function every(intervalMs: number, { scheduleId, ...started }: { scheduleId: string } & Started): Definition {
  return {
    scheduleId,
    spec: { intervals: [{ every: intervalMs }], jitter: Math.min(60_000, Math.floor(intervalMs / 60)) },
    action: {
      type: 'startWorkflow',
      workflowId: scheduleId,
      taskQueue: TASK_QUEUE,
      workflowRunTimeout: LONGEST_RUN_MS,
      ...started,
    },
    policies: {
      overlap: ScheduleOverlapPolicy.SKIP,
      // One run does the work of all missed ones, so only the latest is caught up.
      catchupWindow: Math.max(intervalMs, SHORTEST_CATCHUP_WINDOW_MS),
      pauseOnFailure: false,
    },
  };
}

/**
 * Far longer than any run takes. Without it, a run whose workflow tasks fail would never end, and each later
 * one would be skipped.
 */
const LONGEST_RUN_MS = 7_200_000;

/** The server's minimum. */
const SHORTEST_CATCHUP_WINDOW_MS = 10_000;

async function ensureSchedule(
  client: ScheduleClient,
  definition: Definition,
  { startAtOnce: triggerImmediately, owner }: ScheduleSettings,
  onlyMissing: boolean,
): Promise<ScheduleOutcome> {
  const handle = client.getHandle(definition.scheduleId);
  let existing: ScheduleDescription;
  try {
    existing = await handle.describe();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) {
      throw error;
    }
    if (await created(client, { ...definition, state: { triggerImmediately } })) {
      return 'created';
    }
    existing = await handle.describe();
  }
  refuseOther(existing, owner);
  if (onlyMissing || isDeepStrictEqual(comparable(existing), comparable(definition))) {
    return 'unchanged';
  }
  const { spec, action, policies } = definition;
  await handle.update(
    ({ state: { paused, note, remainingActions }, typedSearchAttributes }): ScheduleUpdateOptions => ({
      spec,
      action,
      policies,
      typedSearchAttributes,
      state: { paused, ...(note && { note }), ...(remainingActions && { remainingActions }) },
    }),
  );
  return 'updated';
}

/** False if another worker was first. */
async function created(client: ScheduleClient, options: ScheduleOptions): Promise<boolean> {
  try {
    await client.create(options);
    return true;
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) {
      return false;
    }
    throw error;
  }
}

/** The configured parts, in a shape that definition and server share. */
function comparable({ spec, action, policies }: Definition | ScheduleDescription) {
  return {
    intervals: spec.intervals?.map(({ every }) => every),
    calendars: spec.calendars?.length ?? 0,
    jitter: spec.jitter,
    workflowType: action.workflowType,
    workflowId: action.workflowId,
    taskQueue: action.taskQueue,
    args: action.args,
    memo: action.memo ?? {},
    runTimeout: action.workflowRunTimeout,
    summary: action.staticSummary,
    policies,
  };
}
