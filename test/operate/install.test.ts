import { copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { blocksOf } from '../guides/guide-page.js';
import { newPostgresDatabase, type PostgresDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { freePorts } from '../support/free-ports.js';
import { PACKAGE_NAME, packageOfRun } from '../support/packed.js';
import { newAuthority } from '../support/self-signed-certificate.js';
import { type Role, serviceProcesses } from '../support/service-process.js';
import { inInstallation, inWalk, pages } from './blocks.js';
import { type Machine, machines, testOnLinux } from './machine.js';

const newMachine = machines();
let tarball: string;

beforeAll(async () => {
  tarball = await packageOfRun();
}, 300_000);

testOnLinux('a secret that is stored as the page says reaches only commands of the service', async () => {
  const machine = await newMachine();
  copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
  await machine.type(inWalk.unpack);
  const url = 'postgres://integration:hunter2@127.0.0.1:1/integration';
  await machine.type(inInstallation.storeSecret, { input: url });
  const file = machine.path('etc/integration-service/credentials/database-url');
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([url, 0o600]);
  expect(await machine.run('integration config')).toMatch(/DATABASE_URL_FILE +\S+\/run\/credentials\//);
});

testOnLinux('a setting of the shell takes precedence over the file of settings', async () => {
  const machine = await newMachine();
  copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
  await machine.type(inWalk.unpack);
  machine.configure({ DATA_DIR: machine.path('var/lib/integration-service/of-the-file') });
  const dataDir = (shown: string) => /\bDATA_DIR +(\S+)/.exec(shown)?.[1];
  expect(dataDir(await machine.run('integration config'))).toContain('of-the-file');
  const recovered = 'DATA_DIR=/var/lib/integration-service/recovered integration config';
  expect(dataDir(await machine.run(recovered))).toBe(machine.path('var/lib/integration-service/recovered'));
});

testOnLinux('a command can have another database than the service, such as PostgreSQL itself', async () => {
  const machine = await newMachine();
  copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
  await machine.type(inWalk.unpack);
  const pooler = 'postgres://integration:hunter2@127.0.0.1:1/integration';
  await machine.type(inInstallation.storeSecret, { input: pooler });
  machine.configure({ DATABASE_URL_FILE: machine.path('etc/integration-service/credentials/database-url') });
  const direct = machine.path('etc/integration-service/credentials/database-direct-url');
  writeFileSync(direct, pooler.replace(':1/', ':2/'), { mode: 0o600 });
  const doctor = 'integration doctor --json';
  expect(await machine.run(doctor, { codes: [1, 3] })).toContain('127.0.0.1:1');
  expect(await machine.run(`DATABASE_URL_FILE=${direct} ${doctor}`, { codes: [1, 3] })).toContain(
    '127.0.0.1:2',
  );
  expect(
    await machine.run(`DATABASE_URL_FILE=${direct}s integration doctor 2>&1`, { codes: [78] }),
  ).toContain('DATABASE_URL_FILE names a file that does not exist');
});

testOnLinux('a file of a token that does not exist is named by the command that needs it', async () => {
  const machine = await newMachine();
  copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
  await machine.type(inWalk.unpack);
  const ofTheSettings = machine.path('etc/integration-service/operator.token');
  writeFileSync(ofTheSettings, `operator_live_${'x'.repeat(48)}`, { mode: 0o600 });
  machine.configure({ INTEGRATION_TOKEN_FILE: ofTheSettings });
  const listing =
    'INTEGRATION_TOKEN_FILE=/etc/integration-service/operater.token integration token list 2>&1';
  expect(await machine.run(listing, { codes: [2] })).toBe(
    'INTEGRATION_TOKEN_FILE names a file that does not exist.\n',
  );
});

testOnLinux('commands have the settings of the one unit that opens the database', async () => {
  const machine = await newMachine();
  copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
  await machine.type(inWalk.unpack);
  const writeFileOf = (unit: string) =>
    writeFileSync(machine.path(`etc/integration-service/${unit}.environment`), `DATA_DIR=/of-${unit}\n`);
  const control = (verb: string, unit: string) =>
    machine.run(`systemctl ${verb} integration-service@${unit}`);
  const dataDir = async () =>
    /\bDATA_DIR +(\S+)/.exec(await machine.run('integration config'))?.[1]?.replace(machine.root, '');
  expect(await dataDir()).toBe('/var/lib/integration-service/live');
  writeFileOf('serve');
  expect(await dataDir()).toBe('/of-serve');
  await control('enable', 'domain');
  expect(await dataDir()).toBe('/var/lib/integration-service/live');
  writeFileOf('domain');
  expect(await dataDir()).toBe('/of-domain');
  await control('disable', 'domain');
  expect(await dataDir()).toBe('/of-domain');
  await control('enable', 'serve');
  expect(await dataDir()).toBe('/of-serve');
  rmSync(machine.path('etc/integration-service/serve.environment'));
  expect(await dataDir()).toBe('/var/lib/integration-service/live');
});

testOnLinux('the check of a role has the settings of this role', async () => {
  const machine = await newMachine();
  copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
  await machine.type(inWalk.unpack);
  const wrong = { serve: 'GRPC_PORT', domain: 'LOG_LEVEL', edge: 'GATEWAY_PORT', worker: 'METRICS_PORT' };
  for (const [role, setting] of Object.entries(wrong)) {
    writeFileSync(machine.path(`etc/integration-service/${role}.environment`), `${setting}=wrong\n`);
  }
  const named = async (options: string) => {
    const said = await machine.run(`integration config check ${options} 2>&1`, { codes: [78] });
    return Object.values(wrong).filter((setting) => said.includes(setting));
  };
  await machine.run('systemctl enable integration-service@serve');
  expect(await named('--offline')).toEqual([wrong.serve]);
  expect(await named('--offline --role domain')).toEqual([wrong.domain]);
  expect(await named('--role worker')).toEqual([wrong.worker]);
  expect(await named('--offline --role=edge')).toEqual([wrong.edge]);
});

testOnLinux('the command starts no service in the terminal, where it would end with it', async () => {
  const machine = await newMachine();
  copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
  await machine.type(inWalk.unpack);
  for (const role of ['serve', 'domain', 'edge', 'worker']) {
    expect(await machine.run(`integration ${role} 2>&1`, { codes: [2] })).toBe(
      `The service runs as a unit: systemctl start integration-service@${role}\n`,
    );
  }
  expect(await machine.run('integration serve --help')).toContain('Usage: integration serve');
  expect(await machine.run('integration worker --help')).toContain('Usage: integration worker');
});

/** The settings that the page has for a machine with this role. */
function settingsOf(role: string): Record<string, string> {
  const lines = blocksOf(pages.install ?? '').flatMap(({ code }) =>
    ['all machines', role].some((owner) => code.startsWith(`# ${owner}\n`)) ? code.split('\n') : [],
  );
  return Object.fromEntries(lines.flatMap((line) => (/=/.test(line) ? [line.split(/=(.*)/s)] : [])));
}

describe('on several machines', () => {
  const services = serviceProcesses();
  const databases: PostgresDatabase[] = [];
  afterAll(() => Promise.all(databases.map((database) => database.drop())));

  testOnLinux(
    'two domains, an edge and a worker find one another with the settings of the page',
    async () => {
      const database = await newPostgresDatabase();
      databases.push(database);
      const [first, second] = [await newMachine(), await newMachine()];
      const dataDir = (machine: Machine) => machine.path('var/lib/integration-service/live');
      for (const machine of [first, second]) {
        copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
        await machine.type(inWalk.unpack);
        await machine.type(inInstallation.storeSecret, { input: database.url });
      }
      await first.type(inInstallation.makeRoleTokens);
      const made = await first.type(inWalk.init);
      await first.type(inWalk.saveToken, { input: /operator_live_\w+/.exec(made)?.[0] ?? '' });
      const keyFile = `${dataDir(first)}.keys/secrets.key`;
      await second.type(inInstallation.copyKeyFile, { input: readFileSync(keyFile, 'utf8') });

      const authority = newAuthority('the machines');
      const { certificate, key } = authority.issue();
      const tls = { 'server.pem': certificate, 'server.key': key, 'ca.pem': authority.certificate };
      for (const [name, content] of Object.entries(tls)) {
        writeFileSync(first.path(`root/${name}`), content);
      }
      await first.type(inInstallation.storeCertificates, { folder: first.path('root') });
      const modes = Object.keys(tls).map(
        (name) => statSync(first.path(`etc/integration-service/tls/${name}`)).mode & 0o777,
      );
      expect(modes).toEqual([0o644, 0o400, 0o644]);
      const ports = await freePorts(2);
      const start = (role: Role, machine: Machine, address = '') => {
        const here = Object.entries(settingsOf(role)).map(([name, value]) => [
          name,
          value
            .replaceAll(/domain-([12])\.internal:4005/g, (_, n) => `localhost:${ports[n - 1]}`)
            .replace('10.0.0.21:4005', address)
            .replace(/^10\.0\.0\.\d+$/, '127.0.0.1')
            .replace(/^\/etc/, first.path('etc')),
        ]);
        const secrets = role === 'domain' && {
          DATABASE_URL: database.url,
          SECRETS_KEY_FILE: `${dataDir(machine)}.keys/secrets.key`,
        };
        const env = { ENVIRONMENT: 'live', ...Object.fromEntries(here), ...secrets };
        return services.start({ command: role, env: { ...env, TEMPORAL_ADDRESS: undefined } });
      };
      const domain = await start('domain', first, `127.0.0.1:${ports[0]}`);
      const target = `INTEGRATION_ADDRESS=localhost:${domain.settings.GRPC_PORT} INTEGRATION_CA=/etc/integration-service/tls/ca.pem`;
      expect(await first.run(`${target} integration token list`)).toContain('operator');
      first.configure(settingsOf('domain'));
      first.configure({ TEMPORAL_ADDRESS: '127.0.0.1:1' });
      expect(await first.run('integration init --temporal 2>&1', { codes: [78] })).toContain(
        'Temporal at 127.0.0.1:1 was not set up',
      );
      await start('domain', second, `127.0.0.1:${ports[1]}`);
      for (const role of ['edge', 'worker'] as const) {
        const node = await start(role, first);
        await eventually('both domains', async () =>
          /^domains_known\{.*state="serving".*\} 2$/m.test(
            await (await fetch(`${node.opsUrl}/metrics`)).text(),
          ),
        );
      }
    },
  );
});
