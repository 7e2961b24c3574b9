import { expect, test } from '@jest/globals';
import {
  AttemptOutcome,
  type DeliveryAttempt,
  DeliveryOrigin,
  DeliveryStatus,
  type ListDeliveriesRequest,
} from '../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import type { ListEventsRequest } from '../../../../generated/proto/integration/webhooks/v1/events.js';
import type { ManagedSubscription } from '../../../../src/domain/webhooks/subscriptions/rows.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import type { WebhookDependencies } from '../../../../src/rpc/domain-server/webhooks/dependencies.js';
import { eventHandlers } from '../../../../src/rpc/domain-server/webhooks/events.js';
import type { CallContext } from '../../../../src/rpc/handlers.js';
import { plantAttempt, plantEvent } from '../../../store/adapters/webhooks/logs/rig.js';
import { plantDelivery } from '../../../store/adapters/webhooks/subscriptions/rig.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { refusalOf } from '../../rig.js';
import { CALL, EVENTS_MS, webhookServing } from './rig.js';

const AT = 1_790_000_000_000;
/** Milliseconds that a timestamp of protobuf can hold, but a Date cannot. */
const NO_TIME = 9e15 as unknown as Date;
const DELIVERIES: ListDeliveriesRequest = { eventTypes: [], statuses: [], pageSize: 0, pageToken: '' };
const EVENTS: ListEventsRequest = { types: [], pageSize: 0, pageToken: '' };

const serving = webhookServing(databaseUnderTest('SQLite'));

async function withSubscription(overrides: Parameters<typeof serving>[0] = {}) {
  const rig = await serving(overrides);
  const { id } = (await rig.create()).subscription;
  const subscription = (await rig.unitOfWork.rows.subscriptions.find(id)) as ManagedSubscription;
  const deliver = (row: object = {}, at = AT) => plantDelivery(rig.database, subscription, row, at);
  return { ...rig, subscription, deliver };
}

test('a delivery is listed and shown with its attempts, also the one that runs, and its body', async () => {
  const { client, deliver, database, subscription } = await withSubscription();
  const running = { attempts_begun: 2, attempt_started_at: AT + 900, lease_until: AT + 30_000 };
  const deliveryId = await deliver({ ...running, retry_batch_id: 'bat_1' });
  const answer = {
    response_start: Buffer.from('no\n').toString('base64'),
    outcome: 'STATUS_REFUSED' as const,
  };
  await plantAttempt(database, deliveryId, { ended_at: AT + 20, ...answer });
  await deliver({ status: 'DELIVERED', attempts_begun: 1, ended_at: AT - 5 }, AT - 10);

  const { deliveries, nextPageToken } = await client.listDeliveries({ ...DELIVERIES, pageSize: 1 }, CALL);
  const shown = await client.getDelivery({ deliveryId }, CALL);
  expect(deliveries).toEqual([shown.delivery]);
  expect(shown.delivery).toEqual({
    ...{ id: deliveryId, subscriptionId: subscription.id, eventType: 'user.updated' },
    instanceIntegrationId: subscription.instanceIntegrationId,
    eventId: expect.stringMatching(/^evt_/),
    ...{ origin: DeliveryOrigin.EVENT, status: DeliveryStatus.PENDING, attemptsBegun: 2 },
    retryWorkflowId: `webhook-retry/${subscription.id}/bat_1`,
    ...{ createdAt: new Date(AT), nextAttemptAt: undefined, endedAt: undefined },
  });
  const attempts: DeliveryAttempt[] = [
    {
      ...{ number: 1, startedAt: new Date(AT + 8), durationMs: 12, httpStatus: 500 },
      ...{ outcome: AttemptOutcome.STATUS_REFUSED, message: 'The receiver answered 500.' },
      responseStart: Buffer.from('no\n'),
    },
    {
      ...{ number: 2, startedAt: new Date(AT + 900), durationMs: undefined, httpStatus: undefined },
      ...{ outcome: AttemptOutcome.UNSPECIFIED, message: '', responseStart: Buffer.alloc(0) },
    },
  ];
  expect(shown.attempts).toEqual(attempts);
  expect(JSON.parse(shown.body.toString())).toMatchObject({
    id: shown.delivery?.eventId,
    type: 'user.updated',
  });

  const rest = await client.listDeliveries({ ...DELIVERIES, pageToken: nextPageToken }, CALL);
  expect(rest).toMatchObject({ deliveries: [{ status: DeliveryStatus.DELIVERED }], nextPageToken: '' });
  const delivered = { ...DELIVERIES, statuses: [DeliveryStatus.DELIVERED], since: new Date(AT - 10) };
  expect((await client.listDeliveries(delivered, CALL)).deliveries).toEqual(rest.deliveries);
});

test('an event is listed and shown, as its receiver gets it or without links', async () => {
  const { client, database, connection } = await withSubscription();
  const { instanceId: instance_id, clientId: client_id } = connection;
  const eventId = await plantEvent(database, { instance_id, client_id, entity_id: 'usr_1', occurred_at: AT });
  const { events } = await client.listEvents({ ...EVENTS, types: ['user.*'], clientId: client_id }, CALL);
  const event = {
    ...{ id: eventId, type: 'user.updated', entityType: 'user', entityId: 'usr_1' },
    ...{ instanceId: instance_id, clientId: client_id, occurredAt: new Date(AT) },
  };
  expect(events).toEqual([event]);
  const bare = await client.getEvent({ eventId }, CALL);
  expect([bare.event, JSON.parse(bare.body.toString()).data]).toEqual([event, {}]);
  const received = await client.getEvent({ eventId, instanceIntegrationId: connection.id }, CALL);
  expect(received.body.toString()).toContain(`/v1/instance-integrations/${connection.id}/clients/`);
});

test('a resend returns the new delivery, and a replay reports its progress', async () => {
  const { client, clock, deliver, subscription } = await withSubscription();
  const deliveryId = await deliver({ status: 'EXHAUSTED', attempts_begun: 3 });
  const { delivery } = await client.resendDelivery({ deliveryId }, CALL);
  expect(delivery).toMatchObject({
    origin: DeliveryOrigin.RESEND,
    status: DeliveryStatus.PENDING,
    attemptsBegun: 0,
  });
  await deliver({ status: 'HELD' }, AT - 1_000);

  const replay = async (since: Date) => {
    const request = { subscriptionId: subscription.id, since, eventTypes: [], includeDelivered: false };
    const told: unknown[] = [];
    for await (const progress of client.replayEvents(request, CALL)) {
      told.push(progress);
    }
    return told;
  };
  const lastEventId = delivery?.eventId;
  await expect(replay(new Date(AT - 60_000))).resolves.toEqual([
    { createdDeliveries: 1, lastEventId, done: false },
    { createdDeliveries: 1, lastEventId, done: true },
  ]);
  await expect(replay(new Date(AT + 60_000))).resolves.toEqual([
    { createdDeliveries: 0, lastEventId: '', done: true },
  ]);
  const keptSince = new Date(clock.now() - EVENTS_MS);
  const told = { createdDeliveries: 0, lastEventId };
  await expect(replay(keptSince)).resolves.toEqual([
    { ...told, done: false },
    { ...told, done: true },
  ]);
  await expect(replay(new Date(keptSince.getTime() - 1))).resolves.toEqual([
    { ...told, done: false, keptSince },
    { ...told, done: true, keptSince },
  ]);

  // The purge would keep the event, because a delivery is pending.
  clock.advance(EVENTS_MS + 1);
  await expect(replay(new Date(AT - 60_000))).resolves.toEqual([
    { createdDeliveries: 0, lastEventId: '', done: true, keptSince: new Date(clock.now() - EVENTS_MS) },
  ]);
  const refusal = await refusalOf(client.resendDelivery({ deliveryId }, CALL));
  expect(refusal.code).toBe(ErrorCode.TRANSITION_REFUSED);
});

test('a replay whose caller leaves is recorded with what it made', async () => {
  const { deliver, subscription, database, unitOfWork, clock } = await withSubscription();
  await deliver({ status: 'HELD' }, AT - 1_000);
  const since = new Date(AT - 60_000);
  const request = { subscriptionId: subscription.id, since, eventTypes: [], includeDelivered: false };
  const caller = new AbortController();
  const identity = { caller: 'operator' };
  const context = { requestId: 'r', identity, signal: caller.signal } as CallContext;
  const draining = new AbortController().signal;
  const dependencies = { unitOfWork, clock: clock.now, eventsMs: EVENTS_MS, draining };
  const handlers = eventHandlers(dependencies as WebhookDependencies);
  for await (const progress of handlers.replayEvents?.(request, context) ?? []) {
    expect(progress.createdDeliveries).toBe(1);
    caller.abort();
  }
  const records = await database.reader.selectFrom('audit_events').select('type').execute();
  expect(records.map(({ type }) => type)).toContain('events.replayed');
});

test('a tail streams entries as they are recorded, and ends when the server drains', async () => {
  const drain = new AbortController();
  const { client, deliver, database } = await withSubscription({ draining: drain.signal });
  const tail = client
    .tailDeliveries({ eventTypes: ['user.*'], since: new Date(AT - 5) }, CALL)
    [Symbol.asyncIterator]();
  const deliveryId = await deliver();
  await expect(tail.next()).resolves.toMatchObject({
    value: { delivery: { id: deliveryId, status: DeliveryStatus.PENDING }, attempt: undefined, skipped: 0 },
  });
  await plantAttempt(database, deliveryId, {
    ended_at: AT,
    outcome: 'TLS_FAILED',
    http_status: null,
  });
  await expect(tail.next()).resolves.toMatchObject({
    value: { delivery: { id: deliveryId }, attempt: { number: 1, outcome: AttemptOutcome.TLS_FAILED } },
  });
  const end = tail.next();
  drain.abort();
  await expect(end).resolves.toMatchObject({ done: true });
});

test('a tail ends when its caller hangs up', async () => {
  const { client, deliver, rig } = await withSubscription();
  await deliver();
  for await (const { skipped } of client.tailDeliveries({ eventTypes: [], since: new Date(AT - 5) }, CALL)) {
    expect(skipped).toBe(0);
    break;
  }
  const over = await eventually('the end of the tail', () =>
    rig.timed.find(({ method }) => method.endsWith('TailDeliveries')),
  );
  expect(over.code).toBe('CANCELLED');
});

test.each<
  [
    title: string,
    ask: (rig: Awaited<ReturnType<typeof withSubscription>>) => Promise<unknown>,
    paths: string[],
  ]
>([
  [
    'an unspecified status',
    ({ client }) =>
      client.listDeliveries(
        { ...DELIVERIES, statuses: [DeliveryStatus.HELD, DeliveryStatus.UNSPECIFIED] },
        CALL,
      ),
    ['statuses[1]'],
  ],
  [
    'patterns that are none, and a span that ends before it begins',
    ({ client }) =>
      client.listDeliveries(
        { ...DELIVERIES, eventTypes: ['*', 'user.', 'a%'], since: new Date(2), until: new Date(1) },
        CALL,
      ),
    ['event_types[1]', 'event_types[2]', 'until'],
  ],
  [
    'too many patterns',
    ({ client }) => client.listEvents({ ...EVENTS, types: Array<string>(51).fill('user.*') }, CALL),
    ['types'],
  ],
  [
    'a pattern of events',
    ({ client }) => client.listEvents({ ...EVENTS, types: ['.*'] }, CALL),
    ['types[0]'],
  ],
  ['a page too large', ({ client }) => client.listEvents({ ...EVENTS, pageSize: 501 }, CALL), ['page_size']],
  [
    'a token not ours',
    ({ client }) => client.listDeliveries({ ...DELIVERIES, pageToken: '%' }, CALL),
    ['page_token'],
  ],
  [
    'a list since a time that no Date can hold',
    ({ client }) => client.listEvents({ ...EVENTS, since: NO_TIME }, CALL),
    ['since'],
  ],
  [
    'a tail since a time that no Date can hold',
    ({ client }) =>
      client.tailDeliveries({ eventTypes: [], since: NO_TIME }, CALL)[Symbol.asyncIterator]().next(),
    ['since'],
  ],
  [
    'a tail of a pattern',
    ({ client }) =>
      client
        .tailDeliveries({ eventTypes: ['User'] }, CALL)
        [Symbol.asyncIterator]()
        .next(),
    ['event_types[0]'],
  ],
])('%s is refused', async (_, ask, paths) => {
  const refusal = await refusalOf(ask(await withSubscription()));
  expect([refusal.code, refusal.fieldViolations.map(({ path }) => path)]).toEqual([
    ErrorCode.INVALID_REQUEST,
    paths,
  ]);
});
