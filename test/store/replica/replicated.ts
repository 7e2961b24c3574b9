import { randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { hostOf, PORTS } from '../../cluster/addresses.js';
import { giveToOrdinaryUser } from '../../cluster/cluster.js';
import { type Part, type PartOptions, startPart } from '../../cluster/parts.js';
import { Postgres } from '../../cluster/postgres.js';
import { eventually } from '../../support/eventually.js';

/** A primary and a streaming replica, whose confirmation commits do not wait for. */
export async function startReplicated() {
  // PostgreSQL may run as another user, which cannot enter every folder.
  const folder = mkdtempSync(join(tmpdir(), 'replica-'));
  giveToOrdinaryUser(folder);
  const logs = join(folder, 'logs');
  mkdirSync(logs);
  const network = `127.${randomInt(1, 255)}.${randomInt(0, 255)}`;
  const postgres = new Postgres({ network, folder, logs });
  const parts: Part[] = [];
  const start = async (options: PartOptions) => {
    await startPart(options, (part) => parts.push(part));
    return parts.at(-1) as Part;
  };
  postgres.make();
  const primary = await start(postgres.primary());
  await postgres.prepare();
  let replica = await start(postgres.replica());
  const adminUrl = (name: 'primary' | 'replica') =>
    postgres.adminUrl.replace(/@[\d.]+:\d+\/.*$/, `@${hostOf(network, name)}:${PORTS.postgres}/integration`);
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
    url: postgres.urlAt(hostOf(network, 'primary')),
    replicaUrl: postgres.urlAt(hostOf(network, 'replica')),
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
    stop: async () => {
      await Promise.all([replica, primary].map((part) => part.stop()));
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export type Replicated = Awaited<ReturnType<typeof startReplicated>>;
