import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between a channel and a server, and cuts their connections when it is told to. */
export class CuttingProxy {
  readonly #sockets = new Set<Socket>();
  /** How many connections were made. */
  connections = 0;

  private constructor(private readonly server: Server) {}

  static async start(path: string, to: string): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server);
    server.on('connection', (caller) => {
      proxy.connections += 1;
      const callee = connect(to.slice('unix:'.length));
      for (const [from, onto] of [
        [caller, callee],
        [callee, caller],
      ] as const) {
        proxy.#sockets.add(from);
        from.on('error', () => undefined);
        from.on('close', () => {
          onto.destroy();
          proxy.#sockets.delete(from);
        });
        from.pipe(onto);
      }
    });
    server.listen(path);
    await once(server, 'listening');
    return proxy;
  }

  cut(): void {
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }

  close(): void {
    this.cut();
    this.server.close();
  }
}
