import pg from 'pg';
import { placeForPair } from '../../chaos/promotion/pair.js';
import { PORTS } from '../../cluster/addresses.js';
import { eventually } from '../../support/eventually.js';

/** A primary and a streaming replica, whose confirmation commits do not wait for. */
export async function startReplicated() {
  const { postgres, start, stop, host } = placeForPair();
  postgres.make();
  await start(postgres.primary());
  await postgres.prepare();
  let replica = await start(postgres.replica());
  const adminUrl = (name: 'primary' | 'replica') =>
    postgres.adminUrl.replace(/@[\d.]+:\d+\/.*$/, `@${host(name)}:${PORTS.postgres}/integration`);
  const ask = async (name: 'primary' | 'replica', question: string) => {
    const client = new pg.Client({ connectionString: adminUrl(name), query_timeout: 60_000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(question)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    url: postgres.urlAt(host('primary')),
    replicaUrl: postgres.urlAt(host('replica')),
    ask,
    caughtUp: async () => {
      const [{ lsn }] = (await ask('primary', 'select pg_current_wal_lsn() as lsn')) as [{ lsn: string }];
      await eventually('a replica that has caught up', async () => {
        const [row] = await ask('replica', `select pg_last_wal_replay_lsn() >= '${lsn}' as reached`);
        return row.reached;
      });
    },
    signalReplica: (signal: 'SIGSTOP' | 'SIGCONT') => {
      process.kill(replica.pid, signal);
    },
    /** A fast shutdown: the server ends its sessions and does not wait for them. */
    stopReplica: async () => {
      process.kill(replica.pid, 'SIGINT');
      await replica.ended;
    },
    promote: () => postgres.promote(),
    startReplica: async () => {
      replica = await start(postgres.replica());
    },
    stop,
  };
}

export type Replicated = Awaited<ReturnType<typeof startReplicated>>;
