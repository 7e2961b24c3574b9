import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClientId, InstanceId } from '../../../generated/ids.js';
import type { Gatekeeper } from '../../../src/domain/access/gatekeeper.js';
import { directoryReads, type Pages, type Target } from '../../../src/domain/directory/reads.js';
import { newVersion } from '../../../src/domain/version.js';
import type { Database } from '../../../src/store/database.js';
import { openPostgres } from '../../../src/store/dialects/postgres.js';
import { openStore, type Store } from '../../../src/store/store.js';
import type { StoreWatch } from '../../../src/store/watch.js';
import { eventually } from '../../support/eventually.js';
import { plantClient, plantUser } from '../directory-rows.js';
import { type Replicated, startReplicated } from './replicated.js';

const LIMIT_MS = 120_000;
const REST_MS = 50;

/** A read of users takes so long that replay can meet it. */
const SLOWED = `alter table users rename to users_kept;
  create view users as select users_kept.* from users_kept, (select pg_sleep(0.7)) as slow;
  grant select on users to integration`;

/** Asked at the server itself, because the read takes less time than questions from here. */
const RESUME_DURING_READ = `do $$ begin
  loop
    perform pg_stat_clear_snapshot();
    exit when exists (select from pg_stat_activity
      where usename = 'integration' and state = 'active' and query like '%"users"%');
    perform pg_sleep(0.01);
  end loop;
  perform pg_wal_replay_resume();
end $$`;

describe('reads of the gateway with a replica', () => {
  let servers: Replicated;
  let database: Database;
  let store: Store;
  let sources: string[];
  let away: string[];
  let client: { id: ClientId; instanceId: InstanceId };

  const watch = new Proxy({} as StoreWatch, {
    get: (_, name) =>
      name === 'readFrom'
        ? (source: string, reason: string) => sources.push(reason ? `${source}: ${reason}` : source)
        : () => undefined,
  });

  beforeAll(async () => {
    servers = await startReplicated();
    const made = await openStore({ environment: 'demo', dataDir: '', databaseUrl: servers.url });
    await made.close();
    database = await openPostgres(servers.url, () => undefined);
  }, LIMIT_MS);

  beforeEach(async () => {
    sources = [];
    away = [];
    store = await openStore({
      ...{ environment: 'demo', dataDir: '', databaseUrl: servers.url, watch },
      replica: {
        ...{ url: servers.replicaUrl, restMs: REST_MS },
        onAway: (reason) => away.push(reason),
        onBack: () => away.push('back'),
      },
    });
    client = await plantClient(database);
    await change();
    await servers.caughtUp();
    await fromReplica();
  }, LIMIT_MS);

  afterEach(() => store.close());

  afterAll(async () => {
    await database?.close();
    await servers?.stop();
  }, LIMIT_MS);

  /** A new version, as each write of the platform makes it. */
  const change = () =>
    database.write((writer) =>
      writer
        .insertInto('data_versions')
        .values({ subject_id: client.id, version: newVersion() })
        .onConflict((conflict) =>
          conflict.column('subject_id').doUpdateSet(({ ref }) => ({ version: ref('excluded.version') })),
        )
        .execute(),
    );

  /** Acknowledged with its version: the row is committed first, as the replica may not have both. */
  const addUser = async () => {
    const { id } = await plantUser(database, { client_id: client.id });
    await change();
    return id;
  };

  const listUsers = async (onFirstPage = async () => {}, limit?: number): Promise<string[]> => {
    const row = await database.reader
      .selectFrom('data_versions')
      .where('subject_id', '=', client.id)
      .select('version')
      .executeTakeFirst();
    const visitor = { clientId: client.id, instanceId: client.instanceId, version: row?.version ?? '' };
    const gatekeeper = { admitToClient: async () => visitor, readsManyLists: () => false };
    const reads = directoryReads({ ...store, gatekeeper: gatekeeper as unknown as Gatekeeper });
    const question = { keyHash: new Uint8Array(), known: { values: [], any: false } };
    const { content } = await reads.listUsers(question, { ...({} as Target), limit });
    const ids: string[] = [];
    for await (const { rows } of content as Pages<unknown>) {
      if (ids.length === 0) {
        await onFirstPage();
      }
      ids.push(...rows.map(({ id }) => id));
    }
    return ids;
  };

  /** Until the pool of the replica is open. */
  const fromReplica = () =>
    eventually('a list from the replica', async () => {
      sources = [];
      await listUsers();
      return sources.join() === 'replica';
    });

  const manyUsers = async (count: number) => {
    for (let planted = 0; planted < count; planted += 1) {
      await plantUser(database, { client_id: client.id });
    }
    await change();
    await servers.caughtUp();
    sources = [];
  };

  const replaying = (act: 'pause' | 'resume') => servers.ask('replica', `select pg_wal_replay_${act}()`);

  test('come from a replica that has the version, over connections of its own that cannot write', async () => {
    const id = await addUser();
    await servers.caughtUp();
    sources = [];
    await expect(listUsers()).resolves.toEqual([id]);
    expect(sources).toEqual(['replica']);
    const [row] = await servers.ask(
      'replica',
      `select count(*)::int as connections, bool_or(query like '%"users"%') as rows
        from pg_stat_activity where usename = 'integration'`,
    );
    expect(row.connections).toBeGreaterThan(0);
    expect(row.rows).toBe(true);
  });

  test('come from the primary while the replica lags, and have what was just written', async () => {
    await replaying('pause');
    try {
      const id = await addUser();
      sources = [];
      await expect(listUsers()).resolves.toEqual([id]);
      expect(sources).toEqual(['primary: lag']);
    } finally {
      await replaying('resume');
    }
    await servers.caughtUp();
    await fromReplica();
    expect(away).toEqual([]);
  });

  test('come from the primary for data without a version', async () => {
    await database.write((writer) =>
      writer.deleteFrom('data_versions').where('subject_id', '=', client.id).execute(),
    );
    await servers.caughtUp();
    sources = [];
    await listUsers();
    expect(sources).toEqual(['primary: lag']);
  });

  test('never miss a write that was acknowledged before them, however they race', async () => {
    const added: string[] = [];
    const until = performance.now() + 4_000;
    const writer = async () => {
      while (performance.now() < until) {
        added.push(await addUser());
      }
    };
    const reader = async () => {
      while (performance.now() < until) {
        const acknowledged = [...added];
        const seen = new Set(await listUsers());
        expect(acknowledged.filter((id) => !seen.has(id))).toEqual([]);
      }
    };
    const pausing = async () => {
      while (performance.now() < until) {
        await replaying('pause');
        await replaying('resume');
      }
    };
    await Promise.all([writer(), reader(), reader(), reader(), pausing()]);
    expect(new Set(sources)).toEqual(new Set(['replica', 'primary: lag']));
  });

  test(
    'go on at the primary when the replica stops in the middle of a list, and return to it later',
    async () => {
      await manyUsers(300);
      const ids = await listUsers(() => servers.stopReplica());
      expect(new Set(ids).size).toBe(300);
      expect(sources).toEqual(['replica', 'primary: failure']);
      sources = [];
      await expect(listUsers()).resolves.toEqual(ids);
      expect(sources).toEqual(['primary: failure']);
      await servers.startReplica();
      await servers.caughtUp();
      await fromReplica();
      expect(away).toEqual([expect.any(String), 'back']);
    },
    LIMIT_MS,
  );

  test(
    'wait for a frozen replica once',
    async () => {
      const [{ pids }] = await servers.ask(
        'replica',
        `select array_agg(pid) as pids from pg_stat_activity where usename = 'integration'`,
      );
      const backends = pids as number[];
      const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
        servers.signalReplica(name);
        for (const pid of backends) {
          process.kill(pid, name);
        }
      };
      signal('SIGSTOP');
      try {
        sources = [];
        await listUsers();
        expect(away).toHaveLength(1);
        await Promise.all([listUsers(), listUsers()]);
        expect(sources).toEqual(Array(3).fill('primary: failure'));
      } finally {
        signal('SIGCONT');
      }
      await fromReplica();
    },
    LIMIT_MS,
  );

  test(
    'read a page again at the primary when replay cancels it, and stay with the replica',
    async () => {
      const id = await addUser();
      await servers.ask('replica', "alter system set max_standby_streaming_delay = '0'");
      await servers.ask('replica', 'select pg_reload_conf()');
      await servers.ask('primary', SLOWED);
      await servers.caughtUp();
      try {
        await replaying('pause');
        await servers.ask('primary', 'begin; lock table users_kept in access exclusive mode; commit');
        sources = [];
        const [ids] = await Promise.all([listUsers(), servers.ask('replica', RESUME_DURING_READ)]);
        expect(ids).toEqual([id]);
        expect(sources).toEqual(['replica', 'primary: failure']);
      } finally {
        await servers.ask('primary', 'drop view users; alter table users_kept rename to users');
      }
      await servers.caughtUp();
      await fromReplica();
      expect(away).toEqual([]);
    },
    LIMIT_MS,
  );
});
