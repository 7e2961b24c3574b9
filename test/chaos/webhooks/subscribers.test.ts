import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { exampleEvents } from '../../../generated/asyncapi/examples.js';
import { exchange } from '../../support/http-exchange.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { type Behaviour, WebhookSubscribers } from '../../support/webhooks/subscribers.js';

const directory = temporaryDirectories(afterAll);
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const BEHAVIOURS: readonly Behaviour[] = [
  { kind: 'accepts' },
  { kind: 'refuses' },
  { kind: 'fails', latePerThousand: 0 },
  { kind: 'goes away', afterEvents: 2 },
];

let subscribers: WebhookSubscribers;
let count = 0;

beforeAll(async () => {
  subscribers = await WebhookSubscribers.start(BEHAVIOURS.length, join(directory(), 'records.jsonl'));
  for (const [index, behaviour] of BEHAVIOURS.entries()) {
    subscribers.subscribe(index, SECRET, behaviour);
  }
  // Answered after what was ordered before.
  await subscribers.records();
});
afterAll(() => subscribers?.stop());

function newId(): string {
  count += 1;
  return `evt_${String(count).padStart(22, '0')}`;
}

/** The status, or nothing when it was cut off. */
async function post(index: number, id: string, { secret = SECRET, at = new Date(), event = {} } = {}) {
  const body = JSON.stringify({ ...exampleEvents['user.updated'], id, ...event });
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'IntegrationService-Webhooks/1.4.0',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
  return exchange(subscribers.ports[index] ?? 0, '/hook', { method: 'POST', headers, body }).then(
    ({ status }) => status,
    () => undefined,
  );
}

async function written(id: string) {
  return (await subscribers.records()).filter(({ eventId }) => eventId === id);
}

describe('a process of receivers', () => {
  test('writes down what it got and what it answered', async () => {
    const id = newId();
    expect(await post(0, id)).toBe(204);
    expect(await written(id)).toEqual([{ index: 0, eventId: id, isGenuine: true, answer: 204 }]);
  });

  test.each([
    ['a signature of another secret', { secret: OTHER_SECRET }],
    ['a signature that is old', { at: new Date(Date.now() - 3_600_000) }],
    ['what is no event of the contract', { event: { type: 'user.renamed' } }],
  ])('notes that %s is not genuine', async (_, changes) => {
    const id = newId();
    await post(0, id, changes);
    expect(await written(id)).toMatchObject([{ isGenuine: false }]);
  });

  test.each([1, 2])(
    'lets every event fail once at least, some of them for ever (receiver %i)',
    async (index) => {
      const histories = new Set<string>();
      for (let number = 0; number < 40; number += 1) {
        const id = newId();
        const statuses = [await post(index, id), await post(index, id), await post(index, id)];
        expect(statuses[0]).not.toBe(204);
        histories.add(statuses.map((status) => (status === 204 ? 'accepted' : 'failed')).join());
      }
      expect(histories).toEqual(
        new Set(['failed,accepted,accepted', 'failed,failed,accepted', 'failed,failed,failed']),
      );
    },
  );

  test('has one that goes away after so many events', async () => {
    const ids = [newId(), newId(), newId(), newId()];
    const statuses = [];
    for (const id of ids) {
      statuses.push(await post(3, id));
    }
    expect(statuses).toEqual([204, 204, 410, 410]);
  });

  test('keeps a first attempt or a retry waiting while something is done', async () => {
    const id = newId();
    for (const what of ['first attempt', 'retry'] as const) {
      let answered = false;
      const done = subscribers.during(what, 0, async () => {
        // Answered after the request that is held was taken.
        await subscribers.records();
        expect(answered).toBe(false);
      });
      // Answered once it is known what is to be held.
      await subscribers.records();
      const posted = post(0, id).then((status) => {
        answered = true;
        return status;
      });
      await done;
      expect(await posted).toBe(204);
    }
  });

  test('lets others pass before', async () => {
    const ids = [newId(), newId(), newId()];
    const passed: string[] = [];
    const done = subscribers.during('first attempt', 2, async () => {
      await subscribers.records();
      expect(passed).toEqual(ids.slice(0, 2));
    });
    await subscribers.records();
    for (const id of ids) {
      await post(0, id);
      passed.push(id);
    }
    await done;
  });

  test('tells how many events have come for the first time', async () => {
    const before = subscribers.firsts;
    const id = newId();
    await Promise.all([post(0, id), subscribers.received(before + 1)]);
    await post(0, id);
    await post(1, id);
    await subscribers.received(before + 2);
    expect(subscribers.firsts).toBe(before + 2);
  });
});
