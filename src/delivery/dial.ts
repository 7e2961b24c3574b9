import { constants } from 'node:crypto';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls, createSecureContext, DEFAULT_CIPHERS } from 'node:tls';
import { AtOnce } from '../fairness/at-once.js';
import { networkOf } from '../identifiers/network-address.js';
import type { AddressGuard } from './address-guard.js';
import { AttemptFault, connectionFault, HANDSHAKE_TOO_LONG, MAX_HANDSHAKE_KIB, tlsFault } from './attempt.js';

/** For receivers with several addresses: when the next one is tried in parallel. */
const NEXT_ADDRESS_AFTER_MS = 1_000;
/**
 * Without the key exchanges over finite fields, of TLS 1.2 and of 1.3: a receiver may choose a group for them
 * that blocks the event loop for up to a second.
 */
const KEY_EXCHANGE = { ciphers: `${DEFAULT_CIPHERS}:!DHE`, ecdhCurve: groups().join(':') };

/** The first is known to Node 24 and later. */
function groups(): string[] {
  return ['X25519MLKEM768', 'X25519', 'P-256', 'P-384', 'P-521'].filter((ecdhCurve) => {
    try {
      return createSecureContext({ ecdhCurve });
    } catch {
      return false;
    }
  });
}

export interface DialOptions {
  guard: AddressGuard;
  /** Trusted certificates instead of the public ones, in PEM. */
  trusted?: string;
}

/** Resolves a receiver's name, checks and dials its address, with TLS for https. */
export class Dial {
  /** The progress of the connection, for the message of a time-out. */
  phase: 'name' | 'tcp' | 'tls' | 'open' = 'name';
  #tcp: Socket | undefined;
  #bytes: TlsBytes | undefined;
  #tls: Socket | undefined;
  #cancelled = false;

  constructor(
    private readonly origin: URL,
    private readonly options: DialOptions,
  ) {}

  /** All bytes from the receiver; a TLS socket would count only those of answers. */
  get bytesRead(): number {
    return this.#tcp?.bytesRead ?? 0;
  }

  /** Something has arrived that the socket does not show yet. */
  get isBehind(): boolean {
    return this.#bytes?.isWaiting ?? false;
  }

  async open(): Promise<Socket> {
    const addresses = await this.options.guard.addressesOf(this.origin);
    if (this.#cancelled) {
      throw new AttemptFault('INTERRUPTED', 'The attempt ended before a connection was established.');
    }
    this.phase = 'tcp';
    return this.#connect((_, { all }, done) => {
      const [first] = addresses;
      all ? done(null, [...addresses]) : done(null, first?.address ?? '', first?.family);
    });
  }

  cancel(): void {
    this.#cancelled = true;
    this.#tls?.destroy();
    this.#tcp?.destroy();
  }

  async #connect(lookup: LookupFunction): Promise<Socket> {
    const isTls = this.origin.protocol === 'https:';
    const host = this.origin.hostname.replace(/^\[(.*)\]$/, '$1');
    const port = Number(this.origin.port) || (isTls ? 443 : 80);
    const tcp = connectTcp({
      host,
      port,
      lookup,
      noDelay: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    });
    this.#tcp = tcp;
    await opened(tcp, 'connect', (error) => connectionFault(error, `${host}:${port}`));
    if (isTls) {
      this.phase = 'tls';
      const bytes = new TlsBytes(tcp);
      this.#bytes = bytes;
      const tls = connectTls({ socket: bytes, ...this.#tlsOptions(host) });
      this.#tls = tls;
      tls.once('secureConnect', () => bytes.open());
      // Node would keep a connection open that the receiver has ended by an alert.
      tls.once('error', () => tls.destroy());
      await opened(tls, 'secureConnect', (error) => tlsFault(error, host));
    }
    this.phase = 'open';
    return this.#tls ?? tcp;
  }

  /** The name for the certificate, without a final dot. */
  #tlsOptions(host: string) {
    return {
      host,
      ALPNProtocols: ['http/1.1'],
      ...KEY_EXCHANGE,
      // A later handshake, of TLS 1.2, would be as expensive as its server likes.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      ca: this.options.trusted,
      // Explicit: otherwise NODE_TLS_REJECT_UNAUTHORIZED in the environment applies.
      rejectUnauthorized: true,
      servername: isIP(host) === 0 ? host.replace(/\.$/, '') : undefined,
    };
  }
}

/** Resolves when the socket is open; rejects with the fault for its error, or for its early end. */
function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  faultOf: (error: Error) => AttemptFault,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(faultOf(error));
    socket.once('error', fail);
    socket.once('close', () => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
    socket.once(event, () => {
      socket.off('error', fail);
      resolve();
    });
  });
}

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
