import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../support/eventually.js';
import { type Answer, ConnectionCut, KeptConnection } from './kept-connection.js';

/** With 64 callers a thousand requests a second; each waits for its answer, so a slow machine has fewer. */
const ASKS_EVERY_MS = 64;
const ASKS_SELDOM_EVERY_MS = 512;
const PAUSE_AFTER_REFUSAL_MS = 100;

export interface Question {
  port: number;
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  json?: string;
}

/** What may happen to requests in a part of the run, and what did. */
export interface Phase {
  /** Each request is answered with a 200. */
  readonly isCalm: boolean;
  /** What was answered by an error may have been done nonetheless. */
  readonly mayBeDone: boolean;
  answered: number;
  /** With a 503. */
  refused: number;
  /** The connection ended before the answer. */
  cut: number;
  /** How many questions of this phase each caller has had answered. */
  readonly answeredTo: Map<Caller, number>;
  readonly refusedTo: Set<Caller>;
  /** The ids of the refused requests. */
  readonly refusals: Set<unknown>;
}

/** Without a body the question was refused or cut, in this phase. */
export interface Outcome {
  body?: string;
  phase: Phase;
}

/** Asks, as often as it is called, what only this caller asks, and compares the answer. */
export type Turn = (caller: Caller) => Promise<void>;

/** Callers that ask one question after the other, each on its own connection, and the count of outcomes. */
export class Traffic {
  /** What must never be. */
  readonly faults: string[] = [];
  phase: Phase = newPhase({ isCalm: true });
  asksEveryMs = ASKS_EVERY_MS;
  readonly total = { asked: 0, answered: 0, refused: 0, cut: 0 };
  readonly #callers: Caller[] = [];
  #inBursts = 0;
  #isOver = false;

  /** What comes from here on belongs to this phase. */
  begin(phase: { isCalm?: boolean; mayBeDone?: boolean }): Phase {
    this.phase = newPhase(phase);
    return this.phase;
  }

  /** So many callers take turns until the end. */
  add(name: string, callers: number, turnOf: () => Turn): void {
    for (let number = 0; number < callers; number += 1) {
      const caller = new Caller(`${name}-${number}`, this);
      this.#callers.push(caller);
      void this.#run(caller, turnOf());
    }
  }

  /** So many more callers ask once, at the same time. */
  async burst(callers: number, turn: Turn): Promise<void> {
    const asked = Array.from({ length: callers }, async () => {
      this.#inBursts += 1;
      const caller = new Caller(`burst-${this.#inBursts}`, this);
      await turn(caller);
      caller.close();
    });
    await Promise.all(asked);
  }

  /** Each caller has had so many answers to questions of the present phase. */
  untilEachAnswered(times: number): Promise<void> {
    const { answeredTo } = this.phase;
    return this.#untilEach(`${times} answers`, (caller) => (answeredTo.get(caller) ?? 0) >= times);
  }

  /** Each caller has had so many answers more. */
  untilEachAnsweredAgain(times: number): Promise<void> {
    const { answeredTo } = this.phase;
    const before = new Map(answeredTo);
    const since = (caller: Caller) => (answeredTo.get(caller) ?? 0) - (before.get(caller) ?? 0);
    return this.#untilEach(`${times} more answers`, (caller) => since(caller) >= times);
  }

  /** Each caller has been refused in the present phase. */
  untilEachRefused(): Promise<void> {
    const { refusedTo } = this.phase;
    return this.#untilEach('a refusal', (caller) => refusedTo.has(caller));
  }

  /** While a process starts, which meets no caller before it is ready and needs the processor. */
  async seldomDuring(work: () => Promise<void>): Promise<void> {
    this.asksEveryMs = ASKS_SELDOM_EVERY_MS;
    await work().finally(() => {
      this.asksEveryMs = ASKS_EVERY_MS;
    });
  }

  /** Asks nothing more, and settles when nothing is unanswered. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#untilEach('an answer or an error', ({ isOver }) => isOver);
  }

  /** Or there is a fault, which the test reports. */
  async #untilEach(what: string, has: (caller: Caller) => boolean): Promise<void> {
    const late = () => this.#callers.filter((caller) => !has(caller));
    const isOver = () => this.faults.length > 0 || late().length === 0;
    await eventually(`${what} to each`, isOver).catch((error: Error) => {
      throw new Error(`${error.message} It has not come to ${late().join()}.`);
    });
  }

  close(): void {
    this.#isOver = true;
    for (const caller of this.#callers) {
      caller.close();
    }
  }

  async #run(caller: Caller, turn: Turn): Promise<void> {
    try {
      while (!this.#isOver) {
        await turn(caller);
      }
    } catch (error) {
      caller.fault(String(error));
    }
    caller.isOver = true;
    caller.close();
  }
}

function newPhase({ isCalm = false, mayBeDone = false }): Phase {
  const counts = { answered: 0, refused: 0, cut: 0 };
  const callers = { answeredTo: new Map(), refusedTo: new Set<Caller>() };
  return { isCalm, mayBeDone, ...counts, ...callers, refusals: new Set() };
}

/** One at a time. */
export class Caller {
  isOver = false;
  #asked = 0;
  #nextAt = 0;
  readonly #connections = new Map<number, KeptConnection>();

  constructor(
    private readonly name: string,
    private readonly traffic: Traffic,
  ) {}

  toString(): string {
    return `${this.name}-${this.#asked}`;
  }

  async ask(question: Question): Promise<Outcome> {
    await pause(Math.max(0, this.#nextAt - performance.now()));
    this.#asked += 1;
    this.traffic.total.asked += 1;
    const begunIn = this.traffic.phase;
    this.#nextAt = performance.now() + this.traffic.asksEveryMs;
    const answer = await this.#answerTo(question);
    // What a fault ended had often begun before it.
    const phase = begunIn.isCalm ? this.traffic.phase : begunIn;
    const outcome = this.#judged(answer, question);
    this.traffic.total[outcome] += 1;
    phase[outcome] += 1;
    if (outcome === 'answered') {
      begunIn.answeredTo.set(this, (begunIn.answeredTo.get(this) ?? 0) + 1);
      return { body: answer?.body, phase };
    }
    if (outcome === 'refused') {
      phase.refusedTo.add(this);
      phase.refusals.add(String(this));
    }
    this.#nextAt = performance.now() + PAUSE_AFTER_REFUSAL_MS;
    return { phase };
  }

  fault(what: string): void {
    this.traffic.faults.push(`${this}: ${what}`);
  }

  close(): void {
    for (const connection of this.#connections.values()) {
      connection.close();
    }
  }

  #answerTo({ port, path, headers, json }: Question): Promise<Answer | undefined> {
    const lines = [
      `${json === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
      `host: 127.0.0.1:${port}`,
      `x-request-id: ${this}`,
      ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
      ...(json === undefined ? [] : ['content-type: application/json', `content-length: ${json.length}`]),
    ];
    return this.#connectionTo(port)
      .ask([...lines, '', json ?? ''].join('\r\n'))
      .catch((error: unknown) => {
        if (!(error instanceof ConnectionCut)) {
          throw error;
        }
        return undefined;
      });
  }

  #connectionTo(port: number): KeptConnection {
    const connection =
      this.#connections.get(port) ??
      new KeptConnection(port, (bytes) => this.fault(`not asked for: ${bytes}`));
    this.#connections.set(port, connection);
    return connection;
  }

  #judged(answer: Answer | undefined, { path }: Question): 'answered' | 'refused' | 'cut' {
    if (!answer) {
      return 'cut';
    }
    const { status, head, body } = answer;
    if (/\r\nx-request-id: *(\S+)/i.exec(head)?.[1] !== String(this)) {
      this.fault(`${path} has the answer to another request: ${head}`);
    }
    if (status === 503 && isInOrder(head, body)) {
      return 'refused';
    }
    if (status !== 200) {
      this.fault(`${path} was answered ${status}: ${body}`);
    }
    return 'answered';
  }
}

/** In the words of the contract of the gateway, or of the sign-on server. */
function isInOrder(head: string, body: string): boolean {
  const { code, error } = JSON.parse(body) as { code?: string; error?: string };
  return /\r\nretry-after: \d/i.test(head) && (code ?? error ?? '').endsWith('unavailable');
}
