import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll } from '@jest/globals';
import { freePorts } from '../free-ports.js';
import { listenOnLoopback } from '../loopback.js';
import { selfSignedCertificate } from '../self-signed-certificate.js';

const CHUNK = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
const BYTE_EVERY_MS = 100;

type Behaviour = (socket: Socket) => void;

/** Once the first bytes of a request are there. */
function onRequest(behave: Behaviour): Behaviour {
  return (socket) => socket.once('data', () => behave(socket));
}

function endlessAfter(head: string): Behaviour {
  return onRequest((socket) => {
    const pour = () => {
      while (!socket.destroyed && socket.write(CHUNK)) {
        // Until the other side is full.
      }
    };
    socket.write(`HTTP/1.1 ${head}\r\ntransfer-encoding: chunked\r\n\r\n`);
    socket.on('drain', pour);
    pour();
  });
}

/** Each says by its name what it does to those who post to it. */
const behaviours = {
  'refuses at endless length': endlessAfter('500 Internal Server Error'),
  'accepts at endless length': endlessAfter('200 OK'),
  'accepts byte by byte': onRequest((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
    const drip = setInterval(() => socket.write('x'), BYTE_EVERY_MS);
    socket.once('close', () => clearInterval(drip));
  }),
  'says nothing': () => undefined,
  'hangs up': onRequest((socket) => socket.destroy()),
  'hangs up in its answer': onRequest((socket) => {
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf');
  }),
  'speaks something else': onRequest((socket) => socket.end('220 mail.example.com ESMTP\r\n')),
} satisfies Record<string, Behaviour>;

export type HostileBehaviour = keyof typeof behaviours;

/** Servers that behave badly; gone after the group of tests that describes it. */
export function hostileServers() {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  afterAll(() => {
    for (const server of servers) {
      server.close();
    }
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  const listen = (server: Server): Promise<number> => {
    servers.push(server);
    server.on('connection', (socket) => {
      sockets.add(socket);
      // The other side cuts it off.
      socket.on('error', () => undefined);
      socket.once('close', () => sockets.delete(socket));
    });
    return listenOnLoopback(server);
  };
  return {
    /** The port of one that behaves so. */
    start: (behaviour: HostileBehaviour) => listen(createServer(behaviours[behaviour])),
    /** A server with an untrusted certificate. */
    startSelfSigned: () => {
      const { certificate, key } = selfSignedCertificate();
      const server = createTlsServer({ cert: certificate, key }, (socket) => socket.destroy());
      server.on('tlsClientError', () => undefined);
      return listen(server);
    },
    /** A port without a listener. */
    nobody: async () => (await freePorts(1))[0] as number,
  };
}
