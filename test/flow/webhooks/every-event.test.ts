import { beforeAll, describe, expect, test } from '@jest/globals';
import type { EventType } from '../../../generated/asyncapi/events.js';
import { payloadSchemaOf } from '../../../generated/asyncapi/schemas.js';
import { faultsOfWebhook } from '../../support/webhooks/event-judge.js';
import { type ReceivedWebhook, verified } from '../../support/webhooks/receiver.js';
import { EventStory, type Expected } from './event-story.js';
import { connectionIds, type Subscribed, webhookEnvironment } from './webhook-environment.js';

const environment = webhookEnvironment();
const types = Object.keys(payloadSchemaOf) as EventType[];

let story: EventStory;
let all: Subscribed;
let received: readonly ReceivedWebhook[];

beforeAll(async () => {
  const { demo } = environment;
  all = await demo.subscribe();
  story = new EventStory(demo);
  await story.tell();
  received = await all.receiver.until('every event', (requests) =>
    requests.length >= story.expected.length ? requests : undefined,
  );
});

function toldBy({ event }: ReceivedWebhook): Expected {
  return { type: event.type, entityId: event.entity.id };
}

function ofType(type: EventType): ReceivedWebhook[] {
  return received.filter(({ event }) => event.type === type);
}

function sorted(expected: readonly Expected[]): string[] {
  return expected.map(({ type, entityId }) => `${type} ${entityId}`).sort();
}

describe('the writes of the platform', () => {
  test('are told as the events they are, each once, and as nothing else', async () => {
    expect(sorted(received.map(toldBy))).toEqual(sorted(story.expected));
    const deliveries = await environment.demo.deliveries(all);
    expect(deliveries.map(({ eventId }) => eventId).sort()).toEqual(
      received.map(({ eventId }) => eventId).sort(),
    );
  });

  test('cause each type that the contract has', () => {
    expect(types).toHaveLength(9);
    expect(new Set(story.expected.map(({ type }) => type))).toEqual(new Set(types));
  });
});

describe.each(types)('%s', (type) => {
  test('is what its schema says, headers included', () => {
    for (const { method, headers, body } of ofType(type)) {
      expect([method, faultsOfWebhook(headers, body)]).toEqual(['POST', []]);
    }
  });

  test('is taken for genuine by the library of Standard Webhooks, and by it alone as it came', () => {
    for (const request of ofType(type)) {
      expect(verified(request, all.secret)).toEqual(request.event);
      const body = Buffer.from(request.body);
      body[body.length - 2] = (body.at(-2) ?? 0) ^ 1;
      expect(() => verified({ ...request, body }, all.secret)).toThrow('No matching signature found');
    }
  });

  test('has a link, made for the receiver, that leads to the thing with the receiver’s key', async () => {
    for (const request of ofType(type)) {
      expect(request.event.data.links.self).toContain(`/${connectionIds.harborlight}/`);
      const answer = await environment.demo.follow(request);
      expect([answer.status, request.event.data.links.self]).toEqual([200, request.event.data.links.self]);
      const isListed = (await answer.text()).includes(request.event.entity.id);
      expect(isListed).toBe(!isOfTheLocation(request));
    }
  });

  test('is kept as the bytes that were posted', async () => {
    const [request] = ofType(type);
    const { delivery, attempts, body } = await environment.demo.ended(all, request?.eventId ?? '');
    expect(Buffer.from(body)).toEqual(request?.body);
    expect(delivery).toMatchObject({ eventType: type, attemptsBegun: 1 });
    expect(attempts).toMatchObject([{ number: 1, httpStatus: 204 }]);
  });
});

/** Both its creation and its end are told with a link to where it is no longer listed. */
function isOfTheLocation({ event }: ReceivedWebhook): boolean {
  return event.type.startsWith('organization_location.');
}
