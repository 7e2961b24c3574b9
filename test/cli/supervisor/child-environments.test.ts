import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROLE_NAMES, type RoleName, SECRETS_OF } from '../../../src/cli/roles/role.js';
import { hashedToken } from '../../../src/cli/roles/role-tokens.js';
import { childEnvironments } from '../../../src/cli/supervisor/child-environments.js';
import { loadConfig } from '../../../src/config/config.js';
import { type SecretSettingName, secretSettings } from '../../../src/config/settings.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const directory = temporaryDirectories();

const SECRETS = {
  DATABASE_URL: 'postgres://localhost/one',
  DATABASE_DIRECT_URL: 'postgres://localhost/two',
  DATABASE_REPLICA_URL: 'postgres://localhost/three',
  EDGE_TOKEN: 'e'.repeat(40),
  RELAY_TOKEN: 'r'.repeat(40),
  MAINTENANCE_TOKEN: 'm'.repeat(40),
  TEMPORAL_API_KEY: 'k'.repeat(40),
} as const satisfies Record<SecretSettingName, string>;

/** The names in the environment of a role that stand for a secret or its file. */
function secretNamesOf(environment: NodeJS.ProcessEnv): string[] {
  const names = secretSettings.flatMap((name) => [name, `${name}_FILE`]);
  return names.filter((name) => environment[name] !== undefined);
}

function environmentsOf(given: NodeJS.ProcessEnv) {
  const environmentOf = childEnvironments(loadConfig(given, { strict: true }), given, undefined);
  return Object.fromEntries(ROLE_NAMES.map((role) => [role, environmentOf(role)])) as Record<
    RoleName,
    NodeJS.ProcessEnv
  >;
}

test('a role gets the secrets that it reads, and no other', () => {
  const given = { ...SECRETS, LOG_LEVEL: 'warn' };
  const { domain, worker, edge } = environmentsOf(given);
  expect(secretNamesOf(domain)).toEqual(expect.arrayContaining([...SECRETS_OF.domain]));
  expect(secretNamesOf(domain)).not.toContain('TEMPORAL_API_KEY');
  expect(domain).toMatchObject({
    DATABASE_URL: SECRETS.DATABASE_URL,
    EDGE_TOKEN: hashedToken(SECRETS.EDGE_TOKEN),
    RELAY_TOKEN: hashedToken(SECRETS.RELAY_TOKEN),
  });
  const { RELAY_TOKEN, MAINTENANCE_TOKEN, TEMPORAL_API_KEY, EDGE_TOKEN } = SECRETS;
  expect(secretNamesOf(worker).sort()).toEqual(['MAINTENANCE_TOKEN', 'RELAY_TOKEN', 'TEMPORAL_API_KEY']);
  expect(worker).toMatchObject({ RELAY_TOKEN, MAINTENANCE_TOKEN, TEMPORAL_API_KEY });
  expect(secretNamesOf(edge)).toEqual(['EDGE_TOKEN']);
  expect(edge).toMatchObject({ EDGE_TOKEN, LOG_LEVEL: 'warn' });
});

test('a role gets the files of the secrets that it reads, and no other', () => {
  const folder = directory();
  const given = Object.fromEntries(
    Object.entries(SECRETS).map(([name, secret]) => {
      const path = join(folder, name);
      writeFileSync(path, secret);
      chmodSync(path, 0o600);
      return [`${name}_FILE`, path];
    }),
  );
  const environments = environmentsOf(given);
  for (const role of ROLE_NAMES) {
    const files = SECRETS_OF[role].map((name) => `${name}_FILE`);
    expect(secretNamesOf(environments[role]).sort()).toEqual(files.sort());
  }
});

test('tokens that are not set are new, and only the domain and their sender get them', () => {
  const { domain, worker, edge } = environmentsOf({});
  expect(secretNamesOf(edge)).toEqual(['EDGE_TOKEN']);
  expect(secretNamesOf(worker)).toEqual(['RELAY_TOKEN', 'MAINTENANCE_TOKEN']);
  expect(domain.EDGE_TOKEN).toBe(hashedToken(edge.EDGE_TOKEN as string));
  expect(domain.RELAY_TOKEN).toBe(hashedToken(worker.RELAY_TOKEN as string));
});

test('roles without the API key of Temporal start where it alone secures the connection', () => {
  const { TEMPORAL_API_KEY } = SECRETS;
  const environments = environmentsOf({ TEMPORAL_ADDRESS: 'temporal.internal:7233', TEMPORAL_API_KEY });
  for (const role of ROLE_NAMES) {
    const options = { strict: true, secrets: SECRETS_OF[role] };
    expect(loadConfig(environments[role], options).TEMPORAL_TLS).toBe('on');
  }
});

test('only the domain gets what the client of PostgreSQL reads', () => {
  const given = { PGPASSWORD: 'p', PGPASSFILE: '/none' };
  const { domain, worker, edge } = environmentsOf(given);
  expect(domain).toMatchObject(given);
  expect([worker, edge].flatMap((each) => Object.keys(each).filter((name) => name in given))).toEqual([]);
});
