import { connect, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { UserId } from '../../../generated/ids.js';
import type { Schemas } from '../../../src/domain/directory/contract-json.js';
import type { Pages, Target } from '../../../src/domain/directory/reads.js';
import { createClient } from '../../../src/domain/platform/organization/clients.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import { platformUnitOfWork } from '../../../src/store/adapters/platform/unit-of-work.js';
import { eventually } from '../../support/eventually.js';
import { listenOnLoopback, onLoopback } from '../../support/loopback.js';
import { plantUser } from '../directory-rows.js';
import { CREATED_AT } from '../rows.js';
import { type Replicated, startReplicated } from './replicated.js';
import { makeSchema, openRig, type Rig, renewVersion, SOON_MS } from './rig.js';

type Change = Schemas['Change'];

/** On the replica, reads of users last until a conflict with the replay ends them. */
const SLOWED = `alter table users rename to users_kept;
  create view users as select users_kept.* from users_kept,
    (select pg_sleep(case when pg_is_in_recovery() then 60 else 0 end)) as slow;
  grant select on users to integration`;

const UNSLOWED = `do $$ begin
  if to_regclass('users_kept') is not null then
    drop view users;
    alter table users_kept rename to users;
  end if;
end $$`;

/** The severity of an error, as PostgreSQL writes it. */
const [REFUSED, FATAL] = ['SERROR\0VERROR\0', 'SFATAL\0VFATAL\0'] as const;

/** Waits for the read on the server itself: queries from the test would be too slow to see it. */
const RESUME_DURING_READ = `do $$ begin
  loop
    perform pg_stat_clear_snapshot();
    exit when exists (select from pg_stat_activity
      where usename = 'integration' and state = 'active' and query like '%"users"%');
    perform pg_sleep(0.01);
  end loop;
  perform pg_wal_replay_resume();
end $$`;

/** To the replica, whose refusals become fatal to the connection, if the replica has not made them so. */
async function endingProxy(url: string) {
  const { hostname, port } = new URL(url);
  let ended = 0;
  const server = createServer((client) => {
    const behind = connect(Number(port), hostname);
    client.pipe(behind);
    for (const socket of [client, behind]) {
      socket.on('error', () => undefined).on('close', () => (socket === client ? behind : client).destroy());
    }
    behind.on('data', (data) => {
      const text = data.toString('latin1').replace(REFUSED, FATAL);
      if (!text.includes(FATAL)) {
        client.write(data);
        return;
      }
      ended += 1;
      client.end(text, 'latin1');
    });
  });
  const proxyUrl = onLoopback(url, await listenOnLoopback(server)).href;
  return { url: proxyUrl, ended: () => ended, close: () => server.close() };
}

const WAITING_COMMITS = `select from pg_stat_activity where wait_event = 'SyncRep'`;

describe('reads of the gateway with a replica', () => {
  let servers: Replicated;
  let rig: Rig;
  const listUsers: Rig['listUsers'] = (...given) => rig.listUsers(...given);
  const addUser: Rig['addUser'] = (...given) => rig.addUser(...given);
  const forget = () => rig.sources.splice(0);

  beforeAll(async () => {
    servers = await startReplicated();
    await makeSchema(servers.url);
  });

  beforeEach(async () => {
    rig = await openRig(servers);
    await rig.fromReplica();
  });

  afterEach(() => rig.close());

  afterAll(() => servers?.stop());

  const replaying = (act: 'pause' | 'resume') => servers.ask('replica', `select pg_wal_replay_${act}()`);

  test('come from a replica that has the version', async () => {
    const id = await addUser();
    await servers.caughtUp();
    await replaying('pause');
    try {
      await plantUser(rig.database, { client_id: rig.client.id });
      forget();
      await expect(listUsers()).resolves.toEqual([id]);
      expect(rig.sources).toEqual(['replica']);
    } finally {
      await replaying('resume');
    }
  });

  test('come from the primary while the replica lags, and have what was just written', async () => {
    await replaying('pause');
    try {
      const id = await addUser();
      forget();
      await expect(listUsers()).resolves.toEqual([id]);
      expect(rig.sources).toEqual(['primary: lag']);
    } finally {
      await replaying('resume');
    }
    await servers.caughtUp();
    await rig.fromReplica();
    expect(rig.away).toEqual([]);
  });

  test('of a replica that lags are those of the unchanged data only, also by the link of a change', async () => {
    await replaying('pause');
    try {
      const { instanceId } = rig.client;
      const { id } = await platformUnitOfWork(rig.database).run((changes) =>
        createClient(changes, { instanceId, name: 'Saltmarsh' }),
      );
      const visited = { instanceIntegrationId: newPublicId('InstanceIntegrationId') } as Target;
      const { content } = await rig.reads.listChanges(rig.question, visited);
      const resources: unknown[] = [];
      for await (const { rows } of content as Pages<Change>) {
        resources.push(...rows.map(({ json }) => (JSON.parse(json) as Change).resource));
      }
      expect(resources).toContainEqual(expect.objectContaining({ id, name: 'Saltmarsh' }));
      forget();
      const client = await rig.reads.getClient(rig.question, { ...visited, clientId: id });
      expect(JSON.parse(String(client.content))).toMatchObject({ id, name: 'Saltmarsh' });
      await listUsers();
      expect(rig.sources).toEqual(['primary: lag', 'replica']);
    } finally {
      await replaying('resume');
    }
  });

  test('come from the primary for data without a version', async () => {
    await rig.database.write((writer) =>
      writer.deleteFrom('data_versions').where('subject_id', '=', rig.client.id).execute(),
    );
    await servers.caughtUp();
    forget();
    await listUsers();
    expect(rig.sources).toEqual(['primary: lag']);
  });

  test('never miss a write that was acknowledged before them, however they race', async () => {
    const added: string[] = [];
    const isOver = () => added.length >= 40 && new Set(rig.sources).size > 1;
    const writer = async () => {
      while (!isOver()) {
        added.push(await addUser());
      }
    };
    const reader = async () => {
      while (!isOver()) {
        const acknowledged = [...added];
        const seen = new Set(await listUsers());
        expect(acknowledged.filter((id) => !seen.has(id))).toEqual([]);
      }
    };
    const pausing = async () => {
      while (!isOver()) {
        await replaying('pause');
        await replaying('resume');
      }
    };
    await Promise.all([writer(), reader(), reader(), reader(), pausing()]);
    expect(new Set(rig.sources)).toEqual(new Set(['replica', 'primary: lag']));
  });

  test('go on at the primary when the replica stops in the middle of a list, and return to it later', async () => {
    await rig.addMany(300);
    const ids = await listUsers(() => servers.stopReplica());
    expect(new Set(ids).size).toBe(300);
    expect(rig.sources).toEqual(['replica', 'primary: failure']);
    forget();
    await expect(listUsers()).resolves.toEqual(ids);
    expect(rig.sources).toEqual(['primary: failure']);
    await servers.startReplica();
    await servers.caughtUp();
    await rig.fromReplica();
    expect(rig.away.at(-1)).toBe('back');
  });

  test('wait for a frozen replica once', async () => {
    await rig.close();
    rig = await openRig(servers, { limitMs: SOON_MS });
    await rig.fromReplica();
    rig.away.length = 0;
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
      forget();
      await listUsers();
      expect(rig.away).toHaveLength(1);
      await Promise.all([listUsers(), listUsers()]);
      expect(rig.sources).toEqual(Array(3).fill('primary: failure'));
    } finally {
      signal('SIGCONT');
    }
    await rig.fromReplica();
  });

  /** Replay that goes on may cancel the statement that has resumed it. */
  const resumed = (act: Promise<unknown>) =>
    act.catch((error: { code?: string }) => {
      if (error.code !== '40001') {
        throw error;
      }
    });

  const replayWaiting = async (delay: string) => {
    await servers.ask('replica', `alter system set max_standby_streaming_delay = '${delay}'`);
    await servers.ask('replica', 'select pg_reload_conf()');
  };

  const cancelPage = async () => {
    await rig.addMany(300);
    await replayWaiting('0');
    await servers.ask('primary', SLOWED);
    await servers.caughtUp();
    try {
      await replaying('pause');
      await servers.ask('primary', 'begin; lock table users_kept in access exclusive mode; commit');
      forget();
      let late: string | undefined;
      const addLate = async () => {
        await servers.caughtUp();
        await replaying('pause');
        await servers.ask('primary', UNSLOWED);
        late = await addUser({ created_at: CREATED_AT + 1 });
      };
      const [ids] = await Promise.all([
        listUsers(addLate),
        resumed(servers.ask('replica', RESUME_DURING_READ)),
      ]);
      expect(ids).toHaveLength(301);
      expect(ids.at(-1)).toBe(late);
      expect(rig.sources).toEqual(['replica', 'primary: failure']);
    } finally {
      await resumed(replaying('resume'));
      // In other tests, replay waits for reads: what vacuum removes would cancel them.
      await resumed(replayWaiting('30s'));
      await servers.ask('primary', UNSLOWED);
    }
    await servers.caughtUp();
    await rig.fromReplica();
    expect(rig.away).toEqual([]);
  };

  test('stay at the primary when replay cancels a page, and return to the replica with the next list', () =>
    cancelPage());

  test('do so too when the replica ends the connection, as it may if it cancels twice', async () => {
    await rig.close();
    const proxy = await endingProxy(servers.replicaUrl);
    try {
      rig = await openRig(servers, { replicaUrl: proxy.url });
      await rig.fromReplica();
      await cancelPage();
      expect(proxy.ended()).toBe(1);
    } finally {
      proxy.close();
    }
  });

  test('leave the replica in use when it ends a page that takes too long', async () => {
    await rig.close();
    rig = await openRig(servers, { limitMs: SOON_MS });
    const id = await rig.addUser();
    await servers.caughtUp();
    await rig.fromReplica();
    rig.away.length = 0;
    await servers.ask('primary', SLOWED);
    await servers.caughtUp();
    try {
      rig.sources.length = 0;
      await expect(rig.listUsers()).resolves.toEqual([id]);
      expect(rig.sources).toEqual(['replica', 'primary: failure']);
      expect(rig.away).toEqual([]);
    } finally {
      await servers.ask('primary', UNSLOWED);
    }
    await servers.caughtUp();
    await rig.fromReplica();
  });

  test('have nothing that the primary does not show yet, because it waits for another replica', async () => {
    await rig.addMany(300);
    const waitFor = async (names: string) => {
      await servers.ask('primary', `alter system set synchronous_standby_names = '${names}'`);
      await servers.ask('primary', 'select pg_reload_conf()');
      await eventually('the setting', async () => {
        const [row] = await servers.ask('primary', 'show synchronous_standby_names');
        return row?.synchronous_standby_names === names;
      });
    };
    // Later than the connections, the checkpointer learns of the setting, and then commits wait.
    const untilCommitsWait = () =>
      eventually('a commit that waits', async () => {
        let isDone = false;
        const commit = servers.ask('primary', `select pg_logical_emit_message(true, 'a write', '')`);
        commits.push(commit.finally(() => (isDone = true)));
        const outcome = await eventually('the end of a commit, or its wait', async () => {
          const waiting = await servers.ask('primary', WAITING_COMMITS);
          return waiting.length > 0 ? 'waits' : isDone && 'has ended';
        });
        return outcome === 'waits';
      });
    const ids = await listUsers();
    const commits: Promise<unknown>[] = [];
    let hidden: Promise<unknown> | undefined;
    const removeLast = async () => {
      await waitFor('absent');
      await untilCommitsWait();
      hidden = rig.database.write(async (writer) => {
        const last = ids.at(-1) as UserId;
        await writer.updateTable('users').set({ status: 'DELETED' }).where('id', '=', last).execute();
        await renewVersion(writer, rig.client.id);
      });
      await eventually('the removal on the replica', async () => {
        const found = await servers.ask('replica', `select from users where status = 'DELETED'`);
        return found.length === 1;
      });
    };
    try {
      forget();
      await expect(listUsers(removeLast)).resolves.toEqual(ids);
      await expect(listUsers()).resolves.toEqual(ids);
      expect(rig.sources).toEqual(['replica', 'primary: lag', 'primary: lag']);
    } finally {
      await waitFor('');
    }
    await Promise.all([hidden, ...commits]);
    await expect(listUsers()).resolves.toEqual(ids.slice(0, -1));
  });

  test('go on at the replica when the data changes on both servers in the middle of a list', async () => {
    await rig.addMany(300);
    const ids = await listUsers(async () => {
      await addUser({ created_at: CREATED_AT + 1 });
      await servers.caughtUp();
    });
    expect(ids).toHaveLength(301);
    expect(rig.sources).toEqual(['replica']);
  });
});
