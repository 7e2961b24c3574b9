import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import {
  AttemptOutcome,
  DeliveryOrigin,
  DeliveryStatus,
} from '../../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { temporaryDirectories } from '../../../../support/temporary-directory.js';
import { integration, sharedIntegration } from '../../../typed.js';
import { at, attempt, delivery, failedAttempt, webhookRigs } from './rig.js';

const start = webhookRigs();
const newDirectory = temporaryDirectories(afterAll);

describe('integration delivery', () => {
  test('list asks for what was typed, times ago included, and is a table', async () => {
    const asked: { since?: Date }[] = [];
    const { type } = await start({
      listDeliveries: async (request) => {
        asked.push(request);
        return { deliveries: [delivery({ nextAttemptAt: at })], nextPageToken: '' };
      },
    });
    const whole = (prefix: string) => `${prefix}_${'1'.repeat(22)}`;
    const [subscriptionId, instanceIntegrationId, eventId] = ['whs', 'iin', 'evt'].map(whole) as [
      string,
      string,
      string,
    ];
    const ids = [
      '--subscription',
      subscriptionId,
      '--instance-integration',
      instanceIntegrationId,
      '--event',
      eventId,
    ];
    const more = [
      '--types',
      'user.*',
      '--status',
      'exhausted,held',
      '--since',
      '2h',
      '--until',
      '2026-07-02',
    ];
    const before = Date.now();
    const { code, stdout } = await type('delivery', 'list', ...ids, ...more);
    expect(code).toBe(0);
    expect(asked).toEqual([
      {
        subscriptionId,
        instanceIntegrationId,
        eventId,
        eventTypes: ['user.*'],
        statuses: [DeliveryStatus.EXHAUSTED, DeliveryStatus.HELD],
        since: expect.any(Date),
        until: new Date('2026-07-02'),
        pageSize: 50,
        pageToken: '',
      },
    ]);
    const typedAt = (asked[0]?.since?.getTime() ?? 0) + 7_200_000;
    expect([typedAt >= before, typedAt <= Date.now()]).toEqual([true, true]);
    expect(stdout).toMatch(/^DELIVERY +TYPE +SUBSCRIPTION +STATUS +ATTEMPTS +NEXT ATTEMPT +CREATED\n/);
    expect(stdout).toMatch(/\nwhd_1 +user\.updated +whs_1 +pending +1 of 3 +2026-07-01 10:00:00Z /);
  });

  test('list reads page after page, up to the limit, and says that there are more', async () => {
    const pages: [string, number][] = [];
    const { type } = await start({
      listDeliveries: async ({ pageToken, pageSize }) => {
        pages.push([pageToken, pageSize]);
        const count = Math.min(pageSize, 500);
        const deliveries = Array.from({ length: count }, (_, index) => delivery({ id: `whd_${index}` }));
        return { deliveries, nextPageToken: `after${pages.length}` };
      },
    });
    const { stdout, stderr } = await type('delivery', 'list', '--limit', '600');
    expect(pages).toEqual([
      ['', 500],
      ['after1', 100],
    ]);
    expect(stdout.match(/^whd_/gm)).toHaveLength(600);
    expect(stderr).toBe('There are more: raise --limit.\n');
  });

  test('list says that there are more also where a script reads the JSON', async () => {
    const { type } = await start({
      listDeliveries: async () => ({ deliveries: [delivery()], nextPageToken: 'after1' }),
    });
    const { code, stdout, stderr } = await type('delivery', 'list', '--limit', '1', '--json');
    expect(JSON.parse(stdout)).toHaveLength(1);
    expect([code, stderr]).toEqual([0, 'There are more: raise --limit.\n']);
  });

  test('show of the demo leads to the workflow in the UI of Temporal that it runs, and no other does', async () => {
    const retryWorkflowId = 'webhook-retry/whs_1/bat_1';
    const { settings } = await start({
      getDelivery: async () => ({
        delivery: delivery({ retryWorkflowId }),
        attempts: [],
        body: Buffer.from('{}'),
      }),
    });
    const dataDirWith = (grpcAddress: string | undefined) => {
      const DATA_DIR = newDirectory();
      const temporalUiUrl = 'http://localhost:8233/namespaces/demo/workflows';
      writeFileSync(join(DATA_DIR, 'demo.json'), JSON.stringify({ grpcAddress, temporalUiUrl }));
      return { ...settings, DATA_DIR };
    };
    const show = async (env: Record<string, string>) =>
      (await sharedIntegration(['delivery', 'show', 'whd_1'], env)).stdout;
    const link = 'http://localhost:8233/namespaces/demo/workflows/webhook-retry%2Fwhs_1%2Fbat_1';
    const ofDemo = dataDirWith(settings.INTEGRATION_ADDRESS);
    const shown = await show(ofDemo);
    expect(shown).toContain(retryWorkflowId);
    expect(shown).toContain(link);
    expect(shown).toMatch(/^ +made only where a worker reaches Temporal, which retries do not need$/m);
    for (const other of [
      settings,
      dataDirWith('localhost:1'),
      { ...ofDemo, TEMPORAL_ADDRESS: 'localhost:7233' },
    ]) {
      const text = await show(other);
      expect(text).toContain(retryWorkflowId);
      expect(text).not.toContain('http://localhost:8233');
    }
  });

  test('show leads to the UI of Temporal that the settings name, in the namespace of the environment', async () => {
    const { settings } = await start({
      getDelivery: async () => ({
        delivery: delivery({ retryWorkflowId: 'webhook-retry/whs_1/bat_1' }),
        attempts: [],
        body: Buffer.from('{}'),
      }),
    });
    const named = {
      TEMPORAL_ADDRESS: 'temporal.example.com:7233',
      TEMPORAL_UI_URL: 'https://temporal.example.com',
      TEMPORAL_NAMESPACE: 'payroll live',
    };
    const { stdout } = await integration(['delivery', 'show', 'whd_1'], { ...settings, ...named });
    expect(stdout).toContain(
      'https://temporal.example.com/namespaces/payroll%20live/workflows/webhook-retry%2Fwhs_1%2Fbat_1',
    );
  });

  const failed = failedAttempt({ responseStart: Buffer.from('oops\x1b[2J\u202e\r\nsecond line') });
  const running = attempt({
    number: 2,
    outcome: AttemptOutcome.UNSPECIFIED,
    durationMs: undefined,
    httpStatus: undefined,
  });
  const body = Buffer.from('{"id":"evt_1","data":{"name":"Zo\u00eb"}}');
  const shown = { delivery: delivery({ attemptsBegun: 2 }), attempts: [failed, running], body };

  test('show has the attempts as a table, what was answered, and the body to read', async () => {
    const { type } = await start({ getDelivery: async () => shown });
    const { stdout } = await type('delivery', 'show', 'whd_1');
    expect(stdout).toMatch(/^Delivery +whd_1\nEvent +evt_1 user\.updated\n/);
    expect(stdout).toMatch(/\nRetry workflow +-\n/);
    expect(stdout).toMatch(/\nATTEMPT +BEGAN +TOOK +OUTCOME +STATUS +WHAT HAPPENED\n/);
    expect(stdout).toMatch(/\n1 +\S+ \S+ +12 ms +status refused +500 +The receiver answered 500\.\n/);
    expect(stdout).toMatch(/\n2 +\S+ \S+ +- +running +- +-\n/);
    expect(stdout).toContain(`\n\nBody (${body.length} bytes)\n\n  {\n    "id": "evt_1",\n`);
    expect(stdout).toContain('"name": "Zo\u00eb"');
  });

  test('show prints no control characters of an answer', async () => {
    const { type } = await start({ getDelivery: async () => shown });
    const { stdout } = await type('delivery', 'show', 'whd_1');
    expect(stdout).toContain('\n\n  oops·[2J·\n  second line\n');
    expect(stdout).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
  });

  test('show as JSON has bytes as protobuf writes them', async () => {
    const { type } = await start({ getDelivery: async () => shown });
    const { stdout } = await type('delivery', 'show', 'whd_1', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      delivery: { id: 'whd_1', createdAt: '2026-07-01T10:00:00.250Z' },
      attempts: [{ number: 1, responseStart: failed.responseStart.toString('base64') }, { number: 2 }],
      body: body.toString('base64'),
    });
  });

  test('retry makes the next attempt due, and says where to watch it', async () => {
    const asked: object[] = [];
    const { type } = await start({
      retryDelivery: async (request) => {
        asked.push(request);
        return { delivery: delivery({ attemptsBegun: 1 }) };
      },
    });
    const { stdout } = await type('delivery', 'retry', 'whd_1');
    expect(asked).toEqual([{ deliveryId: 'whd_1' }]);
    expect(stdout).toMatch(/^Delivery +whd_1\n/);
    expect(stdout).toContain('The next attempt is due. How it goes: `integration delivery show whd_1`.');
  });

  test('give-up ends a delivery when it is confirmed', async () => {
    const asked: object[] = [];
    const { type } = await start({
      giveUpDelivery: async (request) => {
        asked.push(request);
        return { delivery: delivery({ status: DeliveryStatus.EXHAUSTED }) };
      },
    });
    const unconfirmed = await type('delivery', 'give-up', 'whd_1');
    expect([unconfirmed.code, unconfirmed.stdout]).toEqual([2, '']);
    expect(asked).toEqual([]);
    const { stdout } = await type('delivery', 'give-up', 'whd_1', '--yes');
    expect(asked).toEqual([{ deliveryId: 'whd_1' }]);
    expect(stdout).toMatch(/\nStatus +exhausted\n/);
  });

  test('resend says which delivery took its place', async () => {
    const asked: object[] = [];
    const { type } = await start({
      resendDelivery: async (request) => {
        asked.push(request);
        return { delivery: delivery({ id: 'whd_2', origin: DeliveryOrigin.RESEND }) };
      },
    });
    const { stdout } = await type('delivery', 'resend', 'whd_1');
    expect(asked).toEqual([{ deliveryId: 'whd_1' }]);
    expect(stdout).toMatch(/^Delivery +whd_2\n/);
    expect(stdout).toMatch(/\nMade because of +resend\n/);
    expect(stdout).toContain('`integration delivery show whd_2`');
  });
});
