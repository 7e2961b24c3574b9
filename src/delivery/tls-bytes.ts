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

/** One step of one handshake in each turn of the event loop, so that others are served in between. */
const steps = new AtOnce(1);

/** The bytes of a connection on their way to TLS: few and in turns until the handshake is complete. */
export class TlsBytes extends Duplex {
  #isOpen = false;
  #isWaiting = false;

  constructor(private readonly tcp: Socket) {
    super();
    tcp.on('data', (bytes) => this.#take(bytes));
    tcp.once('end', () => this.push(null));
    tcp.on('error', (error) => this.destroy(error));
    tcp.once('close', () => this.destroy());
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

  #take(bytes: Buffer): void {
    if (this.#isOpen) {
      this.#pass(bytes);
    } else if (this.tcp.bytesRead > MAX_HANDSHAKE_KIB * 1_024) {
      this.destroy(Object.assign(new Error('The handshake is too long.'), { code: HANDSHAKE_TOO_LONG }));
    } else {
      void this.#passInTurn(bytes);
    }
  }

  /** Networks take turns, so that one with many names and connections does not delay the others. */
  async #passInTurn(bytes: Buffer): Promise<void> {
    this.#isWaiting = true;
    this.tcp.pause();
    const step = async () => {
      this.#isWaiting = false;
      this.tcp.resume();
      this.#pass(bytes);
    };
    await steps.run(networkOf(this.tcp.remoteAddress ?? ''), step, () => true);
  }

  #pass(bytes: Buffer): void {
    if (!this.destroyed && !this.push(bytes)) {
      this.tcp.pause();
    }
  }
}
