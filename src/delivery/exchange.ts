import { STATUS_CODES } from 'node:http';
import type { Dispatcher } from 'undici';
import type { AttemptOutcome, AttemptTime } from './attempt.js';
import { exchangeFault } from './connection-faults.js';

/** The part of an answer that is read and kept, more than receivers need. */
const MAX_ANSWER_BYTES = 16_384;
const MAX_LOCATION_LENGTH = 200;
const NOTHING = Buffer.alloc(0);

export interface ExchangeEnd {
  outcome: AttemptOutcome;
  message: string;
  /** The answer is complete, and the connection reusable. */
  isConnectionFree: boolean;
}

/** One request and its answer, as undici delivers it. Reports its end once. */
export class Exchange implements Dispatcher.DispatchHandler {
  httpStatus: number | undefined;
  retryAfterSeconds: number | undefined;
  /** Whether the request may have been written. Until then, it may go to another connection. */
  hasConnection = false;
  #location: string | undefined;
  /** One block for all pieces: separate ones would multiply the cost of single bytes. */
  #kept = NOTHING;
  #size = 0;
  #onEnd: ((end: ExchangeEnd) => void) | undefined;

  constructor(
    private readonly place: string,
    onEnd: (end: ExchangeEnd) => void,
    private readonly time: AttemptTime,
  ) {
    this.#onEnd = onEnd;
  }

  get hasEnded(): boolean {
    return this.#onEnd === undefined;
  }

  get responseStart(): Buffer {
    return this.#kept.subarray(0, this.#size);
  }

  /** For the caller's time limit; later events of undici are ignored. */
  end(outcome: AttemptOutcome, message: string, isConnectionFree = false): void {
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    onEnd?.({ outcome, message, isConnectionFree });
  }

  /** undici calls it right before it writes the request: the process may have been frozen until then. */
  onConnect(abort: () => void): void {
    if (performance.now() >= this.time.endsAt) {
      this.end('INTERRUPTED', 'Nothing was sent: the time for this attempt was over.');
    }
    if (this.hasEnded) {
      abort();
    }
    this.hasConnection = true;
  }

  onHeaders(status: number, headers: Buffer[]): boolean {
    if (status >= 200) {
      this.httpStatus = status;
      if (status >= 300) {
        const now = performance.now() + this.time.aheadMs;
        this.retryAfterSeconds = retryAfterSeconds(status, headerIn(headers, 'retry-after'), now);
        this.#location = isRedirect(status) ? headerIn(headers, 'location') : undefined;
      }
    }
    return true;
  }

  onData(chunk: Buffer): boolean {
    const room = MAX_ANSWER_BYTES - this.#size;
    this.#keep(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (chunk.length > room) {
      this.#endByStatus(false);
    }
    return true;
  }

  onComplete(): void {
    this.#endByStatus(true);
  }

  onError(error: unknown): void {
    if (this.httpStatus === 204) {
      // Complete without a body (RFC 9112, section 6.3). For undici, one that was announced is missing.
      this.#endByStatus(false);
      return;
    }
    const { outcome, message } = exchangeFault(error, this.place);
    this.end(outcome, message);
  }

  /** Copies, because undici reuses the buffer. Most answers have one piece, which fits exactly. */
  #keep(piece: Buffer): void {
    const size = this.#size + piece.length;
    if (size > this.#kept.length) {
      const kept = Buffer.alloc(Math.max(size, Math.min(MAX_ANSWER_BYTES, 2 * this.#kept.length)));
      kept.set(this.responseStart);
      this.#kept = kept;
    }
    this.#kept.set(piece, this.#size);
    this.#size = size;
  }

  #endByStatus(isConnectionFree: boolean): void {
    const status = this.httpStatus ?? 0;
    if (status >= 200 && status < 300) {
      this.end('SUCCEEDED', '', isConnectionFree);
    } else {
      this.end('STATUS_REFUSED', this.#refusal(status), isConnectionFree);
    }
  }

  #refusal(status: number): string {
    const answered = `The receiver answered ${nameOf(status)}`;
    if (!isRedirect(status)) {
      return `${answered}.`;
    }
    const to = this.#location && ` (this one leads to ${printable(this.#location)})`;
    return `${answered}, and redirects are not followed${to ?? ''}.`;
  }
}

/** `404 Not Found`, with our name for the status. */
export function nameOf(status: number): string {
  return [status, STATUS_CODES[status]].join(' ').trimEnd();
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

function headerIn(headers: readonly Buffer[], name: string): string | undefined {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.length === name.length && headers[index]?.toString('latin1').toLowerCase() === name) {
      return headers[index + 1]?.toString('latin1');
    }
  }
  return undefined;
}

function printable(text: string): string {
  const plain = text.replace(/[^\x21-\x7e]/g, '?');
  return plain.length > MAX_LOCATION_LENGTH ? `${plain.slice(0, MAX_LOCATION_LENGTH)}…` : plain;
}

const SECONDS = /^\d{1,9}$/;
/** The greatest wait that is kept. A date may be further away, but the field of the message has 32 bits. */
const MOST_SECONDS = 999_999_999;
/** The only date format that HTTP permits to send (RFC 9110); Date.parse accepts almost anything. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** How long a busy receiver asks us to wait; undefined if absent or malformed. */
export function retryAfterSeconds(
  status: number,
  value: string | undefined,
  now: number,
): number | undefined {
  const text = value?.trim() ?? '';
  if (status !== 429 && status !== 503) {
    return undefined;
  }
  if (SECONDS.test(text)) {
    return Number(text);
  }
  const at = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(MOST_SECONDS, Math.max(0, Math.ceil((at - now) / 1_000)));
}
