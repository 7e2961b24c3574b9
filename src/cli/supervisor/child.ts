import { type ChildProcess, fork } from 'node:child_process';
import { pause } from '../../../workflows/backoff.js';
import type { Log } from '../../telemetry/log.js';
import type { RoleName } from '../roles/role.js';
import type { RoleMessage, SupervisorMessage } from '../roles/run-role.js';
import { opsSocketOf } from '../sockets.js';
import { EXIT_CANNOT_START } from '../startup-error.js';
import { ask } from './ops-of-children.js';

/** The command that runs this process. */
const COMMAND = process.argv[1] as string;

/**
 * 16 MB, the default of Node 20. Node 24 takes up to four times as much on a machine with much memory, and
 * the service answers no faster with it. `./integration` sets it for roles that are started alone.
 */
const SMALL_YOUNG_GENERATION = '--max-semi-space-size=16';

const FIRST_RESTART_DELAY_MS = 100;
const MAX_RESTART_DELAY_MS = 10_000;
/** A child that lived this long is not in a crash loop. */
const STABLE_AFTER_MS = 10_000;
/** How long after its own grace a child is killed. */
export const KILL_MARGIN_MS = 5_000;
/** A signal to the whole group reaches this process too, within this time. */
const GROUP_SIGNAL_MS = 200;
/** Several, so that a supervisor that was itself suspended asks again before it decides. */
const QUESTIONS = 4;

export interface Refusal {
  sentence: string;
  exitCode: number;
}

interface ChildOptions {
  role: RoleName;
  runDir: string;
  environment: NodeJS.ProcessEnv;
  graceMs: number;
  /** The supervisor kills and restarts a ready child that does not answer for this long. */
  silenceLimitMs: number;
  log: Log;
  /** The child cannot start; the sentence says why. */
  onCannotStart: (refusal: Refusal) => void;
}

/** Runs one role as a child process, and restarts it when it ends unasked. */
export class Child {
  readonly role: RoleName;
  readonly opsSocket: string;
  #process: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #ending = false;
  #failures = 0;
  #endedAt: number | undefined;
  /** Why the present process cannot start. */
  #refusal: string | undefined;
  #hasServed = false;
  #watch = new AbortController();
  #becameReady: () => void = () => undefined;
  readonly ready: Promise<void> = new Promise((resolve) => {
    this.#becameReady = resolve;
  });

  constructor(private readonly options: ChildOptions) {
    this.role = options.role;
    this.opsSocket = opsSocketOf(options.runDir, options.role);
  }

  start(): void {
    const { role, environment } = this.options;
    const startedAt = performance.now();
    let child: ChildProcess;
    this.#process = undefined;
    this.#refusal = undefined;
    try {
      child = fork(COMMAND, [role, '--ops-socket', this.opsSocket], {
        env: environment,
        execArgv: [...process.execArgv, SMALL_YOUNG_GENERATION],
      });
    } catch (error) {
      // Such as ENOMEM. For others, such as EAGAIN, the child emits `error`.
      this.#ended(startedAt, null, null, (error as Error).message);
      return;
    }
    // Without a process, it has no channel either.
    this.#process = child.pid === undefined ? undefined : child;
    // What an earlier process has said may arrive after its end.
    child.on(
      'message',
      (message) => child === this.#process && this.#heard(message as RoleMessage, child, startedAt),
    );
    child.once('exit', (code, signal) => this.#ended(startedAt, code, signal));
    child.once(
      'error',
      ({ message }) => child.pid === undefined && this.#ended(startedAt, null, null, message),
    );
  }

  /** From here on it is not restarted. */
  expectToEnd(): void {
    this.#ending = true;
    this.#watch.abort();
    clearTimeout(this.#restart);
  }

  /** Makes it unready; it continues to serve. */
  drain(): void {
    this.#tell({ type: 'drain' });
  }

  /** Asks the child to end, and kills it after its grace. */
  async stop(): Promise<void> {
    this.expectToEnd();
    const { role, graceMs, log } = this.options;
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) {
      return;
    }
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    this.#tell({ type: 'end' });
    const limitMs = graceMs + KILL_MARGIN_MS;
    const kill = setTimeout(() => {
      log.error(`${role} did not end in time, killing it`, { childPid: child.pid, limitMs });
      child.kill('SIGKILL');
    }, limitMs);
    await ended;
    clearTimeout(kill);
  }

  #heard(message: RoleMessage, child: ChildProcess, startedAt: number): void {
    switch (message.type) {
      case 'cannot-start':
        this.#refusal = message.sentence;
        break;
      case 'signalled':
        // If no signal arrives here as well, it was meant for the child alone: it ends and is restarted.
        setTimeout(() => {
          if (!this.#ending && child === this.#process) {
            this.#tell({ type: 'end' });
          }
        }, GROUP_SIGNAL_MS);
        break;
      case 'ready':
        this.#isReady(startedAt);
    }
  }

  #tell(message: SupervisorMessage): void {
    // A child without a channel is already ending.
    this.#process?.send(message, () => undefined);
  }

  /**
   * Kills a ready child that freezes; the rest of this class handles this like any other end of a child. A
   * start has no limit, because a migration may block it for long.
   */
  async #watchOver(child: ChildProcess): Promise<void> {
    const { role, silenceLimitMs, log } = this.options;
    this.#watch = new AbortController();
    const question = async (timeoutMs: number) => {
      const { status, isSilent } = await ask(this, '/livez', timeoutMs);
      return isSilent ? 'silent' : status === 200 ? 'alive' : 'unknown';
    };
    if (await untilSilent(question, silenceLimitMs, this.#watch.signal)) {
      log.error(`${role} does not answer, killing it`, { childPid: child.pid, silenceLimitMs });
      child.kill('SIGKILL');
    }
  }

  #isReady(startedAt: number): void {
    const { role, log } = this.options;
    const childPid = this.#process?.pid;
    const msSince = (time: number) => Math.round(performance.now() - time);
    if (this.#endedAt !== undefined) {
      log.info(`${role} is back`, { childPid, awayMs: msSince(this.#endedAt) });
      this.#endedAt = undefined;
    } else {
      log.debug(`${role} is ready`, { childPid, startedInMs: msSince(startedAt) });
    }
    this.#hasServed = true;
    this.#becameReady();
    if (this.#process && !this.#ending) {
      void this.#watchOver(this.#process);
    }
  }

  #ended(startedAt: number, code: number | null, signal: NodeJS.Signals | null, failure?: string): void {
    const { role, log, onCannotStart } = this.options;
    this.#watch.abort();
    if (this.#ending) {
      return;
    }
    const untold = code === EXIT_CANNOT_START ? `The ${role} cannot start with these settings.` : undefined;
    const sentence = this.#refusal ?? untold;
    if (sentence !== undefined && code !== null && !this.#hasServed) {
      onCannotStart({ sentence, exitCode: code });
      return;
    }
    this.#endedAt ??= performance.now();
    this.#failures = performance.now() - startedAt > STABLE_AFTER_MS ? 1 : this.#failures + 1;
    const delayMs = Math.min(FIRST_RESTART_DELAY_MS * 2 ** (this.#failures - 1), MAX_RESTART_DELAY_MS);
    log.warn(`${role} ended, starting it again`, {
      signal: signal ?? undefined,
      code: code ?? undefined,
      // The cause may go away, such as a database that is down: it is retried without limit.
      reason: sentence ?? failure,
      delayMs,
    });
    this.#restart = setTimeout(() => this.start(), delayMs);
  }
}

/** Resolves to true when the process has not answered for the limit, and to false on the signal. */
export async function untilSilent(
  ask: (timeoutMs: number) => Promise<'alive' | 'silent' | 'unknown'>,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const stepMs = limitMs / QUESTIONS;
  for (let silences = 0; silences < QUESTIONS; ) {
    const [answer] = await Promise.all([ask(stepMs), pause(stepMs, signal)]);
    if (signal.aborted) {
      return false;
    }
    silences = answer === 'alive' ? 0 : silences + Number(answer === 'silent');
  }
  return true;
}
