import { type Connection, ScheduleClient, WorkflowClient } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { Activities } from './activities/index.js';
import { pause } from './backoff.js';
import { TASK_QUEUE } from './contract.js';
import { limitedCall } from './limited-call.js';
import { reasonOf } from './log.js';
import {
  askForNamespace,
  askForOwner,
  askToPoll,
  connectionTo,
  NamespaceTaken,
  shortcomingOf,
  type TemporalPlace,
} from './namespace.js';
import { ensureSchedules, type ScheduleSettings } from './schedules.js';
import { WorkerEnded } from './worker-state.js';
import { type TurnSettings, WorkerTurn } from './worker-turn.js';

/** Work beside the polling of the worker. Tolerates failed calls, and ends soon after `stop` is aborted. */
type Companion = (client: WorkflowClient, stop: AbortSignal) => Promise<void>;

/** Called at the start and after each probe while the worker polls. `lack`: why it cannot do all its work. */
export type OnPolling = (lack: string | undefined, hasSchedules: boolean) => void;

export interface SessionSettings extends TemporalPlace, TurnSettings {
  activities: Activities;
  schedules: ScheduleSettings;
  companions: readonly Companion[];
  shutdownGraceMs: number;
  probeIntervalMs: number;
  /** How often a worker that gets the tasks rewrites existing schedules. */
  schedulesIntervalMs: number;
  bundlePath: string;
}

const CONNECT_LIMIT_MS = 10_000;
const SECOND_PROBE_AFTER_MS = 1_000;
const SCHEDULES_LIMIT_MS = 10_000;
const FORCE_AFTER_GRACE_MS = 1_000;
/** More than the default of the SDK, 100: activities of many retries must not delay the purge. */
const ACTIVITIES_AT_ONCE = 400;
/** Workflows go on with the new version, so that those of the old one can end at once. */
const VERSIONING = { useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' } as const;
/** Probes per check of the turn, once this version gets the tasks or `check` has said why it does not. */
const TURN_EVERY_PROBES = 6;

/** Runs a worker on one connection. Returns at `stop`, throws when the server is lost or the worker fails. */
export async function runSession(
  settings: SessionSettings,
  stop: AbortSignal,
  onPolling: OnPolling,
): Promise<void> {
  // Two clients: the native one polls, but repeats failing calls beyond any deadline.
  const client = connectionTo(settings);
  try {
    // Without the namespace, each attempt to create a worker would fail and leak a thread.
    await askForNamespace(client, settings, stop);
    await askForOwner(client, settings.namespace, settings.schedules.owner, stop);
    await askToPoll(client, settings, stop);
    const connection = await connect(settings, stop);
    if (!connection) {
      return;
    }
    try {
      await runWorker(await createWorker(connection, settings), client, settings, stop, onPolling);
    } finally {
      // Fails while a worker that has not stopped still uses the connection; the process then ends anyway.
      await connection.close().catch(() => undefined);
    }
  } finally {
    await client.close();
  }
}

/** Stops the worker when the server is lost; the watch and the companions when the worker stops or fails. */
async function runWorker(
  worker: Worker,
  client: Connection,
  settings: SessionSettings,
  stop: AbortSignal,
  onPolling: OnPolling,
): Promise<void> {
  const over = new AbortController();
  const endWatch = () => over.abort();
  const ended = (error: unknown) => {
    throw new WorkerEnded(`The worker ended: ${reasonOf(error)}`);
  };
  const running = worker.run().catch(ended).finally(endWatch);
  stop.addEventListener('abort', endWatch);
  if (stop.aborted) {
    endWatch();
  }
  const watching = watch(worker, client, settings, over.signal, onPolling).finally(() => {
    stop.removeEventListener('abort', endWatch);
    endWatch();
    if (worker.getState() === 'RUNNING') {
      worker.shutdown();
    }
  });
  // A worker whose polls were refused fails, and may never end.
  const patience = new AbortController();
  const late = () => pause(settings.shutdownGraceMs + 2 * FORCE_AFTER_GRACE_MS, patience.signal);
  const ending = watching
    .catch(() => undefined)
    .then(() => Promise.race([running, late()]))
    .finally(() => patience.abort());
  const workflows = new WorkflowClient({ connection: client, namespace: settings.namespace });
  const companions = settings.companions.map((accompany) => accompany(workflows, over.signal));
  for (const outcome of await Promise.allSettled([watching, ending, ...companions])) {
    if (outcome.status === 'rejected') {
      throw outcome.reason;
    }
  }
}

/** The native connect has no time limit: an address that drops packets would block it for minutes. */
async function connect(settings: SessionSettings, stop: AbortSignal): Promise<NativeConnection | undefined> {
  if (stop.aborted) {
    return undefined;
  }
  const { address, tls, apiKey } = settings;
  const connecting = NativeConnection.connect({ address, ...(tls && { tls }), ...(apiKey && { apiKey }) });
  const waiting = new AbortController();
  const endWaiting = () => waiting.abort();
  stop.addEventListener('abort', endWaiting);
  try {
    const connection = await Promise.race([connecting, pause(CONNECT_LIMIT_MS, waiting.signal)]);
    if (connection) {
      return connection;
    }
    connecting.then((late) => late.close()).catch(() => undefined);
    if (stop.aborted) {
      return undefined;
    }
    throw new Error(`No answer from ${address} within ${CONNECT_LIMIT_MS / 1000} seconds.`);
  } finally {
    endWaiting();
    stop.removeEventListener('abort', endWaiting);
  }
}

function createWorker(connection: NativeConnection, settings: SessionSettings): Promise<Worker> {
  const { version } = settings;
  return Worker.create({
    connection,
    namespace: settings.namespace,
    taskQueue: TASK_QUEUE,
    workflowBundle: { codePath: settings.bundlePath },
    maxConcurrentActivityTaskExecutions: ACTIVITIES_AT_ONCE,
    activities: settings.activities,
    shutdownGraceTime: settings.shutdownGraceMs,
    shutdownForceTime: settings.shutdownGraceMs + FORCE_AFTER_GRACE_MS,
    ...(version && { workerDeploymentOptions: { version, ...VERSIONING } }),
  });
}

/**
 * Probes the server, because the worker reports no outage and polls less and less often during one. Throws
 * when the server is lost or the worker has failed. The next session polls as soon as the server is back.
 */
async function watch(
  worker: Worker,
  client: Connection,
  settings: SessionSettings,
  over: AbortSignal,
  onPolling: OnPolling,
): Promise<void> {
  let hasSchedules = false;
  let hasFailed = false;
  /** When the worker last wrote the schedules; another release may have overwritten them since. */
  let writtenAt = Number.NEGATIVE_INFINITY;
  let isComplete = false;
  let shortcoming: string | undefined;
  let stall: string | undefined;
  const turn = new WorkerTurn(client, settings);
  for (let probes = 0; !over.aborted; probes += 1) {
    const isDue = turn.isCurrent && performance.now() - writtenAt >= settings.schedulesIntervalMs;
    const onlyMissing = hasSchedules && !isDue;
    const failure = await tryToEnsureSchedules(client, settings, over, onlyMissing);
    writtenAt = failure === undefined && !onlyMissing ? performance.now() : writtenAt;
    // Once they existed, one failure is no outage.
    hasSchedules = failure === undefined || (hasSchedules && !hasFailed);
    hasFailed = failure !== undefined;
    if (!isComplete) {
      try {
        shortcoming = await shortcomingOf(client, settings, over);
        isComplete = shortcoming === undefined;
      } catch {
        // The probe decides whether the server was lost.
      }
    }
    const waits = !turn.isCurrent && stall === undefined;
    if (waits || probes % TURN_EVERY_PROBES === 0) {
      const wasCurrent = turn.isCurrent;
      stall = await turn.check(over);
      const takesOver = turn.isCurrent && !wasCurrent && probes > 0;
      writtenAt = takesOver ? Number.NEGATIVE_INFINITY : writtenAt;
    }
    if (!over.aborted) {
      onPolling(stall ?? (hasSchedules ? shortcoming : failure), hasSchedules && stall === undefined);
    }
    await pause(settings.probeIntervalMs, over);
    await probe(client, settings, over);
    if (!over.aborted && worker.getState() === 'FAILED') {
      throw new WorkerEnded('The worker has failed, as the log of the SDK says.');
    }
  }
}

/** Throws after two failed calls in a row: one failure is not an outage. */
async function probe(client: Connection, settings: SessionSettings, over: AbortSignal): Promise<void> {
  try {
    await askForNamespace(client, settings, over);
  } catch {
    await pause(Math.min(settings.probeIntervalMs, SECOND_PROBE_AFTER_MS), over);
    await askForNamespace(client, settings, over);
  }
}

/**
 * Returns why it failed, as a sentence: without schedules, the worker still runs workflows, but not in the
 * namespace of another installation. Each probe makes missing schedules: a server may lose its database and
 * be back before the next probe.
 */
async function tryToEnsureSchedules(
  connection: Connection,
  { namespace, schedules, log }: SessionSettings,
  over: AbortSignal,
  onlyMissing: boolean,
): Promise<string | undefined> {
  try {
    const client = new ScheduleClient({ connection, namespace });
    const outcomes = await limitedCall(connection, over, SCHEDULES_LIMIT_MS, () =>
      ensureSchedules(client, schedules, onlyMissing),
    );
    if (Object.values(outcomes).some((outcome) => outcome !== 'unchanged')) {
      log.info('temporal schedules ensured', outcomes);
    }
    return undefined;
  } catch (error) {
    if (error instanceof NamespaceTaken) {
      throw error;
    }
    return `The schedules could not be written: ${reasonOf(error)}`;
  }
}
