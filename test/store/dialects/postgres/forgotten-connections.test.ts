import { connect, createServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { keptStatement } from '../../../../src/store/adapters/statements/kept-statement.js';
import type { Database, Writer } from '../../../../src/store/database.js';
import { openPostgres } from '../../../../src/store/dialects/postgres/postgres.js';
import { newPostgresDatabase } from '../../../support/databases.js';
import { listenOnLoopback, onLoopback } from '../../../support/loopback.js';
import { signalled } from '../../../support/signalled.js';
import { stallingProxy } from '../../../support/stalling-proxy.js';

/** As many as the pool has connections. */
const READS = 8;
const MINUTES_MS = 120_000;
const server = { lockMs: 3_000, statementMs: MINUTES_MS, idleMs: MINUTES_MS };
const NEVER_BY_ITSELF = {
  ...{ server, connectMs: MINUTES_MS, answerMs: MINUTES_MS, askMs: MINUTES_MS },
  quick: { server, answerMs: MINUTES_MS },
};

const LONG_ANSWER = 1_000_000;
const PIECE = 40_000;
const PIECE_EVERY_MS = 120;

/** A proxy that takes answers at once and hands them on slowly. */
async function narrowWay(serverUrl: string) {
  const { hostname, port } = new URL(serverUrl);
  const server = createServer((client) => {
    const behind = connect(Number(port), hostname);
    let waiting = Buffer.alloc(0);
    const timer = setInterval(() => {
      client.write(waiting.subarray(0, PIECE));
      waiting = waiting.subarray(PIECE);
    }, PIECE_EVERY_MS);
    behind.on('data', (data) => {
      waiting = Buffer.concat([waiting, data]);
    });
    client.pipe(behind);
    for (const socket of [client, behind]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearInterval(timer);
        client.destroy();
        behind.destroy();
      });
    }
  });
  const ownPort = await listenOnLoopback(server);
  return {
    url: onLoopback(serverUrl, ownPort).href,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

const pidOn = async ({ reader }: Database) => {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(reader);
  return rows[0]?.pid;
};

describe('when the network forgets connections to PostgreSQL', () => {
  let way: Awaited<ReturnType<typeof stallingProxy>>;
  let database: Database;
  let heard: string[];

  beforeEach(async () => {
    const { url } = await newPostgresDatabase();
    way = await stallingProxy(url);
    heard = [];
    database = await openPostgres(way.url, ({ message }) => heard.push(message), NEVER_BY_ITSELF);
  });
  afterEach(async () => {
    await database.close();
    way.close();
  });

  const processes = () =>
    Promise.all(
      Array.from({ length: READS }, async () => {
        // Each keeps its connection until all have one.
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid, pg_sleep(0.1)`.execute(
          database.reader,
        );
        return rows[0]?.pid;
      }),
    );

  test('reads are answered over new connections, and none of the old ones is used again', async () => {
    const before = new Set(await processes());
    expect(before.size).toBe(READS);
    way.forget();
    const after = await processes();
    expect(after.filter((pid) => before.has(pid))).toEqual([]);
    expect(heard).toContainEqual(expect.stringMatching(/no longer reach the server/));
  });

  test('a read is answered over a new connection if each old one is reset at its next use', async () => {
    const before = new Set(await processes());
    way.lose();
    const after = await pidOn(database);
    expect(before.has(after)).toBe(false);
  });

  test('a write whose connection is reset fails, and the next write succeeds', async () => {
    const write = () => database.write((writer) => sql`select pg_sleep(0.1)`.execute(writer));
    await Promise.all([write(), write(), write()]);
    way.lose();
    await expect(write()).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
    await write();
  });

  test('a connection that was heard later is used again', async () => {
    await Promise.all([pidOn(database), pidOn(database)]);
    let isLost = false;
    way.answerAt((asked) => {
      if (isLost || !asked.includes('as lost')) {
        return undefined;
      }
      isLost = true;
      return new Promise(() => undefined);
    });
    const lost = sql<{ pid: number }>`select pg_backend_pid() as pid, 1 as lost`.execute(database.reader);
    const later = await pidOn(database);
    expect((await lost).rows).toEqual([{ pid: later, lost: 1 }]);
    expect(isLost).toBe(true);
  });

  test('a write is refused, is not made twice, and the next one is made', async () => {
    const count = () =>
      database.write((writer) => sql<{ n: number }>`select nextval('counted') as n`.execute(writer));
    await database.write((writer) => sql`create sequence counted`.execute(writer));
    await count();
    way.forget();
    await expect(count()).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
    const { rows } = await count();
    expect(rows).toEqual([{ n: 2 }]);
  });
});

describe('a statement that the server works on for long keeps its connection', () => {
  let url: string;
  let database: Database;

  beforeEach(async () => {
    ({ url } = await newPostgresDatabase());
    database = await openPostgres(url, () => undefined, NEVER_BY_ITSELF);
  });
  afterEach(() => database.close());

  test('when it computes', async () => {
    const { rows } = await sql`select 'done' as it from pg_sleep(3)`.execute(database.reader);
    expect(rows).toEqual([{ it: 'done' }]);
  });

  test('when its answer is long on its way', async () => {
    const way = await narrowWay(url);
    const behindIt = await openPostgres(way.url, () => undefined, NEVER_BY_ITSELF);
    try {
      const read = async (length: number) => {
        const { rows } = await sql<{ it: string; server: number }>`
          select repeat('x', ${length}::int) as it, pg_backend_pid() as server
        `.execute(behindIt.reader);
        return rows[0];
      };
      const short = await read(1);
      const long = await read(LONG_ANSWER);
      expect(long?.it).toHaveLength(LONG_ANSWER);
      expect(long?.server).toBe(short?.server);
    } finally {
      await behindIt.close();
      await way.close();
    }
  });

  describe('on a network', () => {
    let way: Awaited<ReturnType<typeof stallingProxy>>;
    let distant: Database;
    let heard: string[];

    beforeEach(async () => {
      way = await stallingProxy(url);
      heard = [];
      distant = await openPostgres(way.url, ({ message }) => heard.push(message), NEVER_BY_ITSELF);
    });
    afterEach(async () => {
      expect(heard).toEqual([]);
      await distant.close();
      way.close();
    });

    test('that loses its answer, which is sent again', async () => {
      way.answerAt((asked) => (asked.includes('as late') ? pause(500) : undefined));
      const { rows } = await distant.write((writer) =>
        sql`select 'in the end' as late from pg_sleep(2)`.execute(writer),
      );
      expect(rows).toEqual([{ late: 'in the end' }]);
    });

    test('that brings the first of its answer while the server is asked about it', async () => {
      const { told: looking, tell: look } = signalled();
      let pieces = 0;
      way.answerAt((asked) => {
        if (asked.includes('pg_stat_activity')) {
          look();
          // A turn after the pause: a stalled process reads the first piece before this answer.
          return pause(50).then(() => nextTurn());
        }
        if (asked.includes('as long')) {
          pieces += 1;
          return pieces === 1 ? looking : looking.then(() => pause(200));
        }
        return undefined;
      });
      const { rows } = await distant.write((writer) =>
        sql<{ long: string }>`select repeat('x', ${sql.lit(LONG_ANSWER)}) as long`.execute(writer),
      );
      expect(rows[0]?.long).toHaveLength(LONG_ANSWER);
      expect(pieces).toBeGreaterThan(1);
    });

    test('with a pooler that tells a process of the server, which may be idle', async () => {
      const one = keptStatement(() => sql`select 1 as one`);
      const reader = distant.reader as Writer;
      await one(reader, {});
      // As if the pooler had changed to another process.
      await sql`deallocate all`.execute(reader);
      await one(reader, {});
      way.answerAt((asked) => (asked.includes('as late') ? pause(3_000) : undefined));
      const { rows } = await sql`select 'by another process' as late`.execute(reader);
      expect(rows).toEqual([{ late: 'by another process' }]);
    });
  });

  test('when it waits for a lock', async () => {
    const locked = 'lock table held in access exclusive mode';
    const other = await openPostgres(url, () => undefined, NEVER_BY_ITSELF);
    try {
      await other.write((writer) => sql`create table held ()`.execute(writer));
      await other.write(async (holder) => {
        await sql.raw(locked).execute(holder);
        await expect(database.write((writer) => sql.raw(locked).execute(writer))).rejects.toThrow(
          'Other changes to the same data are under way. Try again in a moment.',
        );
      });
    } finally {
      await other.close();
    }
  });
});
