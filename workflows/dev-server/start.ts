import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { Connection } from '@temporalio/client';
import { pause } from '../backoff.js';
import type { Log } from '../log.js';
import { addSearchAttributes, missingSearchAttributes, type SearchAttributes } from '../namespace.js';
import { WITHOUT_CONFIGURATION } from './command.js';
import { type Exit, spawnTethered, type Tethered } from './tether.js';

export interface DevServerOptions {
  executable: string;
  /** host:port, loopback only. */
  address: string;
  /** No UI without it. */
  uiPort?: number;
  /** In memory without it. */
  databaseFile?: string;
  namespace: string;
  /** Name to type, as in contract.ts. */
  searchAttributes?: SearchAttributes;
  /** Ends the server; during the start, startDevServer throws the reason. */
  signal?: AbortSignal;
  /** Called with the id of the server's process group. */
  onSpawned?: (group: number) => void;
  /** How long the server may take to close its database. */
  stopLimitMs?: number;
  log: Log;
}

export interface DevServer {
  address: string;
  uiUrl?: string;
  pid: number;
  /** Settles when the server has ended. */
  exited: Promise<Exit>;
  stop(): Promise<void>;
}

const READY_LIMIT_MS = 60_000;
const READY_CHECK_EVERY_MS = 100;
const STOP_LIMIT_MS = 5_000;

/** Starts a dev server and waits until it serves. It ends with this process; the caller restarts it. */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const { signal, log, uiPort, databaseFile, stopLimitMs = STOP_LIMIT_MS } = options;
  signal?.throwIfAborted();
  const address = parseLoopbackAddress(options.address);
  await reservePort(address.ip, address.port, 'Temporal');
  if (uiPort !== undefined) {
    await reservePort(address.ip, uiPort, 'the Temporal UI');
  }
  if (databaseFile) {
    await mkdir(path.dirname(path.resolve(databaseFile)), { recursive: true });
    await removeUnserved(databaseFile);
  }

  const output = serverLog(log);
  const child = spawnTethered(options.executable, serverArguments(options, address), {
    env: { ...process.env, TEMPORAL_VERSION_CHECK_DISABLED: '1' },
    onStdoutLine: output.stdout,
    onStderrLine: output.stderr,
  });
  const stop = async () => {
    output.quiet();
    // Asked first, so that the database is closed properly.
    child.terminate();
    const timer = setTimeout(child.kill, stopLimitMs);
    await child.exited;
    clearTimeout(timer);
  };
  const onAbort = () => void stop();
  signal?.addEventListener('abort', onAbort);
  child.exited.then(() => signal?.removeEventListener('abort', onAbort));
  try {
    options.onSpawned?.(child.pid);
    await untilServing(child, options, output.lastLine);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    address: options.address,
    ...(uiPort !== undefined && { uiUrl: `http://${address.urlHost}:${uiPort}` }),
    pid: child.pid,
    exited: child.exited,
    stop,
  };
}

const unservedMark = (databaseFile: string) => `${databaseFile}.unserved`;

/**
 * The server makes its tables only in a file that does not exist, and never starts with a part of them. Until
 * a server has answered, a mark beside the file says that it may have only a part.
 */
async function removeUnserved(databaseFile: string): Promise<void> {
  const mark = unservedMark(databaseFile);
  if (!existsSync(databaseFile) || existsSync(mark)) {
    await writeFile(mark, '');
    await Promise.all(['', '-wal', '-shm'].map((end) => rm(`${databaseFile}${end}`, { force: true })));
  }
}

function serverArguments(options: DevServerOptions, { ip, port }: LoopbackAddress): string[] {
  const { uiPort, databaseFile, namespace, searchAttributes = {} } = options;
  const database = databaseFile
    ? [
        '--db-filename',
        databaseFile,
        '--sqlite-pragma',
        'journal_mode=wal',
        '--sqlite-pragma',
        'synchronous=1',
      ]
    : [];
  return [
    ...['server', 'start-dev', '--ip', ip, '--port', String(port), '--namespace', namespace],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-ip', ip, '--ui-port', String(uiPort)]),
    ...database,
    ...Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
    ...['--log-level', 'warn', '--log-format', 'json', '--color', 'never'],
    ...WITHOUT_CONFIGURATION,
  ];
}

async function untilServing(
  child: Tethered,
  options: DevServerOptions,
  lastLine: () => string | undefined,
): Promise<void> {
  const { signal } = options;
  const gone = new AbortController();
  child.exited.then(() => gone.abort());
  const deadline = Date.now() + READY_LIMIT_MS;
  while (!(await isServing(options))) {
    signal?.throwIfAborted();
    if (gone.signal.aborted) {
      throw new Error(`Temporal ended while it started: ${lastLine() ?? 'it said nothing'}`);
    }
    if (Date.now() > deadline) {
      throw new Error(`Temporal did not serve within ${READY_LIMIT_MS / 1000} seconds.`);
    }
    await pause(READY_CHECK_EVERY_MS, gone.signal);
  }
  signal?.throwIfAborted();
}

const ANSWER_LIMIT_MS = 2_000;

/** Whether the server answers, and has the namespace and the search attributes. */
async function isServing({
  address,
  databaseFile,
  namespace,
  searchAttributes = {},
}: DevServerOptions): Promise<boolean> {
  const connection = Connection.lazy({ address });
  try {
    return await connection.withDeadline(Date.now() + ANSWER_LIMIT_MS, async () => {
      await connection.workflowService.describeNamespace({ namespace });
      if (databaseFile) {
        await rm(unservedMark(databaseFile), { force: true });
      }
      const missing = await missingSearchAttributes(connection, namespace, searchAttributes);
      if (Object.keys(missing).length === 0) {
        return true;
      }
      // Command-line attributes apply to new namespaces only; an older database lacks the rest.
      await addSearchAttributes(connection, namespace, missing);
      return false;
    });
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

interface LoopbackAddress {
  ip: string;
  port: number;
  urlHost: string;
}

const loopbackIps: Record<string, string> = {
  localhost: '127.0.0.1',
  '127.0.0.1': '127.0.0.1',
  '[::1]': '::1',
};

/** The dev server has no authentication, so it listens where only this machine can reach it. */
export function parseLoopbackAddress(address: string): LoopbackAddress {
  const colon = address.lastIndexOf(':');
  const urlHost = address.slice(0, colon);
  const ip = loopbackIps[urlHost];
  const port = Number(address.slice(colon + 1));
  if (!ip) {
    throw new Error(`The Temporal dev server listens on loopback only, not on ${address}.`);
  }
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Error(`${address} has no valid port.`);
  }
  return { ip, port, urlHost };
}

/** Finds a taken port before the start, for a better message than the server's. */
async function reservePort(ip: string, port: number, purpose: string): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new Error(`Port ${port}, for ${purpose}, is taken.`) : error),
    );
    probe.listen({ host: ip, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}

const levels: Record<string, keyof Log> = { DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' };

/** The caller of the server gave up, for example while the server started. */
const GIVEN_UP = /context canceled$/;

/** Forwards the server's output: JSON lines from stderr, text for people from stdout. */
export function serverLog(log: Log) {
  let lastLine: string | undefined;
  let isQuiet = false;
  const pass = (level: keyof Log, message: string, fields: Record<string, unknown>) => {
    lastLine = typeof fields.error === 'string' ? `${message}: ${fields.error}` : message;
    const isOrdinary = isQuiet || GIVEN_UP.test(String(fields.error));
    log[isOrdinary ? 'debug' : level](message, { component: 'temporal-server', ...fields });
  };
  return {
    stdout: (line: string) => line.trim() && log.debug(line, { component: 'temporal-server' }),
    stderr(line: string) {
      const { level, msg, time: _, ...fields } = parse(line);
      if (msg) {
        pass(levels[level ?? ''] ?? 'warn', msg, fields);
      }
    },
    /** A stopping server reports every lost connection, which needs no warning. */
    quiet() {
      isQuiet = true;
    },
    lastLine: () => lastLine,
  };
}

function parse(line: string): { level?: string; msg?: string; [field: string]: unknown } {
  try {
    return JSON.parse(line);
  } catch {
    return { msg: line.trim() };
  }
}
