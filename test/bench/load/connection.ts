import { connect, type Socket } from 'node:net';

export interface Target {
  host: string;
  port: number;
  path: string;
  headers: Record<string, string>;
  /** Anything else fails the round: refusals are quick to give and would flatter. */
  expectStatus: number;
}

const HEAD_END = '\r\n\r\n';
const STATUS_AT = 'HTTP/1.1 '.length;
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;
/** JSON has no bare line ends, so that these bytes come nowhere but at the end. */
const LAST_CHUNK = '\r\n0\r\n\r\n';

/** One connection that asks one question over and over. */
export class Connection {
  answered = 0;
  readonly #socket: Socket;
  readonly #question: Buffer;
  #unread = '';
  #length: number | 'chunked' | undefined;

  constructor(
    private readonly target: Target,
    private readonly onFailure: (error: Error) => void,
  ) {
    this.#question = questionOf(target);
    this.#socket = connect({ host: target.host, port: target.port, noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.once('connect', () => this.#socket.write(this.#question));
    this.#socket.on('data', (chunk: string) => this.#read(chunk));
    this.#socket.once('error', onFailure);
    this.#socket.once('end', () => onFailure(new Error('The connection was closed under load.')));
  }

  close(): void {
    this.#socket.removeAllListeners('data');
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    this.#unread = this.#unread === '' ? chunk : this.#unread + chunk;
    this.#length ??= lengthOfAnswer(this.#unread);
    if (this.#length === undefined || !isWhole(this.#unread, this.#length, chunk)) {
      return;
    }
    const status = Number(this.#unread.slice(STATUS_AT, STATUS_AT + 3));
    if (status !== this.target.expectStatus) {
      this.close();
      this.onFailure(new Error(`${this.target.path} answered ${status}, not ${this.target.expectStatus}.`));
      return;
    }
    this.#unread = '';
    this.#length = undefined;
    this.answered += 1;
    this.#socket.write(this.#question);
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

function questionOf({ host, port, path, headers }: Target): Buffer {
  const lines = Object.entries({ host: `${host}:${port}`, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return Buffer.from([`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'), 'latin1');
}
