import { once } from 'node:events';
import { access as accessFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { backoffDelayMs, pause } from './backoff.js';
import { reasonOf } from './log.js';
import type { OnPolling, SessionSettings } from './session.js';
import { WorkerStanding, type WorkerState } from './worker-state.js';

type Access = Pick<SessionSettings, 'tls' | 'apiKey'>;

/** What the worker does. */
export type Work = Pick<SessionSettings, 'activities' | 'schedules' | 'companions'>;

const DEFAULTS = {
  /** How long running activities may continue after shutdown() before they are cancelled. */
  shutdownGraceMs: 10_000,
  /** The interval of the server checks. */
  probeIntervalMs: 5_000,
  schedulesIntervalMs: 3_600_000,
  backoff: { firstDelayMs: 250, maxDelayMs: 10_000 },
  /** The script that bundle.ts writes, where the build has it. */
  bundlePath: fileURLToPath(new URL('./definitions.bundle.js', import.meta.url)),
};

type Defaults = typeof DEFAULTS;

export interface WorkerOptions extends Omit<SessionSettings, keyof Defaults | keyof Work>, Partial<Defaults> {
  /**
   * Called when a server first answers, and again if it failed: a process that never works for Temporal does
   * not load the SDK.
   */
  work: () => Promise<Work>;
  /**
   * Called for each session: when a certificate or key expires, the server ends the session, and the next
   * session uses the new files. If a later call throws, the last result stays in use. The first call must
   * not throw.
   */
  access?: () => Access;
  onState?: (state: WorkerState) => void;
}

export interface TemporalWorker {
  readonly state: WorkerState;
  /** Ends within the grace and a few seconds, even if the server or an activity hangs. Idempotent. */
  shutdown(): Promise<void>;
}

/** Workers of this process; the last one closes the shared parts. */
let running = 0;
let closeShared: () => Promise<void> = async () => undefined;

const ANSWER_LIMIT_MS = 10_000;

/** After the grace: for cancelled activities and the native part to end. */
const SHUTDOWN_MARGIN_MS = 3_000;

/** Works for Temporal whenever it is available. Throws only if the bundle is missing. */
export async function startTemporalWorker(options: WorkerOptions): Promise<TemporalWorker> {
  const settings: Settings = { ...DEFAULTS, ...options };
  // Throws for unusable files: the worker does not start.
  const first = options.access?.() ?? {};
  await accessFile(settings.bundlePath).catch(() => {
    throw new Error(`The workflow bundle ${settings.bundlePath} is missing: build the project first.`);
  });
  running++;
  const stop = new AbortController();
  let isRunning = true;
  const onChange = (state: WorkerState) => {
    const { status, reason } = state;
    const isWanted = reason === undefined || stop.signal.aborted;
    settings.log[isWanted ? 'info' : 'warn'](`temporal worker ${status}`, {
      address: settings.address,
      reason,
    });
    options.onState?.(state);
  };
  const standing = new WorkerStanding(onChange);

  options.onState?.(standing.state);
  const ended = keepRunning(settings, first, standing, stop.signal);
  return {
    get state() {
      return standing.state;
    },
    async shutdown() {
      stop.abort();
      const limitMs = settings.shutdownGraceMs + SHUTDOWN_MARGIN_MS;
      const timer = new AbortController();
      const late = pause(limitMs, timer.signal).then(() => {
        if (!timer.signal.aborted) {
          settings.log.warn('temporal worker did not end in time', { limitMs });
        }
      });
      await Promise.race([ended, late]);
      timer.abort();
      if (!isRunning) {
        return;
      }
      isRunning = false;
      if (--running === 0) {
        await closeShared();
      }
      standing.lost('The worker was shut down.');
    },
  };
}

type Settings = WorkerOptions & Defaults;

async function keepRunning(
  settings: Settings,
  first: Access,
  standing: WorkerStanding,
  stop: AbortSignal,
): Promise<void> {
  let access = first;
  let session: Session | undefined;
  while (!stop.aborted) {
    access = renewed(settings, access);
    try {
      session ??= await loadSession(settings, stop);
      await session?.(access, (lack, hasSchedules) => standing.polls(lack, hasSchedules));
    } catch (error) {
      if (stop.aborted) {
        settings.log.warn('temporal worker ended by force', { reason: reasonOf(error) });
      } else {
        standing.lost(lossReason(error, settings.address), error);
      }
    }
    await pause(backoffDelayMs(Math.max(1, standing.failures), settings.backoff), stop);
  }
}

type Session = (access: Access, onPolling: OnPolling) => Promise<void>;

/** Loads the SDK, which takes half a second and 50 MB, when a server answers. Undefined when stopped. */
async function loadSession(settings: Settings, stop: AbortSignal): Promise<Session | undefined> {
  await untilAnswered(settings.address, ANSWER_LIMIT_MS, stop);
  if (stop.aborted) {
    return undefined;
  }
  const [{ runSession }, { installRuntime, closeRuntime }, work] = await Promise.all([
    import('./session.js'),
    import('./runtime.js'),
    settings.work(),
  ]);
  if (stop.aborted) {
    return undefined;
  }
  installRuntime(settings.log);
  closeShared = closeRuntime;
  return (access, onPolling) => runSession({ ...settings, ...work, ...access }, stop, onPolling);
}

function renewed({ access, log }: Settings, before: Access): Access {
  try {
    return access?.() ?? before;
  } catch (error) {
    log.warn('temporal credentials cannot be read again; those read before stay in use', {
      reason: reasonOf(error),
    });
    return before;
  }
}

/** The common loss in words; the two clients describe it differently and at length. */
function lossReason(error: unknown, address: string): string {
  const reason = reasonOf(error);
  const isUnanswered =
    /ConnectionRefused|ECONNREFUSED|ECONNRESET|Failed to connect|No connection established/;
  return isUnanswered.test(reason) ? `Nothing answers at ${address}.` : reason;
}

/** Resolves when a server takes a connection at `host:port`, or when stopped; rejects with a sentence. */
export async function untilAnswered(address: string, limitMs: number, stop: AbortSignal): Promise<void> {
  if (stop.aborted) {
    return;
  }
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const limit = AbortSignal.timeout(limitMs);
  const socket = connect({ host, port: Number(address.slice(colon + 1)) }).on('error', () => undefined);
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([stop, limit]) });
  } catch (error) {
    if (!stop.aborted) {
      const { syscall, message } = error as NodeJS.ErrnoException;
      // With several addresses, the error of the connection has no message of its own.
      const reason = syscall === 'getaddrinfo' ? message : `Nothing answers at ${address}.`;
      throw new Error(limit.aborted ? `No answer from ${address} within ${limitMs / 1000} seconds.` : reason);
    }
  } finally {
    socket.destroy();
  }
}
