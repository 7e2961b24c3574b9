import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** What becomes of the next commit: it never reaches the server, or its answer never reaches the client. */
export type Stall = 'before the commit' | 'before its answer';

/** A way to PostgreSQL on which a connection can fall silent, open as it is. */
export async function stallingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let next: Stall | undefined;
  let stalled = 0;
  let isFrozen = false;
  let isHeld = false;
  let isCut = false;
  let delayMs = 0;
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
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
    const inOrder = later(() => delayMs);
    behind.on('data', (data) => inOrder(() => isSilent || isFrozen || client.write(data)));
    if (isHeld) {
      client.pause();
      behind.pause();
    }
    client.on('close', () => behind.destroy());
    behind.on('close', () => inOrder(() => isSilent || isFrozen || client.destroy()));
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
    /** As a broken network: what is sent waits, in both directions, and arrives after `release`. */
    hold: () => {
      isHeld = true;
      for (const socket of sockets) {
        socket.pause();
      }
    },
    release: () => {
      isHeld = false;
      for (const socket of sockets) {
        socket.resume();
      }
    },
    /** As a slow server: from now on each answer arrives so much later, in order on its connection. */
    delay: (ms: number) => {
      delayMs = ms;
    },
    /** Ends every connection, and each new one until `mend`. */
    cut: () => {
      isCut = true;
      for (const socket of sockets) {
        socket.destroy();
      }
    },
    mend: () => {
      isCut = false;
    },
    close: () => {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
    },
  };
}

/** Does one thing after the other, each after the delay of its moment. */
function later(delayMs: () => number): (act: () => unknown) => void {
  let last = Promise.resolve();
  let waiting = 0;
  const wait = async (before: Promise<void>, due: number, act: () => unknown) => {
    await before;
    const leftMs = due - performance.now();
    if (leftMs > 0) {
      await pause(leftMs);
    }
    waiting -= 1;
    act();
  };
  return (act) => {
    if (waiting === 0 && delayMs() === 0) {
      act();
      return;
    }
    waiting += 1;
    last = wait(last, performance.now() + delayMs(), act);
  };
}

/** With statements before it in the same part, if the client has not waited for their answers. */
function isCommit(data: Buffer): boolean {
  return data.includes('commit\0');
}
