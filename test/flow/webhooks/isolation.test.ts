import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import type { Answer } from '../../support/webhooks/receiver.js';
import { clientIds } from '../sign-on/demo-environment.js';
import { call } from '../sign-on/environment.js';
import { webhookEnvironment } from './webhook-environment.js';

/** Fewer slots than hanging attempts: without shares, the hanging subscription would take them all. */
const SLOTS = 12;
const SLOTS_PER_SUBSCRIPTION = 4;

const environment = webhookEnvironment(() => ({
  env: {
    WEBHOOK_TIMEOUT: '60s',
    WEBHOOK_SENDS: String(SLOTS),
    WEBHOOK_SENDS_PER_SUBSCRIPTION: String(SLOTS_PER_SUBSCRIPTION),
  },
}));

const OTHERS = 19;
/** More than there are slots, and few: all arrive before the longest limit that an attempt can have. */
const EVENTS = SLOTS + 4;

describe('one of twenty receivers that hangs', () => {
  test('is sent no more than its share, and all events reach the others before it has answered anything', async () => {
    const { demo } = environment;
    const person = await demo.newPerson({ user: [clientIds.tallowfern] });
    const userId = person.userIds[0] ?? '';
    const wanted = { eventTypes: ['user.updated'] };
    const unanswered: ServerResponse[] = [];
    const hang: Answer = (response) => unanswered.push(response);
    const hanging = await demo.subscribe(wanted, hang);
    const others = await Promise.all(Array.from({ length: OTHERS }, () => demo.subscribe(wanted)));

    const happen = async (number: number) => {
      const lastName = `Name ${number}`;
      await demo.platform.updateUser({ userId, lastName }, call());
      await Promise.all(
        others.map(({ receiver }) => receiver.next(({ event }) => event.data.lastName === lastName)),
      );
    };
    await Promise.all(Array.from({ length: SLOTS }, (_, number) => happen(number)));
    for (let number = SLOTS; number < EVENTS; number += 1) {
      await happen(number);
    }

    expect(hanging.receiver.received.length).toBe(unanswered.length);
    expect(unanswered.length).toBeGreaterThan(0);
    expect(unanswered.length).toBeLessThanOrEqual(SLOTS_PER_SUBSCRIPTION);
    expect(unanswered.filter(({ destroyed }) => destroyed)).toEqual([]);
    for (const response of unanswered) {
      response.writeHead(204).end();
    }
  });
});
