import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.js';
import { packageRoot } from '../../src/config/package.js';
import { searchAttributes } from '../../workflows/contract.js';
import { describeWith } from '../support/toolchains.js';

const run = promisify(execFile);
const folder = join(packageRoot, 'deploy/docker');
const parsed = (file: string) => parse(readFileSync(join(folder, file), 'utf8'));
const { name: project, services, secrets: files } = parsed('compose.yaml');
const added = parsed('replica.yaml');

const GIVEN: Record<string, string> = {
  SIGN_ON_URL: 'https://sign-on.example.com',
  GATEWAY_URL: 'https://gateway.example.com',
};
/** As in the page “Install and upgrade”: PostgreSQL over its socket. */
const DATABASE = 'postgres://integration:a-password@localhost/integration?host=/var/run/postgresql';

describeWith('hadolint', 'the Dockerfile', (hadolint) => {
  test('passes hadolint', async () => {
    await expect(run(hadolint, [join(folder, 'Dockerfile')])).resolves.toMatchObject({ stdout: '' });
  });

  test('does not run the service as root, and hadolint finds a mistake in it', async () => {
    const text = readFileSync(join(folder, 'Dockerfile'), 'utf8');
    expect([...text.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)).toEqual(['1000:1000']);
    const child = run(hadolint, ['-']);
    child.child.stdin?.end(text.replace('WORKDIR /src', 'WORKDIR src'));
    await expect(child).rejects.toMatchObject({ stdout: expect.stringContaining('DL3000') });
  });
});

test.each(['compose.yaml', 'replica.yaml'])('%s passes dclint', async (file) => {
  const dclint = join(packageRoot, 'node_modules/.bin/dclint');
  await expect(run(dclint, [join(folder, file)])).resolves.toMatchObject({ stdout: '\n' });
});

test('the service in it has a read-only root, no capabilities, and time to stop', () => {
  expect(services.integration).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    stop_grace_period: '45s',
  });
});

describe('the environment of the service in it', () => {
  const environment = Object.fromEntries(
    Object.entries<string>(services.integration.environment).map(([name, value]) => [
      name,
      value.replace(/^\$\{(\w+):.*$/, (_, given: string) => GIVEN[given] ?? ''),
    ]),
  );

  test('is accepted in live, with the address of the database in a secret', () => {
    const { DATABASE_URL_FILE, ...others } = environment;
    expect(DATABASE_URL_FILE).toBe('/run/secrets/database-url');
    const config = loadConfig({ ...others, DATABASE_URL: DATABASE });
    expect(config).toMatchObject({ ENVIRONMENT: 'live', TEMPORAL_ADDRESS: 'temporal:7233' });
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

test('Temporal in it has the search attributes of the workflows', () => {
  const given: string[] = services['temporal-attributes'].entrypoint;
  expect(given.filter((argument) => /^--(?:name|type)=/.test(argument))).toEqual(
    Object.entries(searchAttributes).flatMap(([name, type]) => [`--name=${name}`, `--type=${type}`]),
  );
});
