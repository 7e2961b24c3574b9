import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { parseExposition } from '../../support/prometheus-text.js';
import { roleTokens } from '../../support/role-tokens.js';
import { type ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import { answerWith, webhookReceivers } from '../../support/webhooks/receiver.js';
import { instanceIds } from '../sign-on/demo-environment.js';
import { call } from '../sign-on/environment.js';
import { startRolesApart } from './roles-apart.js';
import { WebhookEnvironment } from './webhook-environment.js';

const services = serviceProcesses();
const newReceiver = webhookReceivers();

/** One attempt at a time per receiver, and no retries during the test. */
const env = {
  ...roleTokens,
  WEBHOOK_RETRY_DELAYS: '1h,1h',
  WEBHOOK_TIMEOUT: '60s',
  WEBHOOK_SENDS_PER_SUBSCRIPTION: '1',
};

let domain: ServiceProcess;
let worker: ServiceProcess;
let demo: WebhookEnvironment;

beforeAll(async () => {
  ({ domain, worker } = await startRolesApart(services, env));
  demo = new WebhookEnvironment(domain, newReceiver);
});
afterAll(() => demo?.close());

/** All current samples of one role, by name with labels. */
async function samplesOf({ opsUrl }: ServiceProcess): Promise<Map<string, number>> {
  const families = parseExposition(await (await fetch(`${opsUrl}/metrics`)).text());
  return new Map(
    [...families.values()].flatMap(({ samples }) =>
      samples.map((sample) => {
        const [, name = '', value] = /^(.*) (\S+)$/.exec(sample) ?? [];
        return [name.replace(/,?role="\w+",?/, '').replace('{}', ''), Number(value)] as const;
      }),
    ),
  );
}

/** Waits until the sample has this value. */
function untilIs(service: ServiceProcess, name: string, isWanted: (value: number) => boolean) {
  return eventually(`the sample ${name}`, async () => {
    const value = (await samplesOf(service)).get(name);
    return value !== undefined && isWanted(value) && { value };
  });
}

const waiting = (attempt: string, subscription: string) =>
  `webhook_outbox_oldest_age_seconds{attempt="${attempt}",subscription="${subscription}"}`;

test('what waits grows older while a receiver hangs, and is gone when it has answered', async () => {
  const held: ServerResponse[] = [];
  const to = await demo.subscribe({ eventTypes: ['client.*'] }, (response) => held.push(response));
  await demo.newClient(instanceIds.harborlight);
  await eventually('the first attempt', () => held.length === 1);
  await demo.newClient(instanceIds.harborlight, 'Quillfeather Books');
  const { value: young } = await untilIs(domain, waiting('first', 'well'), (age) => age > 0);
  await untilIs(domain, waiting('first', 'well'), (age) => age > young);
  const outbox = await samplesOf(domain);
  expect(outbox.get('webhook_outbox_deliveries{attempt="first"}')).toBe(1);
  expect(outbox.get('webhook_outbox_deliveries{attempt="later"}')).toBe(1);
  expect(outbox.get(waiting('first', 'failing'))).toBe(0);
  const during = await samplesOf(worker);
  expect(during.get('webhook_slots_in_use')).toBe(1);
  expect(during.get('webhook_attempts_running')).toBe(1);
  expect(during.get('webhook_relay_lag_seconds_count')).toBe(1);
  expect(during.get('webhook_commit_to_receipt_seconds_count')).toBe(0);

  held[0]?.writeHead(204).end();
  await eventually('the second attempt', () => held.length === 2);
  held[1]?.writeHead(204).end();
  await untilIs(domain, 'webhook_deliveries_ended_total{status="DELIVERED"}', (count) => count === 2);
  await untilIs(worker, 'webhook_slots_in_use', (count) => count === 0);
  const after = await samplesOf(worker);
  expect(after.get('webhook_relay_lag_seconds_count')).toBe(2);
  expect(after.get('webhook_commit_to_receipt_seconds_count')).toBe(2);
  // While the database is slow, an earlier reading is shown.
  await untilIs(domain, waiting('first', 'well'), (age) => age === 0);
  await demo.unsubscribe(to);
});

test('what a failing receiver has not got waits apart from the rest, until it is given up', async () => {
  const to = await demo.subscribe({ eventTypes: ['client.*'] }, answerWith(500));
  await demo.newClient(instanceIds.harborlight, 'Larkspur Bindery');
  const { eventId } = await to.receiver.next();
  const { delivery } = await demo.attempted(to, eventId);
  await untilIs(domain, waiting('later', 'failing'), (age) => age > 0);
  await untilIs(
    worker,
    'webhook_attempts_total{event_type="client.created",outcome="STATUS_REFUSED"}',
    (n) => n === 1,
  );
  await demo.webhooks.giveUpDelivery({ deliveryId: delivery?.id ?? '' }, call());
  await untilIs(domain, 'webhook_deliveries_ended_total{status="EXHAUSTED"}', (count) => count === 1);
  await untilIs(domain, waiting('later', 'failing'), (age) => age === 0);
});
