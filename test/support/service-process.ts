import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll } from '@jest/globals';
import type { DemoFile } from '../../src/cli/demo/demo-file.js';
import { endsWithThisProcess } from './ends-with-this-process.js';
import { eventually } from './eventually.js';
import { freePorts } from './free-ports.js';
import { exchange } from './http-exchange.js';
import { onceARun } from './once-a-run.js';
import { type LogLine, OutputLines } from './output-lines.js';
import { newDataDirectory } from './temporary-directory.js';

export const root = join(import.meta.dirname, '../..');
export const mainFile = join(root, 'dist/src/cli/main.js');

const ROLES = ['domain', 'worker', 'edge'] as const;

export type Role = (typeof ROLES)[number];

/** For hangs: four processes that load all modules take twenty seconds on a busy machine. */
const START_LIMIT_MS = 150_000;

export interface StartOptions {
  command?: 'serve' | Role;
  /** On top of ports, directory and the like; a setting given as undefined is unset. */
  env?: Record<string, string | undefined>;
  /** One of an earlier start, to find its data again. */
  dataDir?: string;
  /** Starts on nothing, where others start on what the first start of a demo environment leaves. */
  isFirst?: boolean;
  /** The entry of a build that is not in dist/. */
  main?: string;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The compiled service as separate processes. All are ended after the describe block that calls it. */
export function serviceProcesses() {
  const started: ServiceProcess[] = [];
  const directories: string[] = [];
  const killAll = () => {
    for (const service of started.splice(0)) {
      service.killGroup();
    }
  };
  process.once('exit', killAll);
  afterAll(async () => {
    const gone = started.map(({ exited }) => exited);
    killAll();
    await Promise.all(gone);
    process.removeListener('exit', killAll);
    for (const directory of directories) {
      rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    }
  });
  /** Short, because paths of sockets may have only a hundred characters. */
  const newDirectory = () => {
    const directory = newDataDirectory();
    directories.push(directory);
    return directory;
  };
  const launch = async (options: StartOptions = {}) => {
    const { command = 'serve', env = {}, dataDir = join(newDirectory(), 'data'), main } = options;
    if (mayHaveDemoData(options)) {
      cpSync(await demoData(), dirname(dataDir), { recursive: true });
    }
    const service = new ServiceProcess(command, await settingsOf(dataDir, env), main);
    started.push(service);
    return service;
  };
  return {
    newDirectory,
    /** Started, and perhaps never ready. */
    launch,
    /** Started and ready. */
    start: async (options?: StartOptions) => {
      const service = await launch(options);
      await service.ready();
      return service;
    },
  };
}

/** Whether a start finds its own demo environment in the data of another one. */
function mayHaveDemoData({ command = 'serve', env = {}, dataDir, main, isFirst }: StartOptions): boolean {
  const isOther = ['ENVIRONMENT', 'DATABASE_URL', 'SECRETS_KEY_FILE'].some((name) => name in env);
  const hasData = command === 'serve' || command === 'domain';
  return hasData && !isOther && !isFirst && dataDir === undefined && main === undefined;
}

/** A folder with data and keys as a first start leaves them, which takes as long as the rest of a start. */
function demoData(): Promise<string> {
  return onceARun('demo-data', async (folder) => {
    const directory = newDataDirectory();
    const domain = new ServiceProcess('domain', await settingsOf(join(directory, 'data'), {}));
    await domain.ready();
    await domain.stop();
    cpSync(directory, folder, { recursive: true });
    rmSync(directory, { recursive: true, force: true });
  });
}

/** No Temporal, every port free, and a log that says everything. */
async function settingsOf(dataDir: string, env: StartOptions['env']): Promise<Record<string, string>> {
  const names = [
    'SIGN_ON_PORT',
    'GATEWAY_PORT',
    'GRPC_PORT',
    'METRICS_PORT',
    'DEMO_APP_PORT',
    'TEMPORAL_UI_PORT',
  ];
  const ports = await freePorts(names.length + 1);
  const settings: Record<string, string | undefined> = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    ENVIRONMENT: 'demo',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'debug',
    TEMPORAL_ADDRESS: `127.0.0.1:${ports[names.length]}`,
    ...Object.fromEntries(names.map((name, index) => [name, String(ports[index])])),
    DRAIN_DELAY: '0s',
    ...env,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}

export class ServiceProcess {
  readonly exited: Promise<Exit>;
  readonly output = new OutputLines();
  readonly errors = new OutputLines();
  readonly #child: ChildProcess;

  constructor(
    readonly command: 'serve' | Role,
    readonly settings: Readonly<Record<string, string>>,
    main = mainFile,
  ) {
    if (!existsSync(main)) {
      throw new Error('There is no dist/: run `make build` first.');
    }
    // Its own group, as a shell would give it, so that a signal to the group is what Ctrl-C is.
    this.#child = spawn(process.execPath, [main, command], {
      cwd: main === mainFile ? root : dirname(main),
      env: settings,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endsWithThisProcess(this.#child);
    this.output.read(this.#child.stdout);
    this.errors.read(this.#child.stderr);
    this.exited = new Promise((resolve) =>
      this.#child.once('close', (code, signal) => resolve({ code, signal })),
    );
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  get gatewayUrl(): string {
    return `http://127.0.0.1:${this.settings.GATEWAY_PORT}`;
  }

  get signOnUrl(): string {
    return `http://127.0.0.1:${this.settings.SIGN_ON_PORT}`;
  }

  /** Where /livez, /readyz and /metrics are. */
  get opsUrl(): string {
    return `http://127.0.0.1:${this.settings.METRICS_PORT}`;
  }

  get dataDir(): string {
    return this.settings.DATA_DIR as string;
  }

  get demoFile(): string {
    return join(this.dataDir, 'demo.json');
  }

  demo(): DemoFile {
    return JSON.parse(readFileSync(this.demoFile, 'utf8')) as DemoFile;
  }

  /** Settles when it serves; throws with all it said when it ends instead. */
  async ready(): Promise<void> {
    const ended = this.exited.then(({ code }) => {
      throw new Error(`It ended with ${code}:\n${this.errors.text()}\n${this.output.text()}`);
    });
    await Promise.race([this.#saidToBeReady(), ended]);
  }

  async #saidToBeReady(): Promise<void> {
    if (this.command !== 'serve') {
      await this.output.nextLine(({ msg }) => msg === 'ready');
      return;
    }
    await this.output.nextLine(({ msg }) => msg === 'serving', START_LIMIT_MS);
    // Other processes write these lines, so they may arrive later.
    await Promise.all(ROLES.map((role) => this.output.nextLine(({ msg }) => msg === `${role} is ready`)));
  }

  /** What /readyz says once no role is unready; a busy machine may answer a probe late. */
  async readiness(): Promise<unknown> {
    let last: unknown;
    const look = async () => {
      const response = await fetch(`${this.opsUrl}/readyz`);
      last = await response.json();
      return response.status === 200 && !JSON.stringify(last).includes('"unready"');
    };
    await eventually('readiness', look).catch((error: Error) => {
      throw new Error(`${error.message} The last answer: ${JSON.stringify(last)}`);
    });
    return last;
  }

  /** Settles when nothing is degraded, so that workflows make retries due. */
  async joinedTemporal(): Promise<unknown> {
    return eventually('readiness without reserve', async () => {
      const body = (await (await fetch(`${this.opsUrl}/readyz`)).json()) as { status: string };
      return body.status === 'ready' && body;
    });
  }

  /** The process that a role has now, under `serve`. */
  pidOf(role: Role): number {
    const told = this.output
      .lines()
      .filter(({ msg }) => msg === `${role} is ready` || msg === `${role} is back`);
    return told.at(-1)?.childPid as number;
  }

  rolePids(): number[] {
    return ROLES.map((role) => this.pidOf(role));
  }

  /** The children as the system knows them, once all are there: also those that are not ready yet. */
  childPids(): number[] | undefined {
    const pids = processes().flatMap(({ pid, parent, args }) =>
      parent === this.pid && args.includes(mainFile) ? [pid] : [],
    );
    return pids.length === ROLES.length ? pids : undefined;
  }

  /**
   * Settles when everything is here that edge and domain have logged about answered requests. Each writes its
   * lines in order, so this asks the gateway something and waits for the lines about that. Needs the demo.
   */
  async logged(): Promise<void> {
    const [apiKey] = this.demo().apiKeys;
    const port = Number(this.settings.GATEWAY_PORT);
    const requestId = await eventually('an answer', async () => {
      const id = randomUUID();
      const headers = { 'x-api-key': apiKey?.key, 'x-request-id': id };
      const { status } = await exchange(port, '/v1/instance-integrations', { headers });
      return status === 200 && id;
    });
    const isLast = (line: LogLine) => line.requestId === requestId;
    await this.output.nextLine((line) => isLast(line) && line.role === 'domain' && line.msg === 'call');
    await this.output.nextLine((line) => isLast(line) && line.role === 'edge' && line.msg === 'request');
  }

  /** The names of the roles in the order in which they said a thing. */
  rolesThatSaid(message: string): unknown[] {
    return this.output.lines().flatMap(({ msg, role }) => (msg === message ? [role] : []));
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  signalGroup(name: NodeJS.Signals): void {
    process.kill(-this.pid, name);
  }

  /** Also what outlived the parent, should there be anything. */
  killGroup(): void {
    try {
      this.signalGroup('SIGKILL');
    } catch {
      // It has ended already.
    }
  }

  async stop(): Promise<Exit> {
    this.signal('SIGTERM');
    return this.exited;
  }

  /** Breaks the pipe of what it says to people. */
  leaveErrors(): void {
    this.#child.stderr?.destroy();
  }
}

/** Whether a process runs; one that ended and was not yet waited for does not. */
export function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}

/** The processes that were started with this text among their arguments. */
export function processesWith(argument: string): number[] {
  return processes().flatMap(({ pid, args }) => (args.includes(argument) ? [pid] : []));
}

function processes(): { pid: number; parent: number; args: string }[] {
  const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), args }];
  });
}
