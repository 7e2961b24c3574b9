import { readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { spawnTethered } from '../../../workflows/dev-server/tether.js';
import { eventually } from '../eventually.js';
import { freePorts } from '../free-ports.js';
import { onLoopback } from '../loopback.js';
import { newTemporaryDirectory } from '../temporary-directory.js';

const SHIPPED = join(import.meta.dirname, '../../../deploy/cluster/pgbouncer.ini');

/** PgBouncer with the file of `deploy/` in front of a database, as another mode if one is given. */
export async function startPgBouncer(executable: string, databaseUrl: string, mode = 'transaction') {
  const target = new URL(databaseUrl);
  const [port] = await freePorts(1);
  const folder = newTemporaryDirectory();
  const users = join(folder, 'userlist.txt');
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(users, `"${target.username}" "${target.password}"\n`, { mode: 0o600 });
  const settings = readFileSync(SHIPPED, 'utf8')
    .replace(/^integration = .*$/m, `* = host=${target.hostname} port=${target.port}`)
    .replace(/^listen_port = .*$/m, `listen_port = ${port}`)
    .replace(/^auth_file = .*$/m, `auth_file = ${users}`)
    .replace(/^pool_mode = .*$/m, `pool_mode = ${mode}`)
    .replace(/^stats_users = .*$/m, `stats_users = ${target.username}`);
  writeFileSync(file, settings);
  // It refuses to run as root.
  const asOther = userInfo().uid === 0 ? ['-u', 'nobody'] : [];
  const said: string[] = [];
  let hasEnded = false;
  const child = spawnTethered(executable, [...asOther, file], { onStderrLine: (line) => said.push(line) });
  const ended = child.exited.then(() => {
    hasEnded = true;
  });
  const at = (database: string) =>
    Object.assign(onLoopback(databaseUrl, port as number), { pathname: `/${database}` }).href;
  const ask = async (question: string): Promise<Record<string, string>[]> => {
    const client = new pg.Client({ connectionString: at('pgbouncer') });
    await client.connect();
    try {
      return (await client.query(question)).rows;
    } finally {
      await client.end();
    }
  };
  await eventually('PgBouncer', () => {
    if (hasEnded) {
      throw new Error(`PgBouncer ended:\n${said.join('\n')}`);
    }
    return ask('show version').catch(() => undefined);
  });
  return {
    url: at(target.pathname.slice(1)),
    /** A question to its console, such as `show stats`. */
    ask,
    stop: async () => {
      if (!hasEnded) {
        child.kill();
      }
      await ended;
    },
  };
}
