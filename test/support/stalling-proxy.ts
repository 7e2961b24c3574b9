import { connect, createServer, type Socket } from 'node:net';

/** What becomes of the next commit: it never reaches the server, or its answer never reaches the client. */
export type Stall = 'before the commit' | 'before its answer';

/** A way to PostgreSQL on which a connection can fall silent, open as it is. */
export async function stallingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let next: Stall | undefined;
  let stalled = 0;
  let isFrozen = false;
  const server = createServer((client) => {
    const behind = connect(Number(target.port), target.hostname);
    let isSilent = false;
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    client.on('data', (data) => {
      if (isSilent || isFrozen) {
        return;
      }
      if (next && isCommit(data)) {
        isSilent = true;
        stalled += 1;
        if (next === 'before its answer') {
          behind.write(data);
        }
        next = undefined;
        return;
      }
      behind.write(data);
    });
    behind.on('data', (data) => isSilent || isFrozen || client.write(data));
    client.on('close', () => behind.destroy());
    behind.on('close', () => isSilent || isFrozen || client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: String(port) }).href,
    stallNext: (stall: Stall) => {
      next = stall;
    },
    stalled: () => stalled,
    /** As a server that is frozen: connections stay and begin, and nothing is answered on any. */
    freeze: () => {
      isFrozen = true;
    },
    close: () => {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
    },
  };
}

/** With statements before it in the same part, if the client has not waited for their answers. */
function isCommit(data: Buffer): boolean {
  return data.includes('commit\0');
}
