import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import type { ReplayEventsRequest } from '../../../../../generated/proto/integration/webhooks/v1/events.js';
import { ErrorCode, ServiceError } from '../../../../../src/errors/service-error.js';
import { signalled } from '../../../../support/signalled.js';
import { integration } from '../../../typed.js';
import { at, type WebhookHandlers, webhookRigs } from './rig.js';

const start = webhookRigs();

const event = {
  id: 'evt_1',
  type: 'user.updated',
  entityType: 'user',
  entityId: 'usr_1',
  instanceId: 'ins_1',
  clientId: 'cli_1',
  occurredAt: at,
};
const RANGE = ['--subscription', 'whs_1', '--since', '2026-07-01', '--until', '2026-07-02'];

describe('integration event', () => {
  test('list asks for what was typed, and is a table', async () => {
    const asked: object[] = [];
    const { typeApart } = await start({
      listEvents: async (request) => {
        asked.push(request);
        return { events: [event], nextPageToken: '' };
      },
    });
    const filter = ['--types', 'user.*,client.created', '--instance', 'ins_1', '--client', 'cli_1'];
    const { stdout } = await typeApart(
      'event',
      'list',
      ...filter,
      '--entity',
      'usr_1',
      '--since',
      '2026-07-01',
    );
    expect(asked).toEqual([
      {
        types: ['user.*', 'client.created'],
        instanceId: 'ins_1',
        clientId: 'cli_1',
        entityId: 'usr_1',
        since: new Date('2026-07-01'),
        pageSize: 50,
        pageToken: '',
      },
    ]);
    expect(stdout).toMatch(
      /^EVENT +TYPE +ABOUT +CLIENT +OCCURRED\nevt_1 +user\.updated +usr_1 +cli_1 +2026-/,
    );
  });

  test('list takes times without a zone for UTC, which is how times are printed', async () => {
    const asked: object[] = [];
    const { settings } = await start({
      listEvents: async ({ since, until }) => {
        asked.push({ since, until });
        return { events: [], nextPageToken: '' };
      },
    });
    for (const [since = '', until = ''] of [
      ['2026-07-01T08:00:00', '2026-07-01 09:30'],
      ['2026-7-1', '2026-07-01T08:00:00+02:00'],
    ]) {
      const args = ['event', 'list', '--since', since, '--until', until];
      await integration(args, { ...settings, TZ: 'America/New_York' });
    }
    expect(asked).toEqual([
      { since: new Date('2026-07-01T08:00Z'), until: new Date('2026-07-01T09:30Z') },
      { since: new Date('2026-07-01T00:00Z'), until: new Date('2026-07-01T06:00Z') },
    ]);
  });

  test('show has the body as the receiver that was asked for gets it', async () => {
    const { type } = await start({
      getEvent: async ({ instanceIntegrationId }) => ({
        event,
        body: Buffer.from(JSON.stringify({ links: { self: `/v1/${instanceIntegrationId}` } })),
      }),
    });
    const { stdout } = await type('event', 'show', 'evt_1', '--instance-integration', 'iin_1');
    expect(stdout).toMatch(/^Event +evt_1\nType +user\.updated\nAbout +user usr_1\n/);
    expect(stdout).toContain('\n\nBody\n\n  {\n    "links": {\n      "self": "/v1/iin_1"\n');
  });
});

describe('integration event replay', () => {
  test('asks for the range and the types that were typed, and says how many deliveries were made', async () => {
    const asked: ReplayEventsRequest[] = [];
    const { type } = await start({
      replayEvents: async function* (request) {
        asked.push(request);
        yield { createdDeliveries: 100, lastEventId: 'evt_100', done: false };
        yield { createdDeliveries: 130, lastEventId: 'evt_131', done: true };
      },
    });
    const { code, stdout, stderr } = await type(
      'event',
      'replay',
      ...RANGE,
      '--types',
      'user.*',
      '--include-delivered',
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(asked).toEqual([
      {
        subscriptionId: 'whs_1',
        since: new Date('2026-07-01'),
        until: new Date('2026-07-02'),
        eventTypes: ['user.*'],
        includeDelivered: true,
      },
    ]);
    expect(stdout).toBe(
      'Deliveries made: 130. How they go: `integration delivery list --subscription whs_1`.\n',
    );
  });

  test.each([
    ['behind', 3_600_000, 3_600_001],
    ['ahead of', -3_600_000, 1],
  ])(
    'without an end covers the newest event where its clock is %s that of events',
    async (_, aheadMs, leastMs) => {
      const asked: ReplayEventsRequest[] = [];
      const begunAt = Date.now();
      const { type } = await start({
        listEvents: async ({ pageSize }) => ({
          events: [{ ...event, occurredAt: new Date(begunAt + aheadMs) }].slice(0, pageSize),
          nextPageToken: '',
        }),
        replayEvents: async function* (request) {
          asked.push(request);
          yield { createdDeliveries: 1, lastEventId: 'evt_1', done: true };
        },
      });
      const { code } = await type('event', 'replay', '--subscription', 'whs_1', '--since', '2h');
      expect(code).toBe(0);
      expect(asked[0]?.until?.getTime()).toBeGreaterThanOrEqual(begunAt + leastMs);
    },
  );

  /** A first call that breaks after five deliveries; what the second one does is what is tested. */
  function breakingOnce(asked: ReplayEventsRequest[], second: NonNullable<WebhookHandlers['replayEvents']>) {
    return start({
      replayEvents: async function* (request, context) {
        asked.push(request);
        if (asked.length > 1) {
          yield* second(request, context);
          return;
        }
        yield { createdDeliveries: 5, lastEventId: 'evt_5', done: false };
        throw new ServiceError(ErrorCode.UNAVAILABLE, 'The service is being started again.');
      },
    });
  }

  test('continues by itself after the last event when the service went away meanwhile', async () => {
    const asked: ReplayEventsRequest[] = [];
    const { type } = await breakingOnce(asked, async function* () {
      yield { createdDeliveries: 7, lastEventId: 'evt_9', done: true };
    });
    const { code, stdout } = await type('event', 'replay', ...RANGE, '--json');
    expect(code).toBe(0);
    expect(asked.map(({ afterEventId }) => afterEventId)).toEqual([undefined, 'evt_5']);
    expect(JSON.parse(stdout)).toEqual({ createdDeliveries: 12, lastEventId: 'evt_9', done: true });
  });

  test('that is ended says how it continues, and that it is not done', async () => {
    const { told: hasGoneOn, tell: goneOn } = signalled();
    const { begin } = await breakingOnce([], async function* (_, { signal }) {
      goneOn();
      await once(signal, 'abort');
      yield { createdDeliveries: 1, lastEventId: 'evt_6', done: true };
    });
    const replay = begin('event', 'replay', ...RANGE, '--types', 'user.*', '--include-delivered');
    await hasGoneOn;
    expect(await replay.interrupt()).toBe(1);
    expect(replay.output.text()).toBe('Deliveries made: 5.');
    const command = [
      'integration event replay --subscription whs_1',
      '--since 2026-07-01T00:00:00.000Z --until 2026-07-02T00:00:00.000Z',
      "--types 'user.*' --include-delivered --after evt_5",
    ].join(' ');
    expect(replay.errors.text()).toBe(
      `The replay was cut off. What was made stays; it goes on with:\n\n  ${command}\n`,
    );
  });

  test('begins after the event that is given', async () => {
    const asked: ReplayEventsRequest[] = [];
    const { type } = await start({
      replayEvents: async function* (request) {
        asked.push(request);
        yield { createdDeliveries: 0, lastEventId: '', done: true };
      },
    });
    const { code, stdout } = await type('event', 'replay', ...RANGE, '--after', 'evt_5');
    expect([code, stdout]).toEqual([0, 'Deliveries made: 0.\n']);
    expect(asked).toMatchObject([{ afterEventId: 'evt_5' }]);
  });

  test('says how far back events are kept where the range begins before that', async () => {
    const keptSince = new Date('2026-07-01T12:00:00Z');
    const { type } = await start({
      replayEvents: async function* () {
        yield { createdDeliveries: 0, lastEventId: '', done: true, keptSince };
      },
    });
    const { code, stdout, stderr } = await type('event', 'replay', ...RANGE);
    expect([code, stdout]).toEqual([0, 'Deliveries made: 0.\n']);
    expect(stderr).toBe(
      'Events are kept from 2026-07-01 12:00:00Z on (EVENT_RETENTION). Older ones are left out.\n',
    );
    const { stdout: json } = await type('event', 'replay', ...RANGE, '--json');
    expect(JSON.parse(json)).toMatchObject({ keptSince: keptSince.toISOString() });
  });

  test.each([
    ['before it begins', 0, ''],
    [
      'on its way',
      1,
      'Deliveries made before it was refused: 5. When the reason below is gone, it goes on with:\n\n  integration event replay --subscription whs_1 --since 2026-07-01T00:00:00.000Z --until 2026-07-02T00:00:00.000Z --after evt_5\n\n',
    ],
  ])('that is refused %s ends with the reason', async (_, messages, said) => {
    const { type } = await start({
      replayEvents: async function* () {
        for (let told = 0; told < messages; told += 1) {
          yield { createdDeliveries: 5, lastEventId: 'evt_5', done: false };
        }
        throw new ServiceError(ErrorCode.SUBSCRIPTION_DISABLED, 'The subscription is disabled.');
      },
    });
    const { code, stderr } = await type('event', 'replay', ...RANGE);
    expect([code, stderr]).toEqual([1, `${said}The subscription is disabled. (subscription_disabled)\n`]);
  });

  test('without a server ends at once', async () => {
    const { typeApart, goAway } = await start({});
    goAway();
    const { code, stderr } = await typeApart('event', 'replay', ...RANGE);
    expect([code, stderr]).toEqual([1, expect.stringContaining('gave no usable answer: UNAVAILABLE')]);
  });
});
