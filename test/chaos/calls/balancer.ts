import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../support/eventually.js';
import { listenOnLoopback } from '../../support/loopback.js';
import type { ServiceNode } from './two-domains.js';

const PROBES_EVERY_MS = 100;

/** Leads each new connection to the next edge that is ready by its /readyz, as load balancers do. */
export class Balancer {
  readonly #ready = new Set<string>();
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();
  #turn = 0;

  constructor(private readonly edges: readonly ServiceNode[]) {
    for (const edge of edges) {
      void this.#probe(edge);
    }
  }

  /** A port that leads to the edges' ports of this setting. */
  async listen(setting: 'SIGN_ON_PORT' | 'GATEWAY_PORT'): Promise<number> {
    const server = createServer({ noDelay: true }, (client) => {
      const behind = connect({ ...this.#next(setting), noDelay: true });
      for (const socket of [client, behind]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
      }
      client.pipe(behind);
      behind.pipe(client);
      client.on('close', () => behind.destroy());
      behind.on('close', () => client.destroy());
    });
    this.#closing.signal.addEventListener('abort', () => server.close());
    return listenOnLoopback(server);
  }

  async untilAllReady(): Promise<void> {
    await eventually('all edges ready', () =>
      this.edges.every((edge) => this.#ready.has(edge.process.opsUrl)),
    );
  }

  /** Settles when no new connection is led to this edge. */
  async untilUnready({ process }: ServiceNode): Promise<void> {
    await eventually('an edge unready', () => !this.#ready.has(process.opsUrl));
  }

  close(): void {
    this.#closing.abort();
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }

  #next(setting: string) {
    const ready = this.edges.filter((edge) => this.#ready.has(edge.process.opsUrl));
    const edge = ready[this.#turn++ % ready.length];
    return { host: '127.0.0.1', port: Number(edge?.process.settings[setting] ?? 0) };
  }

  async #probe(edge: ServiceNode): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const { opsUrl } = edge.process;
      const isReady = await fetch(`${opsUrl}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady) {
        this.#ready.add(opsUrl);
      } else {
        this.#ready.delete(opsUrl);
      }
      await pause(PROBES_EVERY_MS);
    }
  }
}
