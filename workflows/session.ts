import { ScheduleClient } from '@temporalio/client';
import { NativeConnection, type NativeConnectionOptions, Worker } from '@temporalio/worker';
import type { Activities } from './activities/index.js';
import { pause } from './backoff.js';
import { taskQueue } from './contract.js';
import type { Log } from './log.js';
import { reasonOf } from './reason.js';
import { ensureSchedules, type ScheduleSettings } from './schedules.js';

export interface SessionSettings {
  /** host:port */
  address: string;
  namespace: string;
  tls?: NativeConnectionOptions['tls'];
  apiKey?: string;
  activities: Activities;
  schedules?: ScheduleSettings;
  log: Log;
  shutdownGraceMs: number;
  probeIntervalMs: number;
  bundlePath: string;
}

interface SessionEvents {
  onPolling(): void;
  onLost(reason: string): void;
}

const connectLimitMs = 10_000;
const probeLimitMs = 3_000;
const schedulesLimitMs = 10_000;
const forceAfterGraceMs = 1_000;

/** One connection with its worker, from connecting until it broke for good (throws) or was stopped (returns). */
export async function runSession(
  settings: SessionSettings,
  stop: AbortSignal,
  events: SessionEvents,
): Promise<void> {
  const connection = await connect(settings, stop);
  if (!connection) return;
  try {
    const worker = await createWorker(connection, settings);
    const over = new AbortController();
    const end = () => {
      over.abort();
      if (worker.getState() === 'RUNNING') worker.shutdown();
    };
    const running = worker.run().finally(() => over.abort());
    stop.addEventListener('abort', end);
    if (stop.aborted) end();
    await Promise.all([running, watch(connection, settings, over.signal, events)]).finally(() =>
      stop.removeEventListener('abort', end),
    );
  } finally {
    // Refused while a worker that would not end still holds it; the process is about to go then.
    await connection.close().catch(() => undefined);
  }
}

/** The native connect has no time limit of its own: an address that swallows packets would hold it for minutes. */
async function connect(settings: SessionSettings, stop: AbortSignal): Promise<NativeConnection | undefined> {
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
    activities: settings.activities,
    shutdownGraceTime: settings.shutdownGraceMs,
    shutdownForceTime: settings.shutdownGraceMs + forceAfterGraceMs,
  });
}

/**
 * The worker polls on through an outage without saying so; asking the server is how we know. A server that comes
 * back may have lost its database, so its schedules are made sure of each time.
 */
async function watch(
  connection: NativeConnection,
  settings: SessionSettings,
  over: AbortSignal,
  events: SessionEvents,
): Promise<void> {
  let schedulesAreSure = false;
  while (!over.aborted) {
    try {
      const deadline = Date.now() + probeLimitMs;
      await connection.withDeadline(deadline, () => connection.workflowService.getSystemInfo({}));
      if (over.aborted) return;
      events.onPolling();
      if (!schedulesAreSure) schedulesAreSure = await tryToEnsureSchedules(connection, settings);
    } catch (error) {
      if (over.aborted) return;
      schedulesAreSure = false;
      events.onLost(reasonOf(error));
    }
    await pause(settings.probeIntervalMs, over);
  }
}

/** Workflows that run already matter more: without its schedules the worker still polls. */
async function tryToEnsureSchedules(
  connection: NativeConnection,
  settings: SessionSettings,
): Promise<boolean> {
  const { namespace, schedules, log } = settings;
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
