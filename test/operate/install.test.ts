import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { beforeAll, expect } from '@jest/globals';
import { PACKAGE_NAME, packageOfRun } from '../support/packed.js';
import { inInstallation, inWalk } from './blocks.js';
import { machines, testOnLinux } from './machine.js';

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
  const listing =
    'INTEGRATION_TOKEN_FILE=/etc/integration-service/operater.token integration token list 2>&1';
  expect(await machine.run(listing, { codes: [2] })).toBe(
    'INTEGRATION_TOKEN_FILE names a file that does not exist.\n',
  );
});

testOnLinux(
  'commands have the settings of a domain that runs by itself, whose database they open',
  async () => {
    const machine = await newMachine();
    copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
    await machine.type(inWalk.unpack);
    const dataDir = machine.path('var/lib/integration-service/of-the-domain');
    writeFileSync(machine.path('etc/integration-service/domain.environment'), `DATA_DIR=${dataDir}\n`);
    expect(await machine.run('integration config')).toMatch(new RegExp(`\\bDATA_DIR +${dataDir} `));
  },
);
