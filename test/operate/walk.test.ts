import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { beforeAll, expect } from '@jest/globals';
import { packageVersion } from '../../src/config/package.js';
import { eventually } from '../support/eventually.js';
import { PACKAGE_NAME, packageOfRun } from '../support/packed.js';
import { newTemporaryDirectory } from '../support/temporary-directory.js';
import {
  accept,
  answerWith,
  type ReceivedWebhook,
  verified,
  type WebhookReceiver,
  webhookReceivers,
} from '../support/webhooks/receiver.js';
import { codeOf, inWalk, type Printed } from './blocks.js';
import { type Machine, machines, NEXT_PACKAGE_NAME, NEXT_VERSION, testOnLinux } from './machine.js';
import { httpsReceiver, newTenant, type Tenant } from './tenant.js';

const newMachine = machines();
const newReceiver = webhookReceivers();

let tarball: string;
let nextTarball: string;

beforeAll(async () => {
  tarball = await packageOfRun();
  nextTarball = nextPackage();
}, 300_000);

/** Copies of files of the release, and where the page installs them. */
const INSTALLED = {
  'integration.sh': 'usr/local/sbin/integration',
  'integration-service@.service': 'etc/systemd/system/integration-service@.service',
};

/** The same files as a release to come. */
function nextPackage(): string {
  const folder = newTemporaryDirectory();
  execFileSync('tar', ['-xzf', tarball, '-C', folder]);
  renameSync(`${folder}/${PACKAGE_NAME}`, `${folder}/${NEXT_PACKAGE_NAME}`);
  const file = `${folder}/${NEXT_PACKAGE_NAME}/package.json`;
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), version: NEXT_VERSION }));
  for (const name of Object.keys(INSTALLED)) {
    appendFileSync(`${folder}/${NEXT_PACKAGE_NAME}/systemd/${name}`, `# ${NEXT_VERSION}\n`);
  }
  const packed = `${folder}/${NEXT_PACKAGE_NAME}.tar.gz`;
  execFileSync('tar', ['-I', 'gzip -1', '-cf', packed, '-C', folder, NEXT_PACKAGE_NAME]);
  return packed;
}

testOnLinux(
  'an operator comes from an empty machine to a restored backup, rotated keys, an upgrade and the way back with the blocks of the pages',
  async () => {
    const machine = await newMachine();
    copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
    copyFileSync(nextTarball, machine.path(`root/${NEXT_PACKAGE_NAME}.tar.gz`));
    const { receiver, settings } = await httpsReceiver(newReceiver, machine);

    await machine.install(settings);
    await machine.type(inWalk.check);
    // A machine with a full disk gets a warning.
    expect(await machine.type(inWalk.doctor, { codes: [0, 3] })).toMatch(/^\d+ checks: (?!.*errors)/m);
    const tenant = await newTenant(machine, receiver);
    const contacts = await machine.type(inWalk.contact, { ids: { itg: tenant.integrationId } });
    expect(contacts.match(/w…@brightledger\.example/g)).toHaveLength(2);
    receiver.answer = answerWith(500);
    await tenant.addClient('Fennimore Tea');
    const { eventId } = await receiver.next();

    await backsUp(machine, tenant);
    await restores(machine, tenant);
    receiver.answer = accept;
    const earlier = await restoresWithoutList(machine, tenant, receiver);
    await receiver.attempts(eventId, earlier.filter((request) => request.eventId === eventId).length + 1);
    await rotatesAsOperator(machine, tenant, receiver);
    await rotatesAsCustodian(machine);
    await audits(machine);
    expect(await machine.type(inWalk.expiring)).toContain(tenant.apiKeyId);
    await upgrades(machine, tenant);
    await goesBack(machine, tenant);
  },
  600_000,
);

/** Readings go on meanwhile. */
async function backsUp(machine: Machine, { apiKey }: Tenant): Promise<void> {
  await machine.type(inWalk.backupFolder);
  let isOver = false;
  const reading = (async () => {
    const statuses = new Set<number>();
    while (!isOver) {
      const status = await machine.statusWith(apiKey);
      // A busy machine may refuse a request that has waited for seconds.
      statuses.add(status === 503 ? await machine.statusWith(apiKey) : status);
    }
    return statuses;
  })();
  await machine.type(inWalk.backup).finally(() => {
    isOver = true;
  });
  expect(await reading).toEqual(new Set([200]));
  await machine.type(inWalk.backupWithKey, { input: 'a passphrase of enough characters\n' });
}

async function restores(machine: Machine, { apiKey, integrationId }: Tenant): Promise<void> {
  const leaked = await machine.json(`key create ${integrationId} --label Leaks`);
  expect(await machine.statusWith(leaked.key)).toBe(200);
  await machine.run(`integration key revoke ${leaked.apiKey.id} --yes`);
  await machine.type(inWalk.listOfValid);
  const tooOld = { 'valid-now.jsonl': 'monday/valid.jsonl' };
  await machine.type(inWalk.restore, { words: tooOld, codes: [2] });
  expect(existsSync(machine.dataDir)).toBe(false);
  const restore = codeOf(inWalk.restore);
  await machine.run(restore.slice(restore.indexOf('integration restore')));
  await machine.ready();
  expect(await machine.statusWith(apiKey)).toBe(200);
  expect(await machine.statusWith(leaked.key)).toBe(401);
}

/** Returns what the receiver had before the replay: a retry may have come before the service was stopped. */
async function restoresWithoutList(
  machine: Machine,
  { apiKey, subscriptionId }: Tenant,
  receiver: WebhookReceiver,
): Promise<readonly ReceivedWebhook[]> {
  const listed = await machine.type(inWalk.restoreWithoutList);
  const earlier = [...receiver.received];
  expect(listed).toContain(subscriptionId);
  await machine.type(inWalk.resume);
  await machine.run('systemctl start integration-service@serve');
  await machine.ready();
  expect(await machine.statusWith(apiKey)).toBe(200);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const words = { '2027-01-31T11:58:20.125Z': since };
  await machine.type(inWalk.replay, { words, ids: { whs: subscriptionId } });
  return earlier;
}

async function rotatesAsOperator(machine: Machine, tenant: Tenant, receiver: WebhookReceiver): Promise<void> {
  const tokens: { id: string; role: string }[] = await machine.json('token list --status active');
  const { id: tok = '' } = tokens.find(({ role }) => role.endsWith('_OPERATOR')) ?? {};
  const ids = { key: tenant.apiKeyId, whs: tenant.subscriptionId, app: tenant.clientId, tok };
  const rotated = async (block: Printed, secret: RegExp) =>
    secret.exec(await machine.type(block, { ids }))?.[0] ?? '';

  const key = await rotated(inWalk.rotateApiKey, /ik_live_\w{56}/);
  expect([await machine.statusWith(tenant.apiKey), await machine.statusWith(key)]).toEqual([200, 200]);
  const secret = await rotated(inWalk.rotateWebhookSecret, /whsec_\S+/);
  await tenant.addClient('Marrow & Pike');
  const request = await receiver.next(({ event }) => event.data.name === 'Marrow & Pike');
  expect(verified(request, secret)).toEqual(verified(request, tenant.signingSecret));
  expect(await rotated(inWalk.rotateClientSecret, /cs_live_\w+/)).not.toBe('');
  const input = await rotated(inWalk.rotateToken, /operator_live_\w+/);
  await machine.type(inWalk.saveNextToken, { input });
}

async function rotatesAsCustodian(machine: Machine): Promise<void> {
  const keyFile = machine.path('var/lib/integration-service/live.keys/secrets.key');
  const keysInFile = () => readFileSync(keyFile, 'utf8').match(/^ek_\w+/gm);
  const published = async () => {
    const answer = await fetch(`${machine.signOnUrl}/.well-known/jwks.json`);
    return ((await answer.json()) as { keys: unknown[] }).keys.length;
  };
  const [before] = [await published()];
  const [old = ''] = keysInFile() ?? [];

  const issued = await machine.type(inWalk.issueCustodianToken);
  const [input = ''] = /\S+_live_\w+/.exec(issued) ?? [];
  await machine.type(inWalk.becomeCustodian, { input });
  await machine.type(inWalk.rotateSigningKeys);
  await eventually('the published successors', async () => (await published()) > before);
  await machine.type(inWalk.rotateEncryptionKey);
  await eventually('every secret sealed anew', async () => {
    const keys: { keyId: string; seals?: number }[] = await machine.json('encryption-key list');
    return !keys.find(({ keyId }) => keyId === old)?.seals;
  });
  await machine.type(inWalk.retireEncryptionKey, { ids: { ek: old } });
  expect(keysInFile()).toEqual([expect.not.stringMatching(old)]);
  await machine.type(inWalk.becomeOperator);
}

async function audits(machine: Machine): Promise<void> {
  expect(await machine.type(inWalk.searchAudit)).toContain('service_token.rotated');
  const issued = await machine.type(inWalk.issueAuditorToken);
  const [input = ''] = /\S+_live_\w+/.exec(issued) ?? [];
  await machine.type(inWalk.becomeAuditor, { input });
  await machine.type(inWalk.exportAudit);
  const verified = await machine.type(inWalk.verifyAudit);
  expect(verified).toMatch(
    /^The audit log is intact\. Records read: \d+\.\nThe records of the file are intact\. .* Records read: \d+\.$/m,
  );
  await machine.type(inWalk.storeFindings);
  expect(await machine.type(inWalk.verifyAfterBreak)).toMatch(/^The audit log is intact\./);
}

async function upgrades(machine: Machine, { apiKey }: Tenant): Promise<void> {
  await machine.type(inWalk.backupBeforeUpgrade);
  expect(existsSync(machine.path('var/backups/integration-service/before-upgrade/manifest.json'))).toBe(true);
  const [upgrade, folder] = [codeOf(inWalk.upgrade), machine.path('root')];
  machine.configure({ LOG_LEVEL: 'loud' });
  await machine.type(inWalk.upgrade, { folder, codes: [78] });
  expect(await versionOf(machine)).toBe(packageVersion);
  machine.configure({ LOG_LEVEL: 'info' });
  await machine.run(upgrade.slice(upgrade.indexOf('integration config check')));
  expect(await versionOf(machine)).toBe(NEXT_VERSION);
  for (const copy of Object.values(INSTALLED)) {
    expect(readFileSync(machine.path(copy), 'utf8')).toContain(`# ${NEXT_VERSION}\n`);
  }
  expect(await machine.statusWith(apiKey)).toBe(200);
}

async function goesBack(machine: Machine, { apiKey }: Tenant): Promise<void> {
  await machine.type(inWalk.wayBack);
  expect(await versionOf(machine)).toBe(packageVersion);
  for (const copy of Object.values(INSTALLED)) {
    expect(readFileSync(machine.path(copy), 'utf8')).not.toContain(`# ${NEXT_VERSION}\n`);
  }
  expect(await machine.statusWith(apiKey)).toBe(200);
}

async function versionOf(machine: Machine): Promise<string | undefined> {
  return /^integration_build_info\{.*version="([^"]+)"/m.exec(await machine.scrape())?.[1];
}
