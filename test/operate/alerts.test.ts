import { copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/config/package.js';
import { smallDisks } from '../chaos/small-disks.js';
import { eventually } from '../support/eventually.js';
import { PACKAGE_NAME, packageOfRun } from '../support/packed.js';
import { type Issued, newAuthority } from '../support/self-signed-certificate.js';
import { describeWith } from '../support/toolchains.js';
import { accept, answerWith, type WebhookReceiver, webhookReceivers } from '../support/webhooks/receiver.js';
import { inAlerts } from './blocks.js';
import { isFiring } from './firing.js';
import { type Machine, machines } from './machine.js';
import { httpsReceiver, newTenant, type Tenant } from './tenant.js';

const DAY_MS = 86_400_000;
/** Longer than the windows and delays of the alerts here. */
const LONG_AFTER_MINUTES = 45;

const TITLE = 'an alert fires for a reason that its runbook removes';

if (process.platform === 'linux') {
  describeWith('promtool', TITLE, alertsAndRunbooks);
} else {
  describe.skip(TITLE, () => alertsAndRunbooks(''));
}

function alertsAndRunbooks(promtool: string): void {
  const newMachine = machines();
  const newReceiver = webhookReceivers();
  const authority = newAuthority('Roles');
  let machine: Machine;
  let receiver: WebhookReceiver;
  let tenant: Tenant;

  const inDays = (days: number) => Date.now() + days * DAY_MS;
  const expiresIn = (days: number) => authority.issue({ notBefore: inDays(-60), notAfter: inDays(days) });
  const fileOf = (name: string) => machine.path(`etc/integration-service/tls/${name}`);
  const store = ({ certificate, key }: Issued, ending = '', [mode, keyMode] = [0o644, 0o400]) => {
    mkdirSync(fileOf(''), { recursive: true });
    writeFileSync(fileOf(`server.pem${ending}`), certificate, { mode });
    writeFileSync(fileOf(`server.key${ending}`), key, { mode: keyMode });
  };
  /** Prometheus has read the earlier answers, and the present one for the minutes. */
  const fires = async (alert: string, minutes: number, ...earlier: string[]) => {
    const scraped = earlier.map((metrics) => ({ metrics, minutes: 5 }));
    const now = { metrics: await machine.scrape(), minutes };
    return isFiring(promtool, machine.root, alert, [...scraped, now]);
  };

  /** Waits for what the service says: to ask promtool takes half a second. */
  const says = (metric: string, pattern: RegExp, fits: (values: number[]) => boolean) =>
    eventually(metric, async () => {
      const lines = (await machine.scrape()).split('\n').filter((line) => line.startsWith(`${metric}{`));
      return fits(lines.filter((line) => pattern.test(line)).map((line) => Number(line.split(' ').at(-1))));
    });

  beforeAll(async () => {
    const tarball = await packageOfRun();
    machine = await newMachine();
    copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
    const secured = await httpsReceiver(newReceiver, machine);
    receiver = secured.receiver;
    store(expiresIn(3));
    writeFileSync(fileOf('ca.pem'), authority.certificate);
    await machine.install({
      ...secured.settings,
      GRPC_TLS_CERT_FILE: fileOf('server.pem'),
      GRPC_TLS_KEY_FILE: fileOf('server.key'),
      WEBHOOK_RETRY_DELAYS: '1s,1s',
    });
    await machine.type(inAlerts.remote);
    tenant = await newTenant(machine, receiver);
    await machine.ready();
  }, 300_000);

  test('CertificateEnds', async () => {
    expect(await fires('CertificateEnds', 10)).toBe(true);
    store(expiresIn(90), '.new', [0o600, 0o644]);
    await machine.type(inAlerts.replaceCertificate);
    const modes = ['server.pem', 'server.key'].map((name) => statSync(fileOf(name)).mode & 0o777);
    expect(modes).toEqual([0o644, 0o400]);
    const inMonths = inDays(60) / 1_000;
    await says('tls_certificate_not_after_seconds', /./, (ends) => {
      return ends.length > 0 && ends.every((at) => at > inMonths);
    });
    expect(await fires('CertificateEnds', 10)).toBe(false);
    expect(await machine.type(inAlerts.certificateMetric)).toMatch(
      /^tls_certificate_not_after_seconds{.+} \d/,
    );
    await machine.json('key list');
  });

  test('DeliveriesExhausted', async () => {
    receiver.answer = answerWith(500);
    const before = await machine.scrape();
    await tenant.addClient('Fennimore Tea');
    await says('webhook_deliveries_ended_total', /"EXHAUSTED"/, ([ended]) => ended === 1);
    expect(await fires('DeliveriesExhausted', 10, before)).toBe(true);

    const [{ id }] = await machine.json('delivery list --status exhausted');
    expect(await machine.type(inAlerts.exhausted, { ids: { whd: id } })).toContain('500');
    receiver.answer = accept;
    await machine.type(inAlerts.sendAgain, { ids: { whs: tenant.subscriptionId } });
    const { eventId } = await receiver.next(({ event }) => event.data.name === 'Fennimore Tea');
    await receiver.attempts(eventId, 4);
    expect(await fires('DeliveriesExhausted', LONG_AFTER_MINUTES, before)).toBe(false);
  });

  const [disk] = smallDisks;
  const whereFilesMayBeLimited = disk?.whyNot === undefined ? test : test.skip;
  whereFilesMayBeLimited('WritesRefused', async () => {
    const before = await machine.scrape();
    disk?.fill(machine);
    try {
      await eventually('a refused write', () => /writes are refused/.test(machine.log()));
      await says('store_writes_refused_total', /./, (refused) => refused.some((count) => count > 0));
      expect(await fires('WritesRefused', 2, before)).toBe(true);
      const seen = await machine.type(inAlerts.writesRefused);
      expect(seen).toMatch(/"status":"unready"[\s\S]*"msg":"writes are refused"[\s\S]*Use%/);
    } finally {
      disk?.free(machine);
    }
    await machine.ready();
    // The log comes by way of another process.
    await eventually('the line about the end', async () =>
      (await machine.type(inAlerts.writesRefused)).includes('"msg":"writes are taken again"'),
    );
    expect(await fires('WritesRefused', LONG_AFTER_MINUTES, before)).toBe(false);
  });

  test('the rules pass the checks of the page on monitoring, and the service is ready', async () => {
    expect(JSON.parse(await machine.type(inAlerts.readiness)).roles.domain.status).toBe('ready');
    await machine.type(inAlerts.checkRules, { folder: packageRoot });
  });
}
