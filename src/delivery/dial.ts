import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { AddressGuard } from './address-guard.js';
import { AttemptFault } from './attempt-fault.js';
import { connectionFault, tlsFault } from './connection-faults.js';

/** Receivers with several addresses: the next one is tried beside one that has not answered for so long. */
const NEXT_ADDRESS_AFTER_MS = 1_000;

export interface DialOptions {
  guard: AddressGuard;
  /** Certificates to trust instead of the public ones, in PEM. */
  trusted?: string;
}

/** How far a connection is, for the sentence when time runs out. */
export type DialPhase = 'name' | 'tcp' | 'tls' | 'open';

/** The way to one receiver: resolved, checked, connected to what was checked, and with TLS where the URL says so. */
export class Dial {
  phase: DialPhase = 'name';
  #socket: Socket | undefined;
  #cancelled = false;

  constructor(
    private readonly origin: URL,
    private readonly options: DialOptions,
  ) {}

  async open(): Promise<Socket> {
    const addresses = await this.options.guard.addressesOf(this.origin);
    if (this.#cancelled) {
      throw new AttemptFault('INTERRUPTED', 'The attempt was over before it was connected.');
    }
    this.phase = 'tcp';
    return this.#connect((_, { all }, done) => {
      const [first] = addresses;
      all ? done(null, [...addresses]) : done(null, first?.address ?? '', first?.family);
    });
  }

  cancel(): void {
    this.#cancelled = true;
    this.#socket?.destroy();
  }

  #connect(lookup: LookupFunction): Promise<Socket> {
    const isTls = this.origin.protocol === 'https:';
    const host = this.origin.hostname.replace(/^\[(.*)\]$/, '$1');
    const port = Number(this.origin.port) || (isTls ? 443 : 80);
    const place = {
      host,
      port,
      lookup,
      noDelay: true,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    };
    const socket = isTls ? connectTls({ ...place, ...this.#tlsOptions(host) }) : connectTcp(place);
    this.#socket = socket;
    return new Promise((resolve, reject) => {
      const fail = (error: Error) =>
        reject(this.phase === 'tls' ? tlsFault(error, host) : connectionFault(error, `${host}:${port}`));
      socket.once('error', fail);
      socket.once('close', () => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
      socket.once('connect', () => {
        this.phase = isTls ? 'tls' : 'open';
      });
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        this.phase = 'open';
        socket.off('error', fail);
        resolve(socket);
      });
    });
  }

  /** A certificate is for the name without the dot that may end it, or for the address. */
  #tlsOptions(host: string) {
    return {
      ALPNProtocols: ['http/1.1'],
      ca: this.options.trusted,
      // Said, or NODE_TLS_REJECT_UNAUTHORIZED in the environment would decide it.
      rejectUnauthorized: true,
      servername: isIP(host) === 0 ? host.replace(/\.$/, '') : undefined,
    };
  }
}
