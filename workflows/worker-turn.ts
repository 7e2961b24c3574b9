import type { Connection } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { TASK_QUEUE } from './contract.js';
import { limitedCall } from './limited-call.js';
import { type Log, reasonOf } from './log.js';

const ANSWER_LIMIT_MS = 3_000;
const CHANGE_LIMIT_MS = 10_000;
/** Twice the longest poll. */
export const SILENT_MS = 120_000;
const PATIENCE = {
  silentMs: SILENT_MS,
  /** The longest poll and a little: a node of Temporal may not know polls that began at another. */
  unknownMs: 75_000,
  /** Both, and a minute for Temporal to answer. */
  unservedMs: 255_000,
};
/** `temporal.api.enums.v1.TaskQueueType` */
const WORKFLOW_TASKS = 1;
/** `temporal.api.enums.v1.WorkerVersioningMode` */
const VERSIONED = 2;

export type Version = WorkerDeploymentVersion | undefined;

export interface TurnSettings {
  namespace: string;
  /** That of this worker; undefined for a worker without one. */
  version?: Version;
  /**
   * The waits before this worker takes over: after the last poll of the current version, and where Temporal
   * knows no poll of it; and the wait before `check` says that no worker gets tasks.
   */
  patience?: typeof PATIENCE;
  log: Log;
}

type QueueConnection = Pick<Connection, 'workflowService' | 'withAbortSignal' | 'withDeadline'>;

/** Who gets the tasks of the queue, and when workers of each version polled last. */
export interface Queue {
  current: Version;
  /** The versions that get tasks: the current one and, during a ramp, the ramping one. */
  served: readonly Version[];
  polls: readonly { version: Version; at: number }[];
  lastPollAt: (version: Version) => number | undefined;
}

/**
 * Temporal gives all tasks to the workers of one version, the current one. When none of these workers polls
 * any more, this makes the version of this worker the current one: in an upgrade, and on the way back.
 */
export class WorkerTurn {
  /** Whether the last check found that this version gets the tasks. */
  isCurrent = false;

  #current: Version | 'unknown' = 'unknown';
  #unknownSince: number | undefined;
  #servedAt = performance.now();

  constructor(
    private readonly connection: QueueConnection,
    private readonly settings: TurnSettings,
  ) {}

  /** Returns why no worker gets tasks, as a sentence, once no check has found one for `unservedMs`. */
  async check(over: AbortSignal): Promise<string | undefined> {
    const { namespace, version, patience = PATIENCE, log } = this.settings;
    const ask = () => queueOf(this.connection, namespace, over);
    let lack: string | undefined;
    try {
      // One failure is not an outage.
      lack = await this.#lackIn(await ask().catch(ask), over);
    } catch (error) {
      const reason = reasonOf(error);
      this.#unknownSince = undefined;
      log.debug('temporal worker versions could not be read', { reason });
      lack = version && `Temporal does not say who gets its tasks: ${reason}`;
    }
    return performance.now() - this.#servedAt >= patience.unservedMs ? lack : undefined;
  }

  async #lackIn({ current, lastPollAt }: Queue, over: AbortSignal): Promise<string | undefined> {
    const { version, patience = PATIENCE } = this.settings;
    const [own, theirs] = [lastPollAt(version), lastPollAt(current)];
    const now = performance.now();
    this.isCurrent = isSame(current, version);
    this.#tellOf(current, own !== undefined);
    const isUnknown = own !== undefined && theirs === undefined;
    this.#unknownSince = isUnknown ? (this.#unknownSince ?? now) : undefined;
    // Both by the clock of the server.
    if (this.isCurrent || (theirs !== undefined && (own ?? 0) - theirs < patience.silentMs)) {
      this.#servedAt = now;
      return undefined;
    }
    if (own === undefined) {
      return 'Temporal does not list the polls of this worker.';
    }
    const waits = this.#unknownSince !== undefined && now - this.#unknownSince < patience.unknownMs;
    const reason = waits ? 'this worker waits for them.' : await this.#takeOver(current, over);
    return `Temporal gives its tasks to ${workersOf(current)}, of which none polls, and not to ${workersOf(version)}: ${reason}`;
  }

  /** The next check finds whether it has worked. Of two versions that poll, either may then be current. */
  async #takeOver(current: Version, over: AbortSignal): Promise<string> {
    const { version } = this.settings;
    try {
      if (version) {
        await this.#setCurrent(version.deploymentName, version.buildId, over);
      }
      if (current && current.deploymentName !== version?.deploymentName) {
        // Of several deployments, Temporal takes the one that was changed last.
        await this.#setCurrent(current.deploymentName, '', over);
      }
      return 'the change that it accepted has had no effect yet.';
    } catch (error) {
      return reasonOf(error);
    }
  }

  async #setCurrent(deploymentName: string, buildId: string, over: AbortSignal): Promise<void> {
    const { namespace } = this.settings;
    await limitedCall(this.connection, over, CHANGE_LIMIT_MS, () =>
      this.connection.workflowService.setWorkerDeploymentCurrentVersion({
        namespace,
        deploymentName,
        buildId,
      }),
    );
  }

  #tellOf(current: Version, polls: boolean): void {
    const { version, log } = this.settings;
    if (!polls || (this.#current !== 'unknown' && isSame(this.#current, current))) {
      return;
    }
    // Workers without a version that always were current say nothing.
    if (version || this.#current !== 'unknown' || current) {
      log.info(
        this.isCurrent
          ? 'temporal gives its tasks to this version'
          : 'temporal worker waits until workers of another version have ended',
        { own: workersOf(version), current: workersOf(current) },
      );
    }
    this.#current = current;
    this.#unknownSince = undefined;
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
  const current = versionOf(versioningInfo?.currentDeploymentVersion);
  const isRamping = Boolean(versioningInfo?.rampingVersionPercentage);
  return {
    current,
    served: isRamping ? [current, versionOf(versioningInfo?.rampingDeploymentVersion)] : [current],
    polls,
    lastPollAt: (version) => latestOf(polls.filter((poll) => isSame(poll.version, version))),
  };
}

export function workersOf(version: Version): string {
  return version
    ? `workers of version ${version.deploymentName}.${version.buildId}`
    : 'workers without a version';
}

export function latestOf(polls: readonly { at: number }[]): number | undefined {
  return polls.length > 0 ? Math.max(...polls.map(({ at }) => at)) : undefined;
}

type Message = { deploymentName?: string | null; buildId?: string | null };

function versionOf(message: Message | null | undefined): Version {
  const { deploymentName, buildId } = message ?? {};
  return deploymentName && buildId ? { deploymentName, buildId } : undefined;
}

export function isSame(one: Version, other: Version): boolean {
  return one?.deploymentName === other?.deploymentName && one?.buildId === other?.buildId;
}
