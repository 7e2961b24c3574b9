import { connect, type Socket } from 'node:net';
import type { NextQuestion, Target } from './questions.js';

const HEAD_END = '\r\n\r\n';
const STATUS_AT = 'HTTP/1.1 '.length;
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;
/** JSON has no bare line ends, so these bytes occur only at the end. */
const LAST_CHUNK = '\r\n0\r\n\r\n';

/** One connection that asks as soon as it has its answer. */
export class Connection {
  answered = 0;
  /** How many answers told it to come back. */
  shed = 0;
  /** How long each answer took, in milliseconds. */
  readonly durationsMs: number[] = [];
  readonly #socket: Socket;
  #askedAt = 0;
  #unread = '';
  #length: number | 'chunked' | undefined;

  constructor(
    private readonly target: Target,
    private readonly next: NextQuestion,
    private readonly onEnd: (failure?: Error) => void,
  ) {
    this.#socket = connect({ host: target.host, port: target.port, noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.once('connect', () => this.#ask(undefined));
    this.#socket.on('data', (chunk: string) => this.#read(chunk));
    this.#socket.once('error', onEnd);
    this.#socket.once('end', () => onEnd(new Error('The connection was closed under load.')));
  }

  close(): void {
    this.#socket.removeAllListeners('data');
    this.#socket.destroy();
  }

  #ask(answer: string | undefined): void {
    try {
      const question = this.next(answer);
      if (question) {
        this.#askedAt = performance.now();
        this.#socket.write(question);
      } else {
        this.#leave();
      }
    } catch (error) {
      this.#leave(error as Error);
    }
  }

  #leave(failure?: Error): void {
    this.close();
    this.onEnd(failure);
  }

  #read(chunk: string): void {
    this.#unread = this.#unread === '' ? chunk : this.#unread + chunk;
    this.#length ??= lengthOfAnswer(this.#unread);
    if (this.#length === undefined || !isWhole(this.#unread, this.#length, chunk)) {
      return;
    }
    const status = Number(this.#unread.slice(STATUS_AT, STATUS_AT + 3));
    const isShed = status === this.target.shedStatus;
    if (!isShed && ![this.target.expectStatus].flat().includes(status)) {
      const said = this.#unread.slice(-200);
      this.#leave(
        new Error(`${this.target.path} answered ${status}, not ${this.target.expectStatus}: ${said}`),
      );
      return;
    }
    const answer = this.#unread;
    this.#unread = '';
    this.#length = undefined;
    if (isShed) {
      this.shed += 1;
    } else {
      this.answered += 1;
      this.durationsMs.push(performance.now() - this.#askedAt);
    }
    this.#ask(answer);
  }
}

/** Head and body together, as soon as the head is there. A latin1 character is a byte. */
function lengthOfAnswer(text: string): number | 'chunked' | undefined {
  const headEnd = text.indexOf(HEAD_END);
  if (headEnd < 0) {
    return undefined;
  }
  const head = text.slice(0, headEnd + 2);
  const bodyLength = CONTENT_LENGTH.exec(head)?.[1] ?? 0;
  return CHUNKED.test(head) ? 'chunked' : headEnd + HEAD_END.length + Number(bodyLength);
}

/** The last chunk is looked for only where it can have come now: long answers would be read over and over. */
function isWhole(text: string, length: number | 'chunked', newest: string): boolean {
  if (length !== 'chunked') {
    return text.length >= length;
  }
  return newest.length < LAST_CHUNK.length ? text.endsWith(LAST_CHUNK) : newest.endsWith(LAST_CHUNK);
}
