import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { endsWithThisProcess } from '../support/ends-with-this-process.js';

/** A little less than the limit of a story, so that a failure says what was printed. */
const LIMIT_MS = 150_000;

export interface Command {
  executable: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
}

/** A program as a separate process. */
export class RunningProgram {
  output = '';
  #errors = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #look: () => unknown = () => undefined;
  /** Nothing that it has printed is still to come. */
  #hasClosed = false;

  /** In its own process group, so that its children end with it. */
  constructor({ executable, args, cwd, env }: Command) {
    const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
    const child = spawn(executable, args, {
      cwd,
      env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    endsWithThisProcess(child);
    child.stdout.on('data', (chunk) => {
      this.output += chunk;
      this.#look();
    });
    child.stderr.on('data', (chunk) => {
      this.#errors += chunk;
    });
    this.#ended = once(child, 'close').then(([code]) => {
      this.#hasClosed = true;
      this.#look();
      return code as number | null;
    });
  }

  /** All that it printed, if it ended well. */
  async end(): Promise<string> {
    const timer = setTimeout(() => this.#kill(), LIMIT_MS);
    const code = await this.#ended;
    clearTimeout(timer);
    if (code !== 0) {
      throw new Error(`It ended with ${code}:\n${this.#errors}\n${this.output}`);
    }
    return this.output;
  }

  /** As soon as it has printed so many lines; what there is when they do not come. */
  printed(lines: number): Promise<string> {
    return this.#until(() => this.output.split('\n').length > lines);
  }

  /** Resolves when the program has printed the text so many times. Otherwise throws, with the output. */
  async says(text: string, times = 1): Promise<string> {
    const isThere = () => this.output.split(text).length > times;
    const said = await this.#until(isThere);
    if (!isThere()) {
      throw new Error(`It does not say “${text}”:\n${said}`);
    }
    return said;
  }

  async stop(): Promise<void> {
    this.#kill();
    await this.#ended;
  }

  #kill(): void {
    if (!this.#hasEnded && this.#child.pid !== undefined) {
      process.kill(-this.#child.pid, 'SIGKILL');
    }
  }

  #until(isThere: () => boolean): Promise<string> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        this.#look = () => undefined;
        resolve(`${this.output}${this.#hasClosed ? this.#errors : ''}`);
      };
      const timer = setTimeout(finish, LIMIT_MS);
      this.#look = () => (isThere() || this.#hasClosed) && finish();
      this.#look();
    });
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}
