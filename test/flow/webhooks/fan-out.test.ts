import { beforeAll, describe, expect, test } from '@jest/globals';
import { InstanceIntegrationStatus } from '../../../generated/proto/integration/operator/v1/connections.js';
import { DeliveryStatus } from '../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { verified } from '../../support/webhooks/receiver.js';
import { clientIds, instanceIds } from '../sign-on/demo-environment.js';
import { call } from '../sign-on/environment.js';
import { connectionIds, type Subscribed, webhookEnvironment } from './webhook-environment.js';

const environment = webhookEnvironment();

const { tallowfern, quillmere, ostrander } = clientIds;
const { juniper, juniperUnconfigured } = connectionIds;

/** Subscribed types and clients, and the events that result. */
const cases = [
  {
    title: 'all types: all of the instance',
    wanted: { eventTypes: ['*'] },
    gets: [
      'client.created new',
      'user.created quillmere',
      'user.created tallowfern',
      'worker.onboarded tallowfern',
    ],
  },
  {
    title: 'the same once more: the same',
    wanted: { eventTypes: ['*'] },
    gets: [
      'client.created new',
      'user.created quillmere',
      'user.created tallowfern',
      'worker.onboarded tallowfern',
    ],
  },
  {
    title: 'all of users: what is about users',
    wanted: { eventTypes: ['user.*'] },
    gets: ['user.created quillmere', 'user.created tallowfern'],
  },
  {
    title: 'a type and a pattern that overlap with nothing else: each once',
    wanted: { eventTypes: ['worker.onboarded', 'worker.*', 'client.created'] },
    gets: ['client.created new', 'worker.onboarded tallowfern'],
  },
  { title: 'a type that did not happen: nothing', wanted: { eventTypes: ['user.updated'] }, gets: [] },
  {
    title: 'a type with a common prefix: nothing of the other',
    wanted: { eventTypes: ['organization_unit.*', 'worker.updated'] },
    gets: [],
  },
  {
    title: 'one client: its events only',
    wanted: { eventTypes: ['*'], clientIds: [quillmere] },
    gets: ['user.created quillmere'],
  },
  {
    title: 'two clients and one type: that type of both',
    wanted: { eventTypes: ['user.*'], clientIds: [quillmere, tallowfern] },
    gets: ['user.created quillmere', 'user.created tallowfern'],
  },
  {
    title: 'another instance: what happens there',
    wanted: { instanceIntegrationId: juniper, eventTypes: ['*'] },
    gets: ['user.created ostrander'],
  },
  {
    title: 'a connection that is no longer configured: nothing',
    wanted: { instanceIntegrationId: juniperUnconfigured, eventTypes: ['*'] },
    gets: [],
  },
];

const subscribed = new Map<string, Subscribed>();
const names = new Map([
  [tallowfern, 'tallowfern'],
  [quillmere, 'quillmere'],
  [ostrander, 'ostrander'],
]);
let deleted: Subscribed;
let disabled: Subscribed;

beforeAll(async () => {
  const { demo } = environment;
  await configureJuniper(InstanceIntegrationStatus.CONFIGURED);
  for (const { title, wanted } of cases) {
    subscribed.set(title, await demo.subscribe({ clientIds: [], ...wanted }));
  }
  await configureJuniper(InstanceIntegrationStatus.NOT_CONFIGURED);
  deleted = await demo.subscribe();
  await demo.unsubscribe(deleted);
  disabled = await demo.subscribe();
  await demo.webhooks.disableSubscription({ subscriptionId: disabled.subscription.id }, call());
  names.set(await demo.newClient(instanceIds.harborlight), 'new');
  await demo.newPerson({ user: [tallowfern, quillmere, ostrander], worker: [tallowfern] });
});

async function configureJuniper(status: InstanceIntegrationStatus): Promise<void> {
  const instanceIntegrationId = juniperUnconfigured;
  await environment.demo.operator.configureInstanceIntegration({ instanceIntegrationId, status }, call());
}

describe('who gets an event', () => {
  test.each(cases)('$title', async ({ title, gets }) => {
    const to = subscribed.get(title) as Subscribed;
    // Whom an event goes to is fixed when it is recorded, so this list is complete by now.
    const deliveries = await environment.demo.deliveries(to);
    expect(deliveries).toHaveLength(gets.length);
    const received = await to.receiver.until('all of them', (requests) =>
      requests.length >= gets.length ? requests : undefined,
    );
    const told = received.map(({ event }) => `${event.type} ${names.get(event.data.clientId)}`);
    expect(told.sort()).toEqual(gets);
  });

  test('two who get the same event get it with one id, each signed for itself', async () => {
    const [one, other] = [...subscribed.values()] as [Subscribed, Subscribed];
    const isNewClient = ({ event }: { event: { type: string } }) => event.type === 'client.created';
    const [first, second] = await Promise.all([one, other].map((to) => to.receiver.next(isNewClient)));
    if (!first || !second) {
      throw new Error('Both were waited for.');
    }
    expect(first.eventId).toBe(second.eventId);
    expect(first.body).toEqual(second.body);
    expect(verified(first, one.secret)).toEqual(verified(second, other.secret));
    expect(() => verified(second, one.secret)).toThrow('No matching signature found');
  });

  test('a disabled subscription: nothing now, and all of it is held', async () => {
    const deliveries = await environment.demo.deliveries(disabled);
    expect(deliveries).toHaveLength(4);
    expect(new Set(deliveries.map(({ status }) => status))).toEqual(new Set([DeliveryStatus.HELD]));
    expect(disabled.receiver.received).toEqual([]);
  });

  test('a deleted subscription: nothing', async () => {
    expect(await environment.demo.deliveries(deleted)).toEqual([]);
    expect(deleted.receiver.received).toEqual([]);
  });
});
