import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll } from '@jest/globals';
import { packageRoot } from '../../../src/config/package.js';
import { SQLITE_PACKAGE } from '../../../src/store/better-sqlite3.js';

/** `shown` is what a log would have of it. */
export type Told = Record<string, unknown> & { name: string; message: string; shown: string };

/** How it went: with a value or with an error. */
export interface Outcome {
  // biome-ignore lint/suspicious/noExplicitAny: what it is, the tests judge.
  value?: any;
  error?: Told;
  /** Members that were a Date, where the language of the driver has that. */
  dates?: string[];
}

export interface Program {
  command: string;
  args: readonly string[];
  cwd: string;
  env?: Record<string, string>;
}

/** The binding of SQLite that runs on this Node, for programs that bring none. */
export const sqliteBinding = join(packageRoot, 'node_modules', SQLITE_PACKAGE);

const END_LIMIT_MS = 5_000;

type Options = Record<string, unknown>;

/** A program that does what each line says, and answers with a line. */
export class LineDriver {
  /** What it said of a sync before it was asked: differences and the failure that ended it. */
  readonly unasked: { differences?: object[]; failure?: Told }[] = [];
  readonly #waiting = new Map<number, (outcome: Outcome) => void>();
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #count = 0;

  constructor({ command, args, cwd, env = {} }: Program) {
    const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
    this.#child = spawn(command, args, {
      cwd,
      env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#gone = new Promise((resolve) => this.#child.once('close', () => resolve()));
    this.#child.once('close', (code) =>
      this.#answerAll({ name: 'Gone', message: `It ended with ${code}.`, shown: '' }),
    );
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const { id, ...outcome } = JSON.parse(line) as Outcome & { id?: number };
      if (id === undefined) {
        this.unasked.push(outcome as object);
        return;
      }
      this.#waiting.get(id)?.(outcome);
      this.#waiting.delete(id);
    });
  }

  gateway(
    options: Options,
    method: string,
    args: readonly string[] = [],
    more: Options = {},
  ): Promise<Outcome> {
    return this.#do({ on: 'Gateway', options: { apiKey: 'ik_demo_key', ...options }, method, args, ...more });
  }

  signOn(options: Options, method: string, parameters: Options = {}): Promise<Outcome> {
    return this.#do({ on: 'SignOn', options, method, parameters });
  }

  verify(parameters: Options): Promise<Outcome> {
    return this.#do({ on: 'webhooks', method: 'verifyWebhook', parameters });
  }

  /** Verifies a request, and follows the link of the event in it. */
  follow(options: Options, parameters: Options, more: Options = {}): Promise<Outcome> {
    return this.#do({ on: 'links', options: { apiKey: 'ik_demo_key', ...options }, parameters, ...more });
  }

  /**
   * One sync at a time: it is started, to follow or to catch up, woken and stopped or ends by itself. `again`
   * runs the same one. `pass` puts its clock forward. `catchUp` answers when it has ended.
   */
  sync(
    method: 'start' | 'again' | 'startCatchUp' | 'pass' | 'wake' | 'stop' | 'ended' | 'catchUp',
    options: Options = {},
    args: readonly string[] = [],
    parameters: Options = {},
  ): Promise<Outcome> {
    return this.#do({ on: 'Sync', options: { apiKey: 'ik_demo_key', ...options }, method, args, parameters });
  }

  /** As by the machine: the program gets no word of it. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  async end(): Promise<void> {
    this.#child.stdin?.end();
    const impatience = setTimeout(() => this.#child.kill('SIGKILL'), END_LIMIT_MS);
    await this.#gone;
    clearTimeout(impatience);
  }

  #do(command: object): Promise<Outcome> {
    this.#count += 1;
    const id = this.#count;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.stdin?.write(`${JSON.stringify({ id, ...command })}\n`);
    });
  }

  #answerAll(error: Told): void {
    for (const answer of this.#waiting.values()) {
      answer({ error });
    }
  }
}

export interface Driven {
  readonly sdk: LineDriver;
  /** One more of the same program, which the test ends. */
  another(): LineDriver;
}

/** Call it where a group of tests is described. Making the program can take a while the first time. */
export function driven(make: () => Promise<Program>): Driven {
  let program: Program | undefined;
  let driver: LineDriver | undefined;
  beforeAll(async () => {
    program = await make();
    driver = new LineDriver(program);
  }, 300_000);
  afterAll(() => driver?.end());
  const present = <T>(made: T | undefined): T => {
    if (made === undefined) {
      throw new Error('The program runs once the tests do.');
    }
    return made;
  };
  return {
    get sdk(): LineDriver {
      return present(driver);
    },
    another: () => new LineDriver(present(program)),
  };
}
