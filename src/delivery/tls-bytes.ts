import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { AtOnce } from '../fairness/at-once.js';
import { networkOf } from '../identifiers/network-address.js';

/**
 * OpenSSL verifies every signature of the chain that a receiver sends, trusted or not, on the event loop.
 * 90 KiB of keys with large exponents take half a second to one; real handshakes have 3 to 10 KiB.
 */
export const MAX_HANDSHAKE_KIB = 24;
/** The code of the error when a receiver sends more before the handshake is complete. */
export const HANDSHAKE_TOO_LONG = 'HANDSHAKE_TOO_LONG';

/**
 * Pieces of more than most answers have pass in turns after the handshake too. Some messages of TLS 1.3 have
 * 27 bytes and cost as much as a small answer (KeyUpdate), and Node reads up to 2 MiB of a socket in one turn
 * unless it is paused.
 */
const SMALL_BYTES = 4 * 1_024;

/** One such piece in each turn of the event loop, so that others are served in between. */
const steps = new AtOnce(1);

/** The bytes of a connection on their way to TLS: few until the handshake is complete, and many in turns. */
export class TlsBytes extends Duplex {
  #isOpen = false;
  #isWaiting = false;
  #step = Promise.resolve();

  constructor(private readonly tcp: Socket) {
    super();
    tcp.on('data', (bytes) => this.#take(bytes));
    tcp.once('end', () => this.#afterStep(() => this.push(null)));
    tcp.on('error', (error) => this.#afterStep(() => this.destroy(error)));
    tcp.once('close', () => this.#afterStep(() => this.destroy()));
  }

  /** After the handshake. */
  open(): void {
    this.#isOpen = true;
  }

  override _read(): void {
    if (!this.#isWaiting) {
      this.tcp.resume();
    }
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.tcp.write(bytes, done);
  }

  override _final(done: () => void): void {
    this.tcp.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.tcp.destroy();
    done(error);
  }

  /** A piece, and perhaps the end of the connection behind it, waits for its turn. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  #take(bytes: Buffer): void {
    if (this.#isOpen && bytes.length <= SMALL_BYTES) {
      this.#pass(bytes);
    } else if (!this.#isOpen && this.tcp.bytesRead > MAX_HANDSHAKE_KIB * 1_024) {
      this.destroy(Object.assign(new Error('The handshake is too long.'), { code: HANDSHAKE_TOO_LONG }));
    } else {
      this.#passInTurn(bytes);
    }
  }

  /** A socket ends as soon as its last piece is taken, which may still wait. */
  #afterStep(act: () => void): void {
    this.#isWaiting ? void this.#step.then(act) : act();
  }

  /** Networks take turns, so that one with many names and connections does not delay the others. */
  #passInTurn(bytes: Buffer): void {
    this.#isWaiting = true;
    this.tcp.pause();
    const step = async () => {
      this.#isWaiting = false;
      this.tcp.resume();
      this.#pass(bytes);
    };
    this.#step = steps.run(networkOf(this.tcp.remoteAddress ?? ''), step, () => true);
  }

  #pass(bytes: Buffer): void {
    if (!this.destroyed && !this.push(bytes)) {
      this.tcp.pause();
    }
  }
}
