import { type ChildProcessByStdio, spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { freePorts } from '../support/free-ports.js';
import { PACKAGE_NAME } from '../support/packed.js';
import { newTemporaryDirectory } from '../support/temporary-directory.js';
import { codeOf, inWalk, type Printed } from './blocks.js';

const systemd = join(import.meta.dirname, 'systemd.js');

/** The first folders of absolute paths on the pages. */
const PLACES = /(?<![\w.])\/(?=(?:etc|opt|usr|var)(?:\/|\s|$))/gm;
const ROLES = ['domain', 'edge', 'worker'];
const OPEN_ID = /\b([a-z]{2,3})_…/g;
export const NEXT_VERSION = '1.5.0';
export const NEXT_PACKAGE_NAME = PACKAGE_NAME.replace(/\d+\.\d+\.\d+/, NEXT_VERSION);

/** The pages are for Linux: other systems have another `install`. */
export const testOnLinux = process.platform === 'linux' ? test : test.skip;

export interface Typing {
  /** What the operator pastes. */
  input?: string;
  /** For `key_…` and the like, by prefix. */
  ids?: Record<string, string>;
  /** Other words that the operator replaces. */
  words?: Record<string, string>;
  /** Where the operator types it, if elsewhere than the block before. */
  folder?: string;
  /** Accepted exit codes of the last command; with others than 0, earlier commands may fail too. */
  codes?: readonly number[];
}

/** An empty machine below a folder. The operator types there what pages print, in one shell of root. */
export class Machine {
  readonly root: string;
  readonly metricsUrl: string;
  readonly gatewayUrl: string;
  readonly signOnUrl: string;
  readonly grpcAddress: string;
  readonly #ports: Record<'sign-on' | 'gateway' | 'grpc' | 'metrics', number>;

  private constructor(root: string, ports: readonly number[]) {
    const [signOn = 0, gateway = 0, grpc = 0, metrics = 0] = ports;
    this.root = root;
    this.#ports = { 'sign-on': signOn, gateway, grpc, metrics };
    this.metricsUrl = `http://127.0.0.1:${metrics}`;
    this.gatewayUrl = `http://127.0.0.1:${gateway}`;
    this.signOnUrl = `http://127.0.0.1:${signOn}`;
    this.grpcAddress = `127.0.0.1:${grpc}`;
  }

  static async start(): Promise<Machine> {
    const machine = new Machine(newTemporaryDirectory(), await freePorts(4));
    for (const folder of [
      'bin',
      'etc/systemd/system',
      'opt',
      'root',
      'run',
      'usr/local/sbin',
      'var/lib',
      'var/backups',
    ]) {
      mkdirSync(machine.path(folder), { recursive: true });
    }
    machine.#addPrograms();
    writeFileSync(machine.path('.state'), `cd '${machine.path('root')}'\n`);
    return machine;
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** All that the service has logged. */
  log(): string {
    return readFileSync(this.path('var/log/integration-service@serve.log'), 'utf8');
  }

  get dataDir(): string {
    return this.path('var/lib/integration-service/live');
  }

  /** The process that a role has now. */
  pidOf(role: string): number {
    const lines = this.log()
      .split('\n')
      .slice(0, -1)
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
    return lines.findLast((line) => line.msg === 'ready' && line.role === role).pid;
  }

  /** Types a block as it is printed; throws if a command of it fails. */
  async type(block: Printed, typing: Typing = {}): Promise<string> {
    return this.run(codeOf(block), typing);
  }

  async run(
    code: string,
    { input = '', ids = {}, words = {}, folder, codes = [0] }: Typing = {},
  ): Promise<string> {
    const replaced = Object.entries({ ...this.#words(), ...words }).reduce(
      (left, [from, to]) => left.replaceAll(from, to),
      code.replaceAll(PLACES, `${this.root}/`),
    );
    const filled = replaced.replaceAll(OPEN_ID, (open, prefix) => ids[prefix] ?? open);
    const typed = folder ? `cd '${folder}'\n${filled}` : filled;
    return this.#shell(typed, input, codes);
  }

  /** Makes the service of the pages, with other ports than those of other tests. */
  async install(settings: Record<string, string> = {}): Promise<void> {
    await this.prepare(settings);
    const made = await this.type(inWalk.init);
    const [operatorToken = ''] = /operator_live_\w+/.exec(made) ?? [];
    await this.type(inWalk.saveToken, { input: operatorToken });
    await this.type(inWalk.start);
  }

  /** Unpacks the release and writes its settings. */
  async prepare(settings: Record<string, string> = {}): Promise<void> {
    await this.type(inWalk.unpack);
    this.configure({
      LISTEN_HOST: '127.0.0.1',
      SIGN_ON_PORT: String(this.#ports['sign-on']),
      GATEWAY_PORT: String(this.#ports.gateway),
      GRPC_PORT: String(this.#ports.grpc),
      METRICS_PORT: String(this.#ports.metrics),
      DRAIN_DELAY: '0s',
      ...settings,
    });
  }

  configure(settings: Record<string, string>): void {
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    appendFileSync(this.path('etc/integration-service/environment'), lines.join(''));
  }

  /** What a command prints with `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: each command has its own answer.
  async json(command: string): Promise<any> {
    return JSON.parse(await this.run(`integration ${command} --json`));
  }

  /** The status of a reading with an API key. */
  async statusWith(key: string, path = ''): Promise<number> {
    const answer = await fetch(`${this.gatewayUrl}/v1/instance-integrations${path}`, {
      headers: { 'x-api-key': key },
    });
    await answer.text();
    return answer.status;
  }

  /** The metrics of every role: a busy machine may leave out one that answers late. */
  async scrape(): Promise<string> {
    return eventually('metrics of every role', async () => {
      const metrics = await (await fetch(`${this.metricsUrl}/metrics`)).text();
      return ROLES.every((role) => metrics.includes(`role="${role}"`)) && metrics;
    });
  }

  async ready(): Promise<void> {
    const status = () =>
      fetch(`${this.metricsUrl}/readyz`).then(
        (answer) => answer.status,
        () => 0,
      );
    await eventually('readiness', async () => (await status()) === 200);
  }

  /** Ends every unit at once. */
  switchOff(): void {
    for (const name of readdirSync(this.path('run')).filter((each) => each.endsWith('.pid'))) {
      try {
        process.kill(-Number(readFileSync(this.path(`run/${name}`), 'utf8')), 'SIGKILL');
      } catch {
        // It has ended already.
      }
    }
  }

  /** What differs from a machine that has the ports and the platform of the pages. */
  #words(): Record<string, string> {
    return {
      'integration-service-1.4.0-linux-x64': PACKAGE_NAME,
      'integration-service-1.5.0-linux-x64': NEXT_PACKAGE_NAME,
      '127.0.0.1:4003': `127.0.0.1:${this.#ports.metrics}`,
      'grpc.example.com:4002': `localhost:${this.#ports.grpc}`,
      // So that a service that does not start fails the test within minutes.
      '--retry 3600': '--retry 150',
    };
  }

  #addPrograms(): void {
    const path = process.env.PATH ?? '';
    const scripts: Record<string, string> = { 'systemd-sysusers': 'exit 0' };
    for (const name of ['systemctl', 'systemd-run', 'journalctl']) {
      scripts[name] = `exec '${process.execPath}' '${systemd}' ${name} '${this.root}' "$@"`;
    }
    const command = this.path('usr/local/sbin/integration');
    // The machine has no user of the service, and the installed command names folders of a whole machine.
    scripts.install = `count=$#
while [ $count -gt 0 ]; do
  word=$1; shift; count=$((count - 1))
  case $word in -o | -g) shift; count=$((count - 1)) ;; *) set -- "$@" "$word" ;; esac
done
PATH='${path}' install "$@" || exit
if [ "$word" = '${command}' ]; then
  sed -i -E 's#(^|[^[:alnum:]_.])/(etc|opt|run)/#\\1${this.root}/\\2/#g' '${command}'
fi`;
    for (const [name, script] of Object.entries(scripts)) {
      writeFileSync(this.path(`bin/${name}`), `#!/bin/sh\n${script}\n`);
      chmodSync(this.path(`bin/${name}`), 0o755);
    }
  }

  /** Each block gets the folder and the variables that the block before it had. */
  async #shell(code: string, input: string, codes: readonly number[]): Promise<string> {
    const state = this.path('.state');
    const mode = codes.some((each) => each !== 0) ? '+e' : '-e';
    const after = `status=$?\n{ export -p; echo "cd '$PWD'"; } > '${state}'\nexit $status\n`;
    const script = `. '${state}'\nset ${mode}\n${code}\n${after}`;
    const path = [this.path('bin'), this.path('usr/local/sbin'), process.env.PATH].join(':');
    const pasted = this.path('.input');
    // A file, because `/dev/stdin` cannot be opened when it is a socket.
    writeFileSync(pasted, input);
    const stdin = openSync(pasted, 'r');
    const shell = spawn('bash', ['--norc', '-c', script], {
      cwd: this.root,
      env: { PATH: path, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      stdio: [stdin, 'pipe', 'pipe'],
    }) as ChildProcessByStdio<null, Readable, Readable>;
    closeSync(stdin);
    const ended = new Promise((resolve) => shell.once('close', resolve));
    const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
    if (!codes.includes((await ended) as number)) {
      throw new Error(`${code}\nended with an error:\n${stdout}\n${stderr}`);
    }
    return stdout;
  }
}

/** Call it where a group of tests is described; the machines are switched off after it. */
export function machines(): () => Promise<Machine> {
  const started: Machine[] = [];
  const switchAllOff = () => {
    for (const machine of started.splice(0)) {
      machine.switchOff();
      rmSync(machine.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    }
  };
  process.once('exit', switchAllOff);
  afterAll(() => {
    switchAllOff();
    process.removeListener('exit', switchAllOff);
  });
  return async () => {
    const machine = await Machine.start();
    started.push(machine);
    return machine;
  };
}
