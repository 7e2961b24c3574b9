import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compiledScript } from '../compiled-script.js';

/** How a receiver ended a request: a status, a closed connection, or an answer after the sender's limit. */
export type GivenAnswer = number | 'hung up' | 'too late';

/** How a receiver reacts; failing ones fail once, twice or always, by a hash of the event's id. */
export type Behaviour =
  | { kind: 'accepts' }
  | { kind: 'is slow'; answersAfterMs: number }
  /** With 500. */
  | { kind: 'refuses' }
  /** By hanging up, and with so many of a thousand events by not answering in time. */
  | { kind: 'fails'; latePerThousand: number }
  /** Accepts so many events and answers 410 ever after. */
  | { kind: 'goes away'; afterEvents: number };

export type Order =
  | { type: 'subscribe'; index: number; secret: string; behaviour: Behaviour }
  /** Leaves a request of this kind, after so many others, without its answer, and tells. */
  | { type: 'hold'; during: 'first attempt' | 'retry'; lets: number }
  | { type: 'let go' }
  | { type: 'write all' };

export type Report =
  | { type: 'listening'; ports: number[] }
  /** How many events have come for the first time, counted at each subscriber. */
  | { type: 'progress'; firsts: number }
  | { type: 'held' }
  | { type: 'written' };

/** A request as it is in the file. */
export interface WrittenRequest {
  index: number;
  eventId: string;
  /** Signed as it should be, and an event of the contract. */
  isGenuine: boolean;
  answer: GivenAnswer;
}

const CHILD = join(import.meta.dirname, 'subscribers.child.ts');

/** Many receivers in a process of their own, which writes down what they get. */
export class WebhookSubscribers {
  firsts = 0;
  readonly #watchers = new Set<(report: Report) => void>();

  private constructor(
    private readonly child: ChildProcess,
    private readonly recordsFile: string,
    readonly ports: readonly number[],
  ) {
    child.on('message', (report: Report) => {
      if (report.type === 'progress') {
        this.firsts = report.firsts;
      }
      for (const tell of [...this.#watchers]) {
        tell(report);
      }
    });
  }

  static start(count: number, recordsFile: string): Promise<WebhookSubscribers> {
    const { NODE_OPTIONS: _, ...env } = process.env;
    const child = fork(compiledScript(CHILD), [recordsFile, String(count)], { env, execArgv: [] });
    return new Promise((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`The receivers ended with ${code}.`)));
      child.once('message', (report: Report) => {
        if (report.type === 'listening') {
          resolve(new WebhookSubscribers(child, recordsFile, report.ports));
        }
      });
    });
  }

  urlOf(index: number): string {
    return `http://127.0.0.1:${this.ports[index]}/hook`;
  }

  subscribe(index: number, secret: string, behaviour: Behaviour): void {
    this.#order({ type: 'subscribe', index, secret, behaviour });
  }

  /** Settles when so many events have come, counted at each subscriber. */
  async received(firsts: number): Promise<void> {
    if (this.firsts < firsts) {
      await this.#report((report) => report.type === 'progress' && report.firsts >= firsts);
    }
  }

  /** Lets so many requests pass, and acts while the next one awaits its answer. */
  async during(
    what: 'first attempt' | 'retry',
    lets: number,
    strike: () => Promise<void> | void,
  ): Promise<void> {
    const held = this.#report(({ type }) => type === 'held');
    this.#order({ type: 'hold', during: what, lets });
    await held;
    try {
      await strike();
    } finally {
      this.#order({ type: 'let go' });
    }
  }

  /** Each request so far, in the order in which they came. */
  async records(): Promise<WrittenRequest[]> {
    const written = this.#report(({ type }) => type === 'written');
    this.#order({ type: 'write all' });
    await written;
    const lines = readFileSync(this.recordsFile, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as WrittenRequest);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = new Promise((resolve) => this.child.once('exit', resolve));
      this.child.kill('SIGKILL');
      await ended;
    }
  }

  #order(order: Order): void {
    this.child.send(order);
  }

  #report(fits: (report: Report) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#watchers.delete(tell);
        this.child.removeListener('exit', gone);
      };
      const gone = () => {
        stop();
        reject(new Error('The receivers have ended.'));
      };
      const tell = (report: Report) => {
        if (fits(report)) {
          stop();
          resolve();
        }
      };
      this.#watchers.add(tell);
      this.child.once('exit', gone);
    });
  }
}
