import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { eventually } from '../../../support/eventually.js';
import { freePorts } from '../../../support/free-ports.js';
import { requireToolchain } from '../../../support/toolchains.js';

/** PostgreSQL refuses to run as root. */
function owner(): { uid: number; gid: number } {
  const { uid, gid } = userInfo();
  if (uid !== 0) {
    return { uid, gid };
  }
  const idOf = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: idOf('-u'), gid: idOf('-g') };
}

export interface MatchingServer {
  /** The URL of a new, empty database. */
  newDatabase(name: string): Promise<string>;
  /** The path of a new folder in which the server can write. */
  newFolder(name: string): string;
  /** PATH with these programs first. */
  path: string;
  stop(): Promise<void>;
}

export async function startMatchingServer(): Promise<MatchingServer> {
  const folder = dirname(requireToolchain('postgres'));
  const as = owner();
  // Not in the folder of the test run: the other user has no access to it.
  const place = mkdtempSync(join(tmpdir(), 'it-pg-'));
  chownSync(place, as.uid, as.gid);
  const data = join(place, 'data');
  const initdb = ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C'];
  const made = spawnSync(join(folder, 'initdb'), initdb, { ...as, cwd: place, encoding: 'utf8' });
  if (made.status !== 0) {
    throw new Error(`initdb ended with ${made.status}: ${made.stderr}`);
  }
  const [port] = await freePorts(1);
  const flags = ['-D', data, '-k', '', '-h', '127.0.0.1', '-p', String(port), '-F'];
  const server: ChildProcess = spawn(join(folder, 'postgres'), flags, { ...as, cwd: place, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const url = (name: string) => `postgresql://postgres@127.0.0.1:${port}/${name}`;
  const administer = async (statement: string) => {
    const client = new pg.Client({ connectionString: url('postgres') });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query(statement);
      return true;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  await eventually('PostgreSQL', () => administer('select 1').catch(() => false));
  return {
    newDatabase: async (name) => {
      await administer(`create database ${name}`);
      return url(name);
    },
    newFolder: (name) => {
      const made = join(place, name);
      mkdirSync(made);
      chownSync(made, as.uid, as.gid);
      return made;
    },
    path: `${folder}:${process.env.PATH}`,
    stop: async () => {
      server.kill('SIGINT');
      await ended;
      rmSync(place, { recursive: true, force: true });
    },
  };
}
