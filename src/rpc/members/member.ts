import type { Client, Metadata } from '@grpc/grpc-js';
import { HealthService } from '../../../generated/proto/health/v1/health.js';
import { NotReached } from '../../errors/service-error.js';
import { RenewedConnection } from '../connect.js';
import type { Exchange } from '../short-calls/call-stream.js';
import { CALLS } from '../short-calls/frames.js';
import { ServerCalls, type StreamedCalls } from '../short-calls/streamed-calls.js';

/** Connections for streams. */
const STREAM_CONNECTIONS = 2;

/** Silence is counted in turns of our timer, so that a stall of this process is one turn only. */
const ASK_EVERY_TURNS = 2;
/** With the wait for the next question, less than two seconds after a server has frozen. */
const SILENT_AFTER_TURNS = 5;
/**
 * How long a new connection to a frozen server may take before it is tried again: 10 s. The system retries
 * only after up to a minute. Not shorter, because each attempt takes a place in the backlog of the server.
 */
const CONNECT_AGAIN_AFTER_TURNS = 40;

/** With the silence before, five seconds: one that is silent for longer has probably frozen. */
const LATE_FOR_TURNS = 15;

/** A server that is not frozen answers within 250 ms, which is one turn of our timer. */
const PROMPT_TURNS = 2;

const SILENT = 'it does not answer';

/** The least come first. */
const RANKS = { serving: 0, late: 1, 'not-serving': 2, unreachable: 3, unasked: 3 } as const;

/** Without other servers, nothing is asked. */
type MemberState = 'unasked' | 'serving' | 'not-serving' | 'unreachable';

export interface MemberReport {
  address: string;
  state: MemberState;
  /** Why it does not serve, for people. */
  reason?: string;
}

interface MemberOptions {
  address: string;
  connect(purpose: 'short calls' | 'streams'): Client;
  /** Begins a stream of short calls. */
  exchange(connection: RenewedConnection): Exchange;
  /** The metadata of a health check. */
  metadata(): Metadata;
  calls: StreamedCalls;
  onChange(member: Member): void;
  connectMs?: number;
  silentAfterTurns?: number;
}

/** A server of a channel: connections to it, opened on first use, and what is known of its health. */
export class Member {
  readonly shortCalls: ServerCalls;
  /** For unary calls that do not travel in streams of calls. */
  readonly connection: RenewedConnection;
  readonly #forStreams: RenewedConnection[];
  #nextStream = 0;
  #state: MemberState = 'unasked';
  #reason: string | undefined;
  /** Silent, after it served: it may answer late, while one that does not serve may refuse. */
  #isLate = false;
  /** Since the last question. */
  #turns = ASK_EVERY_TURNS;
  readonly #silentAfterTurns: number;
  #patience: number;
  /** The question that waits for its answer. */
  #asked: object | undefined;
  #isClosed = false;

  constructor(private readonly options: MemberOptions) {
    const { connect, exchange, calls, connectMs, silentAfterTurns = SILENT_AFTER_TURNS } = options;
    this.#silentAfterTurns = silentAfterTurns;
    this.#patience = silentAfterTurns;
    const connection = (purpose: 'short calls' | 'streams') =>
      new RenewedConnection(() => connect(purpose), connectMs);
    this.connection = connection('short calls');
    this.#forStreams = Array.from({ length: STREAM_CONNECTIONS }, () => connection('streams'));
    this.shortCalls = new ServerCalls({
      open: () => exchange(this.connection),
      onMoved: (moved, error) => calls.move(moved, error),
      onGoingAway: () => this.#goesAway(),
      onLost: ({ internal, message }) => this.#lost(internal ?? message),
    });
  }

  get address(): string {
    return this.options.address;
  }

  get state(): MemberState {
    return this.#state;
  }

  /** Calls go to a member with the least. */
  get rank(): number {
    return RANKS[this.#isLate ? 'late' : this.#state];
  }

  get report(): MemberReport {
    return { address: this.address, state: this.#state, reason: this.#reason };
  }

  get openStreams(): number {
    return this.#forStreams.reduce((streams, { underWay }) => streams + underWay, 0);
  }

  /** Whether the last question has waited for its answer so long that the connections are of no use. */
  get isSilent(): boolean {
    return this.#asked !== undefined && this.#turns >= this.#patience;
  }

  /** Whether it serves and is not late with an answer, unlike servers that fall silent together. */
  get servesNow(): boolean {
    return this.#state === 'serving' && (this.#asked === undefined || this.#turns < PROMPT_TURNS);
  }

  get isIdle(): boolean {
    return this.shortCalls.underWay + this.openStreams === 0;
  }

  forNextStream(): RenewedConnection {
    this.#nextStream = (this.#nextStream + 1) % STREAM_CONNECTIONS;
    return this.#forStreams[this.#nextStream] as RenewedConnection;
  }

  /** Called at regular times while there are other servers. */
  turn(): void {
    this.#turns += 1;
    if (this.#asked === undefined && this.#turns >= ASK_EVERY_TURNS) {
      this.#ask();
    } else if (this.isSilent) {
      const hasServed = this.#isLate || this.#state === 'serving';
      const isLate = hasServed && this.#turns < this.#silentAfterTurns + LATE_FOR_TURNS;
      this.#become('unreachable', SILENT, isLate);
    }
  }

  /** Ends all calls of a silent server, so that others can answer those that are safe to repeat. */
  break(): void {
    this.#isLate = false;
    this.#patience = CONNECT_AGAIN_AFTER_TURNS;
    this.#asked = undefined;
    for (const connection of [this.connection, ...this.#forStreams]) {
      connection.break();
    }
    this.shortCalls.break(new NotReached(`${this.address} does not answer`));
    this.#ask();
  }

  /** Makes no more calls, and lets those under way end. */
  leave(): void {
    this.#isClosed = true;
    this.shortCalls.renew();
  }

  close(): void {
    this.#isClosed = true;
    this.shortCalls.break(new NotReached('the channel was closed'));
    for (const connection of [this.connection, ...this.#forStreams]) {
      connection.close();
    }
  }

  /** Asks by the standard health protocol: of the whole server, or for a quick answer. */
  async health(service: string, deadlineMs?: number): Promise<string> {
    const { path, requestSerialize, responseDeserialize } = HealthService.check;
    const deadline = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
    return new Promise((resolve, reject) => {
      this.connection.begin((client) =>
        client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          { service },
          this.options.metadata(),
          deadline,
          (failure, response) =>
            failure ? reject(new Error(failure.details)) : resolve(response?.status ?? ''),
        ),
      );
    });
  }

  get #isAsked(): boolean {
    return this.#state !== 'unasked' && !this.#isClosed;
  }

  #ask(): void {
    const asked = {};
    this.#asked = asked;
    this.#turns = 0;
    const settle = (state: MemberState, reason?: string) => {
      if (this.#asked === asked) {
        this.#asked = undefined;
        this.#patience = this.#silentAfterTurns;
        this.#become(state, reason);
      }
    };
    this.health(CALLS).then(
      (answer) => (answer === 'SERVING' ? settle('serving') : settle('not-serving', `it says ${answer}`)),
      (error: Error) => settle('unreachable', this.isSilent ? SILENT : error.message),
    );
  }

  #goesAway(): void {
    if (this.#isAsked) {
      // An answer to the pending question would be older than this announcement.
      this.#asked = undefined;
      this.#become('not-serving', 'it is stopping');
    }
  }

  #lost(reason: string): void {
    if (this.#isAsked && (this.#isLate || this.#state !== 'unreachable')) {
      this.#become('unreachable', reason);
      this.#ask();
    }
  }

  #become(state: MemberState, reason?: string, isLate = false): void {
    const isChange = state !== this.#state;
    this.#state = state;
    this.#reason = reason;
    this.#isLate = isLate;
    if (isChange && !this.#isClosed) {
      this.options.onChange(this);
    }
  }
}
