import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between a channel and a server: cuts their connections, or falls silent, when it is told to. */
export class CuttingProxy {
  readonly #sockets = new Set<Socket>();
  /** From each socket to the one that gets its bytes: both directions of each connection. */
  readonly #directions = new Map<Socket, Socket>();
  /** Connections of callers, each with its connection to the server. */
  readonly #callers = new Map<Socket, Socket>();
  readonly #waiting: Socket[] = [];
  #isFrozen = false;
  /** How many connections were made. */
  connections = 0;

  private constructor(
    private readonly server: Server,
    private readonly to: string,
  ) {}

  /** On a socket, or on a free port. */
  static async start(path: string | undefined, to: string): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server, to);
    server.on('connection', (caller) => {
      proxy.connections += 1;
      if (proxy.#isFrozen) {
        proxy.#waiting.push(caller);
      } else {
        proxy.#join(caller);
      }
    });
    server.listen(path === undefined ? { host: '127.0.0.1', port: 0 } : { path });
    await once(server, 'listening');
    return proxy;
  }

  /** Of a proxy on a port. */
  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of [...this.#sockets, ...this.#waiting]) {
      socket.destroy();
    }
  }

  /** Acts like a frozen server: connections stay open, new ones are accepted, and none is answered. */
  freeze(): void {
    this.#isFrozen = true;
    for (const from of this.#directions.keys()) {
      from.unpipe();
    }
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const [from, onto] of this.#directions) {
      from.pipe(onto);
    }
    for (const caller of this.#waiting.splice(0)) {
      this.#join(caller);
    }
  }

  /** As a host that lost its power and is back: what was begun while it was frozen is never answered. */
  restart(): void {
    this.#isFrozen = false;
    for (const caller of this.#waiting) {
      caller.on('error', () => undefined);
      // A socket that is not read does not notice that the caller has closed it.
      caller.resume();
    }
  }

  /** Connections that were made while it was frozen and are still open. */
  get unanswered(): number {
    return this.#waiting.filter(({ destroyed }) => !destroyed).length;
  }

  /** As a long way to the server: what callers send does not arrive, until `release`. */
  holdCallers(): void {
    for (const caller of this.#callers.keys()) {
      caller.unpipe();
    }
  }

  release(): void {
    for (const [caller, callee] of this.#callers) {
      caller.pipe(callee);
    }
  }

  /** Bytes of answers on the present connections. */
  get answeredBytes(): number {
    return [...this.#callers.values()].reduce((bytes, { bytesRead }) => bytes + bytesRead, 0);
  }

  close(): void {
    this.cut();
    this.server.close();
  }

  #join(caller: Socket): void {
    const callee = connect(placeOf(this.to));
    this.#callers.set(caller, callee);
    caller.on('close', () => this.#callers.delete(caller));
    for (const [from, onto] of [
      [caller, callee],
      [callee, caller],
    ] as const) {
      this.#sockets.add(from);
      this.#directions.set(from, onto);
      from.on('error', () => undefined);
      from.on('close', () => {
        onto.destroy();
        this.#sockets.delete(from);
        this.#directions.delete(from);
      });
      from.pipe(onto);
    }
  }
}

function placeOf(address: string) {
  if (address.startsWith('unix:')) {
    return { path: address.slice('unix:'.length) };
  }
  const { hostname: host, port } = new URL(`tcp://${address}`);
  return { host, port: Number(port) };
}
