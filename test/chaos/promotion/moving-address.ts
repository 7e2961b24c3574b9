import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '../../support/loopback.js';

export interface Target {
  host: string;
  port: number;
}

/** An address that leads to one server, and from some moment on to another, as an operator moves it. */
export async function movingAddress(target: Target) {
  let present = target;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const behind = connect(present.port, present.host);
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    client.pipe(behind);
    behind.pipe(client);
    client.on('close', () => behind.destroy());
    behind.on('close', () => client.destroy());
  });
  return {
    port: await listenOnLoopback(server),
    leadTo: (other: Target) => {
      present = other;
    },
    close: () => {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
    },
  };
}
