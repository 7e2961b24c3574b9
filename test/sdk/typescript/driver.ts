import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll } from '@jest/globals';
import { Project } from './installed-package.js';

type Options = Record<string, unknown>;

interface Reply {
  id: number;
  value?: unknown;
  error?: Told;
}

/** An error of the SDK, as it looks from outside. */
export type Told = Record<string, unknown> & { name: string; message: string };

/** How it went: with a value or with an error. */
export interface Outcome {
  // biome-ignore lint/suspicious/noExplicitAny: what it is, the tests judge.
  value?: any;
  error?: Told;
  tookMs: number;
}

/** A program with the installed package in it, which does what it is told. */
class Driver {
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #count = 0;

  constructor(private readonly child: ChildProcess) {
    child.on('message', (reply: Reply) => this.#waiting.get(reply.id)?.(reply));
  }

  gateway(options: Options, method: string, ...args: unknown[]): Promise<Outcome> {
    return this.#do({ on: 'Gateway', options: { apiKey: 'ik_demo_key', ...options }, method, args });
  }

  signOn(options: Options, method: string, ...args: unknown[]): Promise<Outcome> {
    return this.#do({ on: 'SignOn', options, method, args });
  }

  call(method: string, ...args: unknown[]): Promise<Outcome> {
    return this.#do({ on: 'package', options: {}, method, args });
  }

  /** A call of the gateway that is ended by its caller. */
  abandoned(abortAfterMs: number, options: Options, method: string, ...args: unknown[]): Promise<Outcome> {
    const command = { on: 'Gateway', options: { apiKey: 'ik_demo_key', ...options }, method, args };
    return this.#do({ ...command, abortAfterMs });
  }

  async end(): Promise<void> {
    const gone = once(this.child, 'exit');
    this.child.disconnect();
    await gone;
  }

  async #do(command: object): Promise<Outcome> {
    this.#count += 1;
    const id = this.#count;
    const began = performance.now();
    const { value, error } = await new Promise<Reply>((resolve) => {
      this.#waiting.set(id, resolve);
      this.child.send({ id, ...command });
    });
    this.#waiting.delete(id);
    return { value, ...(error && { error }), tookMs: performance.now() - began };
  }
}

/** Call it where a group of tests is described: the package is installed before them, and gone after. */
export function sdkDriver() {
  let project: Project | undefined;
  let driver: Driver | undefined;
  beforeAll(async () => {
    project = await Project.install();
    const file = await project.program('driver');
    const { PATH = '' } = process.env;
    driver = new Driver(fork(file, { env: { PATH }, execArgv: [], serialization: 'advanced' }));
  });
  afterAll(async () => {
    await driver?.end();
    rmSync(project?.folder ?? '', { recursive: true, force: true });
  });
  return {
    get sdk(): Driver {
      if (!driver) {
        throw new Error('The package is installed once the tests run.');
      }
      return driver;
    },
  };
}
