import { rmSync } from 'node:fs';
import { setLogger } from '@grpc/grpc-js';
import type { Config } from '../../config/config.js';
import { insecuritiesOf } from '../../config/insecurities.js';
import { packageVersion } from '../../config/package.js';
import { boundedWarnings, createLog, type Log } from '../../telemetry/log.js';
import { createMetricsRegistry, readinessGauge } from '../../telemetry/metrics.js';
import { startOpsServer } from '../../telemetry/ops-server.js';
import { startTracing } from '../../telemetry/tracing.js';
import { doubtfulNames, logOptionsOf } from '../from-config.js';
import { releaseMemoryAtRest } from '../memory-at-rest.js';
import { type Opener, type Presence, presenceOf, startOpsOnPort } from '../ports.js';
import { exitCodeOfStart } from '../startup-error.js';
import { drained, listenForStop } from '../stop-signals.js';
import { EndedEarly, type RoleName, type RoleOptions, type RunningRole } from './role.js';

/** A role is loaded when it starts, so that a process holds only what its role needs. */
const STARTS: Record<RoleName, (options: RoleOptions) => Promise<RunningRole>> = {
  domain: async (options) => (await import('./domain.js')).startDomain(options),
  worker: async (options) => (await import('./worker.js')).startWorker(options),
  edge: async (options) => (await import('./edge.js')).startEdge(options),
};

/** While the collector is unreachable, each batch fails. */
const TRACE_LINES_PER_MINUTE = 1;

/** Messages from a child to its supervisor. */
export type RoleMessage =
  | { type: 'ready' }
  | { type: 'signalled' }
  | { type: 'cannot-start'; sentence: string };

/** Messages from a supervisor to its child. */
export type SupervisorMessage = { type: 'drain' } | { type: 'end' };

/**
 * Runs one role as this process, until it is asked to end or its supervisor is gone. The supervisor asks for
 * /livez, /readyz and /metrics on its socket; a role by itself uses METRICS_PORT.
 */
export async function runRole(name: RoleName, config: Config, opsSocket: string | undefined): Promise<void> {
  const log = createLog({ role: name, ...logOptionsOf(config) });
  dieLoudly(log);
  takeOverLogOfGrpc(log);
  const stop = opsSocket === undefined ? stopBySignal(name, config, log) : stopBySupervisor();
  const ending = new AbortController();
  const openers: Opener[] = opsSocket === undefined ? [name, 'livez'] : [name];
  void Promise.race([stop.drain, stop.end]).then(() => ending.abort());
  let mustEnd = false;
  void stop.end.then(() => {
    mustEnd = true;
  });
  try {
    for (const { name: allowed, problem } of insecuritiesOf(config)) {
      log.warn('an insecure setting is allowed', { allowed, problem });
    }
    // Under a supervisor, the supervisor warns.
    for (const problem of opsSocket === undefined ? doubtfulNames(config, process.env) : []) {
      log.warn('a variable looks like a misspelt setting', { problem });
    }
    const metrics = createMetricsRegistry(name, packageVersion);
    const warnOfTraces = boundedWarnings(log, TRACE_LINES_PER_MINUTE);
    const stopTracing = await startTracing(name, packageVersion, process.env, (reason) =>
      warnOfTraces('traces are lost', { reason }),
    );
    const role = await STARTS[name]({ config, openers, log, metrics, ending: ending.signal });
    readinessGauge(metrics, () => role.health.readiness());
    if (opsSocket !== undefined && mustEnd) {
      // Opens no socket here: it could replace the socket of the same role under the next supervisor.
      await role.stop().catch((error: unknown) => die(log, 'could not stop cleanly', error));
      process.exit(0);
    }
    const ops = await startOps(role, presenceOf(config, ...openers), config, opsSocket, () =>
      metrics.metrics(),
    );
    log.info('ready', { environment: config.ENVIRONMENT });
    tell({ type: 'ready' });
    releaseMemoryAtRest();
    void stop.drain.then(() => role.health.drain());
    await stop.end;
    log.info('ending');
    await role.stop().catch((error: unknown) => die(log, 'could not stop cleanly', error));
    await stopTracing();
    ops.close();
    process.exit(0);
  } catch (error) {
    if (error instanceof EndedEarly) {
      process.exit(0);
    }
    refuseToStart(error, log, opsSocket !== undefined);
  }
}

async function startOps(
  { health }: RunningRole,
  presence: Presence,
  config: Config,
  socket: string | undefined,
  metrics: () => Promise<string>,
) {
  const source = {
    liveness: async () => ({
      ...{ status: 'alive', uptimeSeconds: Math.floor(process.uptime()) },
      ...presence,
    }),
    readiness: () => health.readiness(),
    metrics,
  };
  if (socket) {
    rmSync(socket, { force: true });
    return startOpsServer(source, { path: socket });
  }
  return startOpsOnPort(config, source);
}

/** How a role is stopped. */
interface Stop {
  /** Become unready, and continue to serve. */
  drain: Promise<void>;
  end: Promise<void>;
}

function stopBySignal(name: RoleName, config: Config, log: Log): Stop {
  const { asked, hurried } = listenForStop();
  // No requests come to the worker.
  const end = asked.then(() => (name === 'worker' ? undefined : drained(config, log, hurried)));
  return { drain: asked, end };
}

/** Leaves the order of ending to the supervisor, and passes on a signal that reaches this process alone. */
function stopBySupervisor(): Stop {
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  process.on('SIGTERM', () => tell({ type: 'signalled' }));
  const heard = (wanted: SupervisorMessage['type']) =>
    new Promise<void>((resolve) => {
      process.on('message', ({ type }: SupervisorMessage) => type === wanted && resolve());
    });
  const gone = new Promise<void>((resolve) => {
    // The channel closes when the supervisor ends, perhaps before this listener was added.
    process.on('disconnect', () => resolve());
    if (!process.connected) {
      resolve();
    }
  });
  return { drain: heard('drain'), end: Promise.race([heard('end'), gone]) };
}

/** Other programs may also start a role with an IPC channel; unlike the supervisor, they read stderr. */
function refuseToStart(error: unknown, log: Log, isSupervised: boolean): never {
  const { message } = error as Error;
  const exitCode = exitCodeOfStart(error);
  if (exitCode !== undefined) {
    tell({ type: 'cannot-start', sentence: message });
    if (!isSupervised) {
      process.stderr.write(`${message}\n`);
    }
    process.exit(exitCode);
  }
  die(log, 'could not start', error);
}

/** Exits with 1 and never with 78, which would prevent a restart. */
function die(log: Log, sentence: string, error: unknown): never {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  log.error(sentence, { reason: message, stack });
  process.exit(1);
}

/** By default grpc-js writes to stderr; its failures are logged by their callers as well. */
function takeOverLogOfGrpc(log: Log): void {
  const at = (level: 'debug' | 'warn') => (reason: unknown) => log[level]('grpc', { reason: String(reason) });
  setLogger({ error: at('warn'), info: at('debug'), debug: at('debug') });
}

/** An uncaught error leaves a process in an unknown state; its supervisor starts a new one. */
function dieLoudly(log: Log): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => die(log, 'ended by an uncaught error', error));
  }
}

function tell(message: RoleMessage): void {
  if (process.connected) {
    process.send?.(message);
  }
}
