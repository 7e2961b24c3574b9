import { type Connection, ScheduleClient, WorkflowClient } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { Activities } from './activities/index.js';
import { pause } from './backoff.js';
import { taskQueue } from './contract.js';
import type { Log } from './log.js';
import { askForNamespace, connectionTo, shortcomingOf, type TemporalPlace } from './namespace.js';
import { reasonOf } from './reason.js';
import { ensureSchedules, type ScheduleSettings } from './schedules.js';

/** Runs while the worker polls; tolerates failing calls, and ends soon after `stop` is aborted. */
export type Companion = (client: WorkflowClient, stop: AbortSignal) => Promise<void>;

/** Called each time the worker is known to poll, with a sentence if the server lacks something. */
type OnPolling = (shortcoming?: string) => void;

export interface SessionSettings extends TemporalPlace {
  activities: Activities;
  schedules?: ScheduleSettings;
  companions?: readonly Companion[];
  log: Log;
  shutdownGraceMs: number;
  probeIntervalMs: number;
  bundlePath: string;
}

const connectLimitMs = 10_000;
const secondProbeAfterMs = 1_000;
const schedulesLimitMs = 10_000;
const forceAfterGraceMs = 1_000;
/** Most wait for subscribers, and hanging ones must not delay the purge. */
const activitiesAtOnce = 400;

/** One connection with its worker, until the server is lost (throws) or it is stopped (returns). */
export async function runSession(
  settings: SessionSettings,
  stop: AbortSignal,
  onPolling: OnPolling,
): Promise<void> {
  // Two clients: the native one polls, but repeats failing calls beyond any deadline.
  const client = connectionTo(settings);
  try {
    // A worker that cannot be created without its namespace would leak a thread each time.
    await askForNamespace(client, settings, stop);
    const connection = await connect(settings, stop);
    if (!connection) return;
    try {
      await work(await createWorker(connection, settings), client, settings, stop, onPolling);
    } finally {
      // Refused while a worker that does not end still holds it; the process is about to end then.
      await connection.close().catch(() => undefined);
    }
  } finally {
    await client.close();
  }
}

/** Ends the worker when the server is lost, and the watch and the companions with the worker. */
async function work(
  worker: Worker,
  client: Connection,
  settings: SessionSettings,
  stop: AbortSignal,
  onPolling: OnPolling,
): Promise<void> {
  const over = new AbortController();
  const endWatch = () => over.abort();
  const running = worker.run().finally(endWatch);
  stop.addEventListener('abort', endWatch);
  if (stop.aborted) endWatch();
  const watching = watch(client, settings, over.signal, onPolling).finally(() => {
    stop.removeEventListener('abort', endWatch);
    if (worker.getState() === 'RUNNING') worker.shutdown();
  });
  const workflows = new WorkflowClient({ connection: client, namespace: settings.namespace });
  const companions = (settings.companions ?? []).map((accompany) => accompany(workflows, over.signal));
  for (const outcome of await Promise.allSettled([watching, running, ...companions])) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}

/** The native connect has no time limit: an address that drops packets would block it for minutes. */
async function connect(settings: SessionSettings, stop: AbortSignal): Promise<NativeConnection | undefined> {
  if (stop.aborted) return undefined;
  const { address, tls, apiKey } = settings;
  const connecting = NativeConnection.connect({ address, ...(tls && { tls }), ...(apiKey && { apiKey }) });
  const waiting = new AbortController();
  const endWaiting = () => waiting.abort();
  stop.addEventListener('abort', endWaiting);
  try {
    const connection = await Promise.race([connecting, pause(connectLimitMs, waiting.signal)]);
    if (connection) return connection;
    connecting.then((late) => late.close()).catch(() => undefined);
    if (stop.aborted) return undefined;
    throw new Error(`No answer from ${address} within ${connectLimitMs / 1000} seconds.`);
  } finally {
    endWaiting();
    stop.removeEventListener('abort', endWaiting);
  }
}

function createWorker(connection: NativeConnection, settings: SessionSettings): Promise<Worker> {
  return Worker.create({
    connection,
    namespace: settings.namespace,
    taskQueue,
    workflowBundle: { codePath: settings.bundlePath },
    maxConcurrentActivityTaskExecutions: activitiesAtOnce,
    activities: settings.activities,
    shutdownGraceTime: settings.shutdownGraceMs,
    shutdownForceTime: settings.shutdownGraceMs + forceAfterGraceMs,
  });
}

/**
 * During an outage the worker polls ever more rarely, silently; this asks the server. Throws when it is lost:
 * a new session polls at once after its return, and restores the schedules, which a new database lacks.
 */
async function watch(
  client: Connection,
  settings: SessionSettings,
  over: AbortSignal,
  onPolling: OnPolling,
): Promise<void> {
  if (!over.aborted) onPolling();
  let schedulesAreSure = false;
  let isComplete = false;
  while (!over.aborted) {
    if (!schedulesAreSure) schedulesAreSure = await tryToEnsureSchedules(client, settings);
    if (!isComplete) isComplete = await tryToTellShortcoming(client, settings, over, onPolling);
    await pause(settings.probeIntervalMs, over);
    await probe(client, settings, over);
  }
}

/** True once nothing is missing; until then each probe asks again. */
async function tryToTellShortcoming(
  client: Connection,
  settings: SessionSettings,
  over: AbortSignal,
  onPolling: OnPolling,
): Promise<boolean> {
  try {
    const shortcoming = await shortcomingOf(client, settings, over);
    onPolling(shortcoming);
    return shortcoming === undefined;
  } catch {
    // The probe decides whether the server was lost.
    return false;
  }
}

/** Two lost answers in a row are an outage; one is not. */
async function probe(client: Connection, settings: SessionSettings, over: AbortSignal): Promise<void> {
  try {
    await askForNamespace(client, settings, over);
  } catch {
    await pause(Math.min(settings.probeIntervalMs, secondProbeAfterMs), over);
    await askForNamespace(client, settings, over);
  }
}

/** Running workflows matter more: without schedules the worker still polls. */
async function tryToEnsureSchedules(
  connection: Connection,
  { namespace, schedules, log }: SessionSettings,
): Promise<boolean> {
  try {
    const client = new ScheduleClient({ connection, namespace });
    const deadline = Date.now() + schedulesLimitMs;
    const outcomes = await connection.withDeadline(deadline, () => ensureSchedules(client, schedules));
    log.info('temporal schedules ensured', outcomes);
    return true;
  } catch (error) {
    log.warn('temporal schedules could not be written, trying again', { reason: reasonOf(error) });
    return false;
  }
}
