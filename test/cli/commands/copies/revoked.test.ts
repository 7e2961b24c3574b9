import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Sqlite } from '../../../../src/store/better-sqlite3.js';
import { instanceIds } from '../../../flow/sign-on/demo-environment.js';
import { exchange } from '../../../support/http-exchange.js';
import { type ServiceProcess, serviceProcesses } from '../../../support/service-process.js';
import { unlessTurnedAway, untilAnswered } from '../../../support/turned-away.js';
import { integration } from '../../typed.js';
import { succeeded } from './rig.js';

const services = serviceProcesses();

const ask = ({ settings }: ServiceProcess, key: string) =>
  exchange(Number(settings.GATEWAY_PORT), '/v1/instance-integrations', { headers: { 'x-api-key': key } });

const statusAt = async (service: ServiceProcess, key: string) =>
  (await untilAnswered(() => ask(service, key))).status;

/** As if the clock had been ahead for a moment: no list would show a newer change than that of this event. */
function dateAhead(file: string): void {
  const database = new Sqlite(file);
  const dated = database.prepare('update events set occurred_at = ? where seq = 1');
  expect(dated.run(Date.UTC(2999)).changes).toBe(1);
  database.close();
}

/** The list of the backup as if it was made from the copy at a time at which the event counts. */
function readLater(list: string): string {
  const [head = '', ...items] = list.split('\n');
  const later = { ...JSON.parse(head), readAt: '2999-06-01T00:00:00.000Z', changedAt: Date.UTC(2999) };
  return [JSON.stringify(later), ...items].join('\n');
}

test('a key that was revoked after the backup never answers 200 again, and reads with others go on during the backup', async () => {
  const folder = services.newDirectory();
  const keys = { SECRETS_KEY_FILE: join(folder, 'keys/secrets.key') };
  // However often a quick machine reads during a backup, no read is one too many.
  const env = { ...keys, GATEWAY_RATE_LIMIT: '999999999/1h' };
  const service = await services.start({ dataDir: join(folder, 'data'), env });
  const demo = service.demo();
  const [{ key: kept = '' } = {}, { integrationId = '' } = {}] = demo.apiKeys;
  const settings = { ENVIRONMENT: 'demo', DATA_DIR: service.dataDir, ...keys };
  const type = (...args: string[]) => succeeded(integration(args, settings));
  const issued = JSON.parse(await type('key', 'create', integrationId, '--label', 'Leaks', '--json'));
  expect(await statusAt(service, issued.key)).toBe(200);
  const newClient = { instanceId: instanceIds.harborlight, name: 'Fennimore Tea' };
  await type('call', 'Platform/CreateClient', JSON.stringify(newClient));
  dateAhead(join(service.dataDir, 'integration.db'));

  let reading = true;
  const traffic = (async () => {
    const statuses: (number | undefined)[] = [];
    while (reading) {
      statuses.push((await unlessTurnedAway(ask(service, kept)))?.status);
    }
    return statuses;
  })();
  const backup = join(folder, 'backup');
  await type('backup', backup).finally(() => {
    reading = false;
  });
  const statuses = await traffic;
  expect(new Set(statuses.filter((status) => status !== undefined))).toEqual(new Set([200]));
  // A busy machine may refuse a request that has waited for seconds.
  expect(statuses.filter((status) => status === undefined).length).toBeLessThan(3);
  await type('key', 'revoke', issued.apiKey.id, '--yes');
  expect(await statusAt(service, issued.key)).toBe(401);
  const list = join(folder, 'valid-now.jsonl');
  const { code } = await integration(['revocations', list], settings);
  expect(code).toBe(0);
  await service.stop();

  // The demo keeps its credentials in a file, and would create new ones without it.
  const demoFile = join(folder, 'demo.json');
  copyFileSync(service.demoFile, demoFile);
  rmSync(service.dataDir, { recursive: true });
  const same = join(folder, 'valid-of-the-backup.jsonl');
  writeFileSync(same, readLater(readFileSync(join(backup, 'valid.jsonl'), 'utf8')));
  const refused = await integration(['restore', backup, '--revocations', same], settings);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('does not show what was revoked'),
  ]);
  const report = JSON.parse(await type('restore', backup, '--revocations', list, '--json'));
  expect(report.revoked).toMatchObject([{ kind: 'api_key', id: issued.apiKey.id, label: 'Leaks' }]);
  copyFileSync(demoFile, service.demoFile);
  const restored = await services.start({ dataDir: service.dataDir, env: keys });
  expect(await statusAt(restored, issued.key)).toBe(401);
  expect(await statusAt(restored, kept)).toBe(200);
  const verified = await succeeded(integration(['audit', 'verify'], settings));
  expect(verified).not.toMatch(/changed|missing|unchained/);
});
