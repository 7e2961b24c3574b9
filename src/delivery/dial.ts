import { constants } from 'node:crypto';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, DEFAULT_CIPHERS } from 'node:tls';
import type { AddressGuard } from './address-guard.js';
import { AttemptFault } from './attempt.js';
import { connectionFault, tlsFault } from './connection-faults.js';
import { TlsBytes } from './tls-bytes.js';

/** Until the next address is tried: TCP sends a lost first packet again after a second. */
const NEXT_ADDRESS_AFTER_MS = 2_500;
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
  /** Limits the whole exchange, from the resolution of the name to the end of the answer. */
  timeoutMs: number;
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
      autoSelectFamilyAttemptTimeout: Math.min(NEXT_ADDRESS_AFTER_MS, Math.ceil(this.options.timeoutMs / 2)),
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
