import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback, onLoopback } from '../loopback.js';
import { messages, TYPE_AND_LENGTH } from './messages.js';

export interface Cost {
  /** How often the client waited for the server, also where several connections wait at the same time. */
  roundTrips: number;
  /** Statements that the server ran, `begin` and `commit` among them. */
  statements: number;
}

const QUERY = 'Q';
const EXECUTE = 'E';
const SYNC = 'S';
const READY_FOR_QUERY = 'Z';
/** What a database asks by itself: for the time, about a new connection, and about those silent for long. */
const ASKED_BESIDE = ['clock_timestamp()', 'pg_backend_pid', 'pg_stat_activity'];

/**
 * A way to PostgreSQL that counts. It keeps back all answers until the server has answered everything that
 * was sent, so that a client which does not wait for one answer can send more: the count does not depend on
 * the speed of either.
 */
export async function countingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let cost: Cost = { roundTrips: 0, statements: 0 };
  let unanswered = 0;
  let keptBack: (() => void)[] = [];
  let isDisturbed = false;
  const release = () => {
    if (unanswered === 0 && keptBack.length > 0) {
      const answers = keptBack;
      keptBack = [];
      cost.roundTrips += 1;
      for (const send of answers) {
        send();
      }
    }
  };
  const server = createServer((client) => {
    const behind = connect(Number(target.port), target.hostname);
    let isReady = false;
    const sent = messages((message) => {
      const type = typeOf(message);
      unanswered += type === QUERY || type === SYNC ? 1 : 0;
      cost.statements += type === EXECUTE ? 1 : type === QUERY ? statementsIn(message) : 0;
    });
    const answered = messages((message) => {
      if (typeOf(message) === READY_FOR_QUERY) {
        unanswered -= isReady ? 1 : 0;
        isReady = true;
      }
    });
    client.setNoDelay(true).on('data', (data) => {
      isDisturbed ||= ASKED_BESIDE.some((text) => data.includes(text));
      if (isReady) {
        sent(data);
      }
      behind.write(data);
    });
    behind.setNoDelay(true).on('data', (data) => {
      const wasReady = isReady;
      answered(data);
      if (!wasReady) {
        client.write(data);
        return;
      }
      keptBack.push(() => client.write(data));
      // What the client has sent before may not have been read yet.
      setImmediate(() => setImmediate(release));
    });
    for (const [socket, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket) && other.destroy());
    }
  });
  const port = await listenOnLoopback(server);
  return {
    url: onLoopback(databaseUrl, port).href,
    costOf: async (operation: () => Promise<unknown>): Promise<Cost> => {
      isDisturbed = unanswered > 0;
      cost = { roundTrips: 0, statements: 0 };
      await operation();
      return { ...cost };
    },
    /** Whether the database asked something by itself during the last operation, which was counted too. */
    isDisturbed: () => isDisturbed,
    close: () => {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
    },
  };
}

function typeOf(message: Buffer): string {
  return String.fromCharCode(message[0] as number);
}

/** Of a simple query; none of ours has a semicolon in a text. */
function statementsIn(query: Buffer): number {
  return query.toString('latin1', TYPE_AND_LENGTH).split(';').length;
}
