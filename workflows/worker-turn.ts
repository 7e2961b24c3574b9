import type { Connection } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { TASK_QUEUE } from './contract.js';
import { limitedCall } from './limited-call.js';
import { type Log, reasonOf } from './log.js';
import { hasStatus, NOT_FOUND } from './namespace.js';

const ANSWER_LIMIT_MS = 3_000;
const CHANGE_LIMIT_MS = 10_000;
/** Twice the longest poll. */
const SILENT_AFTER_MS = 120_000;
/** `temporal.api.enums.v1.TaskQueueType` */
const WORKFLOW_TASKS = 1;
/** `temporal.api.enums.v1.WorkerVersioningMode` */
const VERSIONED = 2;

export interface TurnSettings {
  namespace: string;
  /** That of this worker; undefined for a worker without one. */
  version?: WorkerDeploymentVersion | undefined;
  /** How much later than all others a worker of this version polled when it takes over. */
  silentAfterMs?: number;
  log: Log;
}

type QueueConnection = Pick<Connection, 'workflowService' | 'withAbortSignal' | 'withDeadline'>;

/** Who gets the tasks of the queue, and when workers of each version polled last. */
interface Queue {
  current: WorkerDeploymentVersion | undefined;
  lastPollAt: (version: WorkerDeploymentVersion | undefined) => number | undefined;
}

/**
 * Temporal gives all tasks to the workers of one version. When none of them polls any more, this gives them
 * to the version of this worker: at the end of an upgrade, and of the way back.
 */
export class WorkerTurn {
  #waitsFor: string | undefined;
  #lack: string | undefined;

  constructor(
    private readonly connection: QueueConnection,
    private readonly settings: TurnSettings,
  ) {}

  /** Whether the last check found that this version gets the tasks. */
  isCurrent = false;

  /** Returns why no worker gets tasks, as a sentence. Keeps the last answer if Temporal does not answer. */
  async check(over: AbortSignal): Promise<string | undefined> {
    try {
      this.#lack = await this.#check(over);
    } catch (error) {
      this.settings.log.debug('temporal worker versions could not be read', { reason: reasonOf(error) });
    }
    return this.#lack;
  }

  async #check(over: AbortSignal): Promise<string | undefined> {
    const { namespace, version, silentAfterMs = SILENT_AFTER_MS } = this.settings;
    const { current, lastPollAt } = await queueOf(this.connection, namespace, over);
    this.isCurrent = isSame(current, version);
    const mine = lastPollAt(version);
    if (this.isCurrent || mine === undefined) {
      this.#waitsFor = undefined;
      return undefined;
    }
    if (mine - (lastPollAt(current) ?? 0) < silentAfterMs) {
      this.#tellThatItWaits(current);
      return undefined;
    }
    return this.#takeOver(current, over);
  }

  /** Without a check that nothing has changed since: of two versions that poll, either may have the tasks. */
  async #takeOver(
    current: WorkerDeploymentVersion | undefined,
    over: AbortSignal,
  ): Promise<string | undefined> {
    const { namespace, version, log } = this.settings;
    const deploymentName = (version ?? current)?.deploymentName ?? '';
    const buildId = version?.buildId ?? '';
    const { workflowService } = this.connection;
    try {
      await limitedCall(this.connection, over, CHANGE_LIMIT_MS, () =>
        workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId }),
      );
    } catch (error) {
      if (over.aborted || hasStatus(error, NOT_FOUND)) {
        // Temporal learns of a version a moment after its first poll.
        return undefined;
      }
      return (
        `Temporal gives its tasks to ${workersOf(current)}, of which none polls, and does not give them to ` +
        `${workersOf(version)}: ${reasonOf(error)}`
      );
    }
    this.isCurrent = true;
    this.#waitsFor = undefined;
    log.info('temporal gives its tasks to this version', {
      to: workersOf(version),
      before: workersOf(current),
    });
    return undefined;
  }

  #tellThatItWaits(current: WorkerDeploymentVersion | undefined): void {
    const { version, log } = this.settings;
    if (this.#waitsFor !== workersOf(current)) {
      this.#waitsFor = workersOf(current);
      log.info('temporal worker waits until workers of another version have ended', {
        waiting: workersOf(version),
        current: this.#waitsFor,
      });
    }
  }
}

export async function queueOf(
  connection: QueueConnection,
  namespace: string,
  over: AbortSignal,
): Promise<Queue> {
  const { pollers, versioningInfo } = await limitedCall(connection, over, ANSWER_LIMIT_MS, () =>
    connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: TASK_QUEUE },
      taskQueueType: WORKFLOW_TASKS,
    }),
  );
  const polls = (pollers ?? []).map(({ deploymentOptions: options, lastAccessTime: at }) => ({
    version: options?.workerVersioningMode === VERSIONED ? versionOf(options) : undefined,
    at: Number(at?.seconds ?? 0) * 1_000 + (at?.nanos ?? 0) / 1e6,
  }));
  return {
    current: versionOf(versioningInfo?.currentDeploymentVersion),
    lastPollAt: (version) => {
      const times = polls.filter((poll) => isSame(poll.version, version)).map(({ at }) => at);
      return times.length > 0 ? Math.max(...times) : undefined;
    },
  };
}

/** As Temporal's UI names a version. */
export function nameOf({ deploymentName, buildId }: WorkerDeploymentVersion): string {
  return `${deploymentName}.${buildId}`;
}

function workersOf(version: WorkerDeploymentVersion | undefined): string {
  return version ? `workers of version ${nameOf(version)}` : 'workers without a version';
}

type Message = { deploymentName?: string | null; buildId?: string | null };

function versionOf(message: Message | null | undefined): WorkerDeploymentVersion | undefined {
  const { deploymentName, buildId } = message ?? {};
  return deploymentName && buildId ? { deploymentName, buildId } : undefined;
}

function isSame(
  one: WorkerDeploymentVersion | undefined,
  other: WorkerDeploymentVersion | undefined,
): boolean {
  return one?.deploymentName === other?.deploymentName && one?.buildId === other?.buildId;
}
