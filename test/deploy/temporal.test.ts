import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { parse } from 'yaml';
import { packageRoot } from '../../src/config/package.js';
import { searchAttributes } from '../../workflows/contract.js';
import { setUpNamespace } from '../../workflows/namespace-setup.js';
import { type MatchingServer, startMatchingServer } from '../cli/commands/copies/matching-server.js';
import { PORTS } from '../cluster/addresses.js';
import { type Part, startPart } from '../cluster/parts.js';
import { accepts } from '../cluster/temporal.js';
import { builtTemporal, TEMPORAL_SERVER_VERSION } from '../cluster/temporal-programs.js';
import { pages } from '../operate/blocks.js';
import { newTemporaryDirectory } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';

const run = promisify(execFile);
const folder = join(packageRoot, 'deploy/docker');
const { services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'));
const LIMIT_MS = 300_000;
/** The versions of the tables that Temporal 1.29 makes. */
const TABLES_OF_1_29 = { temporal: '1.18', temporal_visibility: '1.9' };

test('the tests run the Temporal of the Compose file and of the page on clusters', () => {
  const images = ['temporal', 'temporal-tables'].map((name) => services[name].image);
  expect(images).toEqual(
    ['server', 'admin-tools'].map((name) => `temporalio/${name}:${TEMPORAL_SERVER_VERSION}`),
  );
  expect(pages['health-and-restarts']).toContain(`The tests run Temporal ${TEMPORAL_SERVER_VERSION} `);
});

const programs = await builtTemporal();
if (programs === undefined) {
  process.stderr.write('Skipped “Temporal of the Compose file”: `make chaos` and `make cluster` build it\n');
}

(programs === undefined ? describe.skip : describe)('of the Compose file', () => {
  describeWith('postgres', 'Temporal', () => {
    const host = `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`;
    let postgres: MatchingServer;
    let database: URL;
    let part: Part | undefined;
    let root: string;

    beforeEach(async () => {
      postgres = await startMatchingServer();
      database = new URL(await postgres.newDatabase('given'));
      root = newTemporaryDirectory();
      writeFileSync(join(root, 'service-database-password'), 'one');
      writeFileSync(join(root, 'temporal-database-password'), 'two');
      await runScript('databases.sh', { PGHOST: database.hostname, PGPORT: database.port });
    });

    afterEach(async () => {
      await part?.stop();
      await postgres?.stop();
    });

    /** Runs a script of a container here, with its secrets and the programs of this machine. */
    const runScript = (name: string, env: Record<string, string>) => {
      const script = readFileSync(join(folder, name), 'utf8').replaceAll('/run/secrets', root);
      const PATH = `${dirname(programs?.sqlTool ?? '')}:${postgres.path}`;
      return run('sh', ['-c', script], { env: { PATH, ...env } });
    };

    const tool = () => ({
      ...services['temporal-tables'].environment,
      SQL_HOST: database.hostname,
      SQL_PORT: database.port,
    });
    const makeTables = () => runScript('temporal-tables.sh', tool());

    const versions = async () => {
      const found: string[] = [];
      for (const name of Object.keys(TABLES_OF_1_29)) {
        const client = new pg.Client({ connectionString: new URL(`/${name}`, database).href });
        await client.connect();
        const { rows } = await client.query('select curr_version from schema_version');
        found.push(...rows.map((row) => row.curr_version));
        await client.end();
      }
      return found;
    };

    test('gets its tables, and keeps them when the container runs again', async () => {
      await makeTables();
      const first = await versions();
      expect(first).toEqual([expect.stringMatching(/^1\.\d+$/), expect.stringMatching(/^1\.\d+$/)]);
      await makeTables();
      expect(await versions()).toEqual(first);
    });

    test('gets the tables of its version in place of those of 1.29', async () => {
      const env = { ...tool(), SQL_PASSWORD: 'two' };
      for (const [name, version] of Object.entries(TABLES_OF_1_29)) {
        const schema = `postgresql/v12/${name.replace('temporal_', '')}`;
        const sqlTool = (...args: string[]) =>
          run(programs?.sqlTool ?? '', ['--database', name, ...args], { env });
        await sqlTool('setup-schema', '--version', '0.0');
        await sqlTool('update-schema', '--schema-name', schema, '--version', version);
      }
      expect(await versions()).toEqual(Object.values(TABLES_OF_1_29));
      await makeTables();
      const [, ofVisibility] = await versions();
      expect(ofVisibility).not.toBe(TABLES_OF_1_29.temporal_visibility);
    });

    test(
      'serves with its environment, and `init` makes its namespace',
      async () => {
        await makeTables();
        const { environment } = services.temporal;
        await startPart(
          {
            name: 'temporal',
            command: programs?.server ?? '',
            args: ['start'],
            env: {
              ...environment,
              POSTGRES_SEEDS: database.hostname,
              DB_PORT: database.port,
              POSTGRES_PWD: 'two',
              BIND_ON_IP: host,
            },
            logFile: join(root, 'temporal.log'),
            serves: () => accepts(host, PORTS.temporal),
          },
          (started) => {
            part = started;
          },
        );
        const setUp = () => setUpNamespace({ address: `${host}:${PORTS.temporal}`, namespace: 'live' });
        expect(await setUp()).toEqual({ isNew: true, addedAttributes: Object.keys(searchAttributes) });
        expect(await setUp()).toEqual({ isNew: false, addedAttributes: [] });
      },
      LIMIT_MS,
    );
  });
});
