import { randomUUID } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { PlatformServiceService } from '../../generated/proto/integration/platform/v1/platform.js';
import { RpcChannel } from '../../src/rpc/client.js';
import { panelExpressions, rulesIn } from '../deploy/expressions.js';
import { call } from '../flow/sign-on/environment.js';
import { eventually } from '../support/eventually.js';
import { PACKAGE_NAME, packageOfRun } from '../support/packed.js';
import { describeWith } from '../support/toolchains.js';
import { type WebhookReceiver, webhookReceivers } from '../support/webhooks/receiver.js';
import { inPrometheus } from './blocks.js';
import { type Machine, machines } from './machine.js';
import { Prometheus } from './prometheus.js';
import { httpsReceiver, newTenant, type Tenant } from './tenant.js';

const TITLE = 'a Prometheus that reads a running service';
/** Panels without data while nothing fails on one machine with SQLite, and why. */
const EMPTY: Record<string, string> = {
  'domain.json: Waits for a connection': 'only PostgreSQL has a pool of connections',
  'domain.json: Notifications of due deliveries': 'only PostgreSQL sends them',
  'domain.json: Rows purged': 'no row is old enough',
  'domain.json: Purge lag': 'no row is old enough',
  'edge.json: Errors by operation': 'nothing fails',
  'edge.json: Certificates': 'there are none',
  'edge.json: Domains': 'it has one domain only',
  'overview.json: Temporal': 'there is none',
  'domain.json: Reads of the gateway by server': 'there is no replica',
  'domain.json: Changes held back': 'only PostgreSQL has transactions that hold readers back',
  'worker.json: Domains': 'there is one domain',
  'worker.json: Backlog': 'there is no Temporal',
};
/** On a busy machine, each command of the service takes seconds. */
const LIMIT_MS = 300_000;
/** A little less, so that a failure says what was not seen. */
const WAIT_MS = 240_000;
/** As often as this Prometheus reads. */
const BETWEEN_TURNS_MS = 1_000;

interface Loaded {
  name: string;
  health: string;
}

if (process.platform === 'linux') {
  describeWith('prometheus', TITLE, prometheusTests);
} else {
  describe.skip(TITLE, () => prometheusTests(''));
}

function prometheusTests(executable: string): void {
  const newMachine = machines();
  const newReceiver = webhookReceivers();
  let machine: Machine;
  let receiver: WebhookReceiver;
  let tenant: Tenant;
  let prometheus: Prometheus;

  beforeAll(async () => {
    const tarball = await packageOfRun();
    machine = await newMachine();
    copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
    const secured = await httpsReceiver(newReceiver, machine);
    receiver = secured.receiver;
    await machine.install(secured.settings);
    await machine.ready();
    prometheus = await Prometheus.on(machine, executable);
    await machine.type(inPrometheus.install);
    tenant = await newTenant(machine, receiver);
  }, 300_000);

  test('it takes the files as the page on monitoring says, and the service is up', async () => {
    await eventually('the target', async () => {
      // It may still be starting.
      const { activeTargets } = await prometheus.ask('targets').catch(() => ({ activeTargets: [] }));
      return activeTargets.length === 1 && activeTargets[0].health === 'up';
    });
    const words = { '127.0.0.1:9090': prometheus.address };
    const isUp = /^up{instance="127.0.0.1:\d+", job="integration"} => 1 @/;
    // Until it has read the service once, and again where a busy machine has made one reading late.
    await eventually('the answer of the command', async () =>
      isUp.test(await machine.type(inPrometheus.ask, { words })),
    );
  });

  test(
    'each panel of the dashboards has what it shows, after some traffic',
    async () => {
      const { instanceId, platformToken } = tenant;
      // A command for each call would cost more than all that Prometheus does.
      const channel = new RpcChannel(machine.grpcAddress, platformToken);
      const platform = channel.clientOf(PlatformServiceService);
      const traffic = async () => {
        const { client } = await platform.createClient({ instanceId, name: 'Fennimore Tea' }, call());
        const newUser = {
          clientId: client?.id ?? '',
          email: `${randomUUID()}@example.com`,
          withoutManager: false,
        };
        const { user } = await platform.createUser(newUser, call());
        const accountId = user?.accountId ?? '';
        await platform.setPassword({ accountId, password: randomUUID() }, call());
        expect(await machine.statusWith(tenant.apiKey)).toBe(200);
        expect(await machine.statusWith(tenant.apiKey, '/iin_HnuQOy4YQg1OdOSCDbMAkY/clients')).toBe(404);
        await (await fetch(`${machine.signOnUrl}/.well-known/jwks.json`)).text();
      };
      const empty = async () => {
        const panels = panelExpressions.map(async ({ where, expr }) => {
          const samples = await prometheus.query(expr);
          return samples.some(({ value: [, number] }) => number !== 'NaN') ? [] : [where];
        });
        return (await Promise.all(panels)).flat();
      };
      let left: string[] = [];
      const hasData = async () => {
        // Again, because what has happened once has no rate.
        await traffic();
        left = (await empty()).filter((where) => !(where in EMPTY));
        return left.length === 0 || (await pause(BETWEEN_TURNS_MS, false));
      };
      await eventually('data', hasData, WAIT_MS).catch((error: Error) => {
        // Which panels have stayed empty says more than how long that took.
        if (left.length === 0) {
          throw error;
        }
      });
      channel.close();
      expect(left).toEqual([]);
      expect(await empty()).toEqual(expect.arrayContaining(Object.keys(EMPTY)));
      expect(await prometheus.ask('label/instance/values', { 'match[]': 'integration_build_info' })).toEqual([
        new URL(machine.metricsUrl).host,
      ]);
    },
    LIMIT_MS,
  );

  test('each rule is loaded and healthy', async () => {
    const loaded = async (): Promise<Loaded[]> => {
      const { groups } = await prometheus.ask('rules');
      return groups.flatMap(({ rules }: { rules: Loaded[] }) => rules);
    };
    await eventually('an evaluation of each', async () =>
      (await loaded()).every(({ health }) => health !== 'unknown'),
    );
    const rules = await loaded();
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    const shipped = ['recording.yml', 'alerts.yml'].flatMap(rulesIn);
    expect(rules.map(({ name }) => name).sort()).toEqual(
      shipped.map(({ record, alert }) => record ?? alert).sort(),
    );
  });

  test(
    'CredentialExpires is raised for a reason that its runbook removes',
    async () => {
      // On a busy machine, alerts about it may fire too.
      expect(await prometheus.raised()).not.toContain('CredentialExpires');
      const { apiKey: expiring, key } = await machine.json(
        `key create ${tenant.integrationId} --label Nightly --expires 3d`,
      );
      await eventually('the alert', async () => (await prometheus.raised()).includes('CredentialExpires'));
      expect(await machine.type(inPrometheus.whatExpires)).toContain(expiring.id);
      const ids = { key: expiring.id };
      const [next = ''] = /ik_live_\w{56}/.exec(await machine.type(inPrometheus.replaceKey, { ids })) ?? [];
      expect([await machine.statusWith(key), await machine.statusWith(next)]).toEqual([200, 200]);
      await machine.type(inPrometheus.revokeKey, { ids });
      await eventually('the end of the alert', async () =>
        (await prometheus.raised()).every((alert) => alert !== 'CredentialExpires'),
      );
      expect([await machine.statusWith(key), await machine.statusWith(next)]).toEqual([401, 200]);
    },
    LIMIT_MS,
  );
}
