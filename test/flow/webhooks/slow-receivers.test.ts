import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import type { Answer } from '../../support/webhooks/receiver.js';
import { instanceIds } from '../sign-on/demo-environment.js';
import { connectionIds, webhookEnvironment } from './webhook-environment.js';

const SLOTS = 24;
/** All but the last eighth. */
const SLOTS_OF_ONE_INTEGRATION = 21;
const SLOTS_PER_SUBSCRIPTION = 8;
/** Together they may have more attempts than there are slots. */
const SLOW_RECEIVERS = 6;
const EVENTS = 12;

const environment = webhookEnvironment(() => ({
  env: {
    WEBHOOK_TIMEOUT: '60s',
    WEBHOOK_SENDS: String(SLOTS),
    WEBHOOK_SENDS_PER_SUBSCRIPTION: String(SLOTS_PER_SUBSCRIPTION),
  },
}));

describe('slow receivers of one instance integration', () => {
  test('leave slots for another, whose events all arrive before the slow ones have answered anything', async () => {
    const { demo } = environment;
    const unanswered: ServerResponse[] = [];
    const hang: Answer = (response) => unanswered.push(response);
    await Promise.all(Array.from({ length: SLOW_RECEIVERS }, () => demo.subscribe({}, hang)));
    const { receiver } = await demo.subscribe({ instanceIntegrationId: connectionIds.juniper });

    await Promise.all(Array.from({ length: EVENTS }, () => demo.newClient(instanceIds.harborlight)));
    await eventually('all slots but the last', () => unanswered.length === SLOTS_OF_ONE_INTEGRATION);
    const arrive = async () => {
      const id = await demo.newClient(instanceIds.juniper);
      await receiver.next(({ event }) => event.data.clientId === id);
    };
    await Promise.all(Array.from({ length: EVENTS }, arrive));

    expect(unanswered).toHaveLength(SLOTS_OF_ONE_INTEGRATION);
    expect(unanswered.filter(({ destroyed }) => destroyed)).toEqual([]);
    for (const response of unanswered) {
      response.writeHead(204).end();
    }
  });
});
