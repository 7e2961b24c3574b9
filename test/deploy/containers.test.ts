import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { KILL_MARGIN_MS } from '../../src/cli/supervisor/child.js';
import { loadConfig } from '../../src/config/config.js';
import { packageRoot } from '../../src/config/package.js';
import { MOST_CONNECTIONS } from '../../src/store/dialects/postgres/postgres.js';
import { codeOf, pages } from '../operate/blocks.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';

const run = promisify(execFile);
const folder = join(packageRoot, 'deploy/docker');
const dockerfile = readFileSync(join(folder, 'Dockerfile'), 'utf8');
const parsed = (file: string) => parse(readFileSync(join(folder, file), 'utf8'));
const { name: project, services, secrets: files, networks } = parsed('compose.yaml');
const added = parsed('replica.yaml');
const temporaryDirectory = temporaryDirectories();

const GIVEN: Record<string, string> = {
  SIGN_ON_URL: 'https://sign-on.example.com',
  GATEWAY_URL: 'https://gateway.example.com',
};
/** As in the page “Install and upgrade”: PostgreSQL over its socket. */
const DATABASE = 'postgres://integration:a-password@localhost/integration?host=/var/run/postgresql';
/** The supervisor stops one role after the other. */
const { DRAIN_DELAY, SHUTDOWN_GRACE } = loadConfig({ ENVIRONMENT: 'live' });
const LONGEST_STOP_S = (DRAIN_DELAY + 3 * (SHUTDOWN_GRACE + KILL_MARGIN_MS)) / 1_000;
/** `max_connections` of PostgreSQL, and what it reserves for superusers. */
const DEFAULT_MAX_CONNECTIONS = 100;
const RESERVED = 3;

describeWith('hadolint', 'the Dockerfile', (hadolint) => {
  test('passes hadolint', async () => {
    await expect(run(hadolint, [join(folder, 'Dockerfile')])).resolves.toMatchObject({ stdout: '' });
  });

  test('fails hadolint with a planted mistake', async () => {
    const child = run(hadolint, ['-']);
    child.child.stdin?.end(dockerfile.replace('WORKDIR /src', 'WORKDIR src'));
    await expect(child).rejects.toMatchObject({ stdout: expect.stringContaining('DL3000') });
  });
});

test('the Dockerfile runs the service as a user other than root', () => {
  expect([...dockerfile.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)).toEqual(['1000:1000']);
});

test('the image has the public authorities where the client of Temporal looks for them', () => {
  const last = dockerfile.split(/^FROM .*$/m).at(-1);
  expect(last).toContain('\nCOPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/\n');
});

test.each(['compose.yaml', 'replica.yaml', 'metrics.yaml'])('%s passes dclint', async (file) => {
  const dclint = join(packageRoot, 'node_modules/.bin/dclint');
  await expect(run(dclint, [join(folder, file)])).resolves.toMatchObject({ stdout: '\n' });
});

test('the Compose file gives the service a read-only root, no capabilities, and time to stop', () => {
  expect(services.integration).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  });
  expect(Number.parseInt(services.integration.stop_grace_period, 10)).toBeGreaterThan(LONGEST_STOP_S);
});

test('the Compose file bounds the log of each container', () => {
  for (const { logging } of Object.values<{ logging?: unknown }>(services)) {
    expect(logging).toEqual({ driver: 'local', options: { 'max-size': '100m', 'max-file': '10' } });
  }
});

test('the systemd unit gives as much time to stop as the Compose file', () => {
  const unit = readFileSync(join(packageRoot, 'deploy/systemd/integration-service@.service'), 'utf8');
  expect(unit).toContain(`TimeoutStopSec=${services.integration.stop_grace_period}\n`);
});

test('the Compose file leaves enough connections of PostgreSQL for the service beside Temporal', () => {
  const { environment } = services.temporal;
  const [most, idle, mostVisibility, idleVisibility] = [
    'SQL_MAX_CONNS',
    'SQL_MAX_IDLE_CONNS',
    'SQL_VIS_MAX_CONNS',
    'SQL_VIS_MAX_IDLE_CONNS',
  ].map((name) => Number(environment[name]));
  expect([idle, idleVisibility]).toEqual([most, mostVisibility]);
  const ofTemporal = 4 * (Number(most) + Number(mostVisibility));
  const ofCommands = 20;
  expect(ofTemporal + MOST_CONNECTIONS + ofCommands).toBeLessThanOrEqual(DEFAULT_MAX_CONNECTIONS - RESERVED);
});

describe('the environment that the Compose file gives the service', () => {
  const environment = Object.fromEntries(
    Object.entries<string>(services.integration.environment).map(([name, value]) => [
      name,
      value.replace(
        /^\$\{(\w+):[-?](.*)\}$/,
        (_, given: string, otherwise: string) => GIVEN[given] ?? otherwise,
      ),
    ]),
  );

  test('is accepted in live, with the address of the database in a secret', () => {
    const { DATABASE_URL_FILE, ...others } = environment;
    expect(DATABASE_URL_FILE).toBe('/run/secrets/database-url');
    const config = loadConfig({ ...others, DATABASE_URL: DATABASE });
    expect(config).toMatchObject({ ENVIRONMENT: 'live', TEMPORAL_ADDRESS: 'temporal:7233' });
  });

  test('trusts the gateway of its network, from which Docker passes on what reaches the published ports', () => {
    const { subnet, gateway } = networks.outside.ipam.config[0];
    expect(subnet).toBe(`${gateway.replace(/1$/, '0')}/29`);
    expect(environment.TRUSTED_PROXIES).toBe(gateway);
    const ports: string[] = services.integration.ports;
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  test('is accepted with the file for a replica, which adds one secret', () => {
    const { DATABASE_URL_FILE: _, ...others } = environment;
    const secret = 'database-replica-url';
    const { services, secrets, name } = added;
    expect({ name, secrets }).toEqual({
      name: project,
      secrets: { [secret]: { file: `secrets/${secret}` } },
    });
    expect(services.integration.secrets).toEqual([secret]);
    const { DATABASE_REPLICA_URL_FILE, ...further } = services.integration.environment;
    expect([DATABASE_REPLICA_URL_FILE, further]).toEqual([`/run/secrets/${secret}`, {}]);
    const replica = { DATABASE_REPLICA_URL: 'postgres://u@replica/integration?sslmode=verify-full' };
    const config = loadConfig({ ...others, DATABASE_URL: DATABASE, ...replica }, { strict: true });
    expect(config.DATABASE_REPLICA_URL?.reveal()).toBe(replica.DATABASE_REPLICA_URL);
  });

  test('is accepted with the file for Prometheus, which reads the metrics at an address of that network', () => {
    const { name, services } = parsed('metrics.yaml');
    const { environment: given, networks: joined } = services.integration;
    const address = networks.outside.ipam.config[0].gateway.replace(/1$/, '2');
    expect([name, given, joined]).toEqual([
      project,
      { METRICS_HOST: address },
      { outside: { ipv4_address: address } },
    ]);
    const { DATABASE_URL_FILE: _, ...others } = environment;
    const config = loadConfig({ ...others, DATABASE_URL: DATABASE, ...given }, { strict: true });
    expect(`${config.METRICS_HOST}:${config.METRICS_PORT}`).toBe('192.168.245.2:4003');
  });

  test('contains no secret: each secret is a separate file', () => {
    const used = Object.values<{ secrets?: string[] }>(services).flatMap(({ secrets = [] }) => secrets);
    expect([...new Set(used)].sort()).toEqual(Object.keys(files).sort());
    expect(Object.entries(files)).toEqual(
      Object.keys(files).map((name) => [name, { file: `secrets/${name}` }]),
    );
  });
});

test.each(['.gitignore', 'deploy/docker/Dockerfile.dockerignore'])('%s ignores each secret', (file) => {
  const ignored = readFileSync(join(packageRoot, file), 'utf8').split('\n');
  const paths = Object.values<{ file: string }>({ ...files, ...added.secrets }).map((each) =>
    join('deploy/docker', each.file),
  );
  expect(paths).toContain('deploy/docker/secrets/database-replica-url');
  expect(paths.filter((path) => !ignored.some((each) => path.startsWith(each.replace(/\/?$/, '/'))))).toEqual(
    [],
  );
});

describe('the script that makes the databases', () => {
  const GETENV = `sed -n 's/^.getenv //p' | while read -r name source; do echo "$name=$(printenv "$source")"; done\n`;

  /** Runs it with a `psql` that prints its arguments, and what the variables of its commands contain. */
  async function make(secrets: Record<string, string>): Promise<string> {
    const machine = temporaryDirectory();
    for (const [name, content] of Object.entries(secrets)) {
      writeFileSync(join(machine, name), content);
    }
    writeFileSync(join(machine, 'psql'), `#!/bin/sh\necho "$@"\n${GETENV}`);
    chmodSync(join(machine, 'psql'), 0o755);
    const script = readFileSync(join(folder, 'databases.sh'), 'utf8').replaceAll('/run/secrets', machine);
    const env = { PATH: `${machine}:${process.env.PATH}` };
    return (await run('sh', ['-c', script], { env })).stdout;
  }

  test('gives each role its password through the environment, not as an argument that others can see', async () => {
    const secrets = { 'service-database-password': 'one', 'temporal-database-password': 'two' };
    const [args, ...variables] = (await make(secrets)).trim().split('\n');
    expect(args).toBe('--set=ON_ERROR_STOP=1 --username=postgres');
    expect(variables).toEqual(['service=one', 'temporal=two']);
  });

  test('makes no role without a password when a secret cannot be read', async () => {
    await expect(make({ 'service-database-password': 'one' })).rejects.toMatchObject({ code: 1, stdout: '' });
  });
});

describe('the commands of the page', () => {
  /** Up to the first command of Docker, as another user than root. */
  const write = (machine: string) => {
    const [commands = ''] = codeOf(['install', 'cd deploy/docker']).split('export ');
    return run(
      'sh',
      ['-ec', `umask 077\n${commands}`.replace('cd deploy/docker\n', '').replace(/^chown .*$/m, '')],
      {
        cwd: machine,
      },
    );
  };

  test('remove the token from the container after its use', () => {
    const lines = codeOf(['install', 'docker compose exec -T integration']).trim().split('\n');
    const [, file] = /cat > (\S+)'/.exec(lines[0] ?? '') ?? [];
    expect(lines[1]).toContain(`INTEGRATION_TOKEN_FILE=${file} `);
    expect(lines.at(-1)).toBe(`docker compose exec integration rm ${file}`);
  });

  test('write each secret, and keep the passwords when they are repeated', async () => {
    const machine = temporaryDirectory();
    const read = () =>
      Object.values<{ file: string }>(files).map((each) => readFileSync(join(machine, each.file), 'utf8'));
    await write(machine);
    const first = read();
    expect(new Set(first).size).toBe(Object.keys(files).length);
    const modes = Object.values<{ file: string }>(files).map((each) => [
      each.file,
      statSync(join(machine, each.file)).mode & 0o777,
    ]);
    // Only the service reads the address; it is its owner.
    expect(modes.filter(([, mode]) => mode !== 0o444).map(([file]) => file)).toEqual([
      'secrets/database-url',
    ]);
    await write(machine);
    expect(read()).toEqual(first);
  });
});

test.each(['replica.yaml', 'metrics.yaml'])(
  '%s is added by a variable, which later commands keep',
  (file) => {
    const added = `export COMPOSE_FILE=compose.yaml:${file}`;
    const texts = Object.values(pages);
    expect(texts.filter((text) => text.includes(`\`${added}\``))).toHaveLength(1);
    expect(readFileSync(join(folder, file), 'utf8')).toContain(`# ${added}\n`);
    expect(texts.filter((text) => /docker compose (?:-f|--file)/.test(text))).toEqual([]);
  },
);
