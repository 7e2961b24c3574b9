import { randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { hostOf, PORTS } from '../../cluster/addresses.js';
import { giveToOrdinaryUser, type Part, type PartOptions, startPart } from '../../cluster/parts.js';
import { Postgres } from '../../cluster/postgres.js';
import { eventually } from '../../support/eventually.js';
import { movingAddress } from './moving-address.js';

/** Where a primary and a replica can run, each on an address of its own. */
export function placeForPair() {
  // PostgreSQL may run as another user, who cannot enter each folder.
  const folder = mkdtempSync(join(tmpdir(), 'promotion-'));
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
  const stop = async () => {
    await Promise.all(parts.map((part) => part.stop()));
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  return { postgres, start, stop, host: (name: 'primary' | 'replica') => hostOf(network, name) };
}

/** A primary and a replica that confirms each commit, behind an address that moves. */
export async function startPair() {
  const { postgres, start, stop, host } = placeForPair();
  const target = (name: 'primary' | 'replica') => ({ host: host(name), port: PORTS.postgres });
  postgres.make();
  const primary = await start(postgres.primary());
  await postgres.prepare();
  await start(postgres.replica());
  await synchronously(postgres.adminUrl);
  const address = await movingAddress(target('primary'));
  return {
    url: postgres.urlAt('127.0.0.1', address.port),
    killPrimary: async () => {
      process.kill(primary.pid, 'SIGKILL');
      await primary.ended;
    },
    promote: () => {
      postgres.promote();
      address.leadTo(target('replica'));
    },
    stop: async () => {
      address.close();
      await stop();
    },
  };
}

export type Pair = Awaited<ReturnType<typeof startPair>>;

async function synchronously(adminUrl: string): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    await admin.query("alter system set synchronous_standby_names = 'ANY 1 (replica)'");
    await admin.query('select pg_reload_conf()');
    await eventually('a replica that confirms', async () => {
      const { rows } = await admin.query('select sync_state from pg_stat_replication');
      return rows.some(({ sync_state }) => sync_state === 'quorum');
    });
  } finally {
    await admin.end();
  }
}
