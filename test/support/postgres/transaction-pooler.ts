import { createServer, type Socket } from 'node:net';
import pg from 'pg';
import { listenOnLoopback, onLoopback } from '../loopback.js';
import { messages } from './messages.js';

const KNOWN = new Set(['user', 'database', 'client_encoding', 'application_name']);

/**
 * A pooler in transaction mode: lends its one connection to a client per transaction, and keeps the settings
 * made on it. Like PgBouncer, it refuses unknown start-up settings unless told to ignore them, and tells its
 * clients a process of its own, unless it is to tell that of the server.
 */
export async function transactionPooler(
  databaseUrl: string,
  unknownSettings: 'refused' | 'ignored',
  tells: 'a process of its own' | 'the process of the server' = 'a process of its own',
) {
  const backend = new pg.Client({ connectionString: databaseUrl });
  backend.on('error', () => undefined);
  await backend.connect();
  const { stream: behind } = (backend as unknown as { connection: { stream: Socket } }).connection;
  behind.removeAllListeners('data');
  const { processID } = backend as unknown as { processID: number };
  const toldProcess = tells === 'the process of the server' ? processID : processID + 1;
  const clients = new Set<Socket>();
  const waiting: { client: Socket; message: Buffer }[] = [];
  let holder: Socket | undefined;
  let unanswered = 0;

  const lend = () => {
    holder ??= waiting[0]?.client;
    for (const { message } of waiting.filter(({ client }) => client === holder)) {
      unanswered += message[0] === QUERY || message[0] === SYNC ? 1 : 0;
      behind.write(message);
    }
    waiting.splice(0, waiting.length, ...waiting.filter(({ client }) => client !== holder));
  };
  const answers = messages((message) => {
    holder?.write(message);
    unanswered -= message[0] === READY[0] ? 1 : 0;
    if (message.equals(READY) && unanswered === 0) {
      holder = undefined;
      lend();
    }
  });
  behind.on('data', answers);
  const begin = (client: Socket, startup: Buffer) => {
    const unknown = settingsIn(startup).find((name) => !KNOWN.has(name));
    if (unknown !== undefined && unknownSettings === 'refused') {
      client.end(refusal(`unsupported startup parameter: ${unknown}`));
      return;
    }
    client.write(Buffer.concat([AUTHENTICATED, backendKey(toldProcess), READY]));
    client.on(
      'data',
      messages((message) => {
        if (message[0] === TERMINATE) {
          client.end();
          return;
        }
        waiting.push({ client, message });
        lend();
      }),
    );
  };
  const server = createServer((client) => {
    clients.add(client);
    client.setNoDelay();
    client.on('error', () => undefined).on('close', () => clients.delete(client));
    client.once('data', (startup) => begin(client, startup));
  });
  const port = await listenOnLoopback(server);
  return {
    url: onLoopback(databaseUrl, port).href,
    close: () => {
      for (const socket of [...clients, behind]) {
        socket.destroy();
      }
      server.close();
    },
  };
}

const TERMINATE = 'X'.charCodeAt(0);
const QUERY = 'Q'.charCodeAt(0);
const SYNC = 'S'.charCodeAt(0);
const AUTHENTICATED = Buffer.from([...Buffer.from('R'), 0, 0, 0, 8, 0, 0, 0, 0]);

/** What a client needs to cancel a statement: the process and a secret. */
function backendKey(processId: number): Buffer {
  const key = Buffer.from([...Buffer.from('K'), 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0]);
  key.writeInt32BE(processId, 5);
  return key;
}

/** Outside any transaction. */
const READY = Buffer.from([...Buffer.from('Z'), 0, 0, 0, 5, ...Buffer.from('I')]);

/** Behind the length and the version: names and values in turns. */
function settingsIn(startup: Buffer): string[] {
  const words = startup.toString('utf8', 8).split('\0');
  return words.filter((word, index) => word !== '' && index % 2 === 0);
}

function refusal(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(length.length + fields.length);
  return Buffer.concat([Buffer.from('E'), length, fields]);
}
