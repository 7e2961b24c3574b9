import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DeliveryStatus } from '../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { roleTokens } from '../../support/role-tokens.js';
import { type ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import { answerWith, atFirst, webhookReceivers } from '../../support/webhooks/receiver.js';
import { instanceIds } from '../sign-on/demo-environment.js';
import { startRolesApart } from './roles-apart.js';
import { WebhookEnvironment } from './webhook-environment.js';

const services = serviceProcesses();
const newReceiver = webhookReceivers();

const env = { ...roleTokens, WEBHOOK_RETRY_DELAYS: '600ms,1200ms', WEBHOOK_TIMEOUT: '30s' };

let domain: ServiceProcess;
let worker: ServiceProcess;
let demo: WebhookEnvironment;

beforeAll(async () => {
  ({ domain, worker } = await startRolesApart(services, env));
  demo = new WebhookEnvironment(domain, newReceiver);
});
afterAll(() => demo?.close());

test('a worker that knows no Temporal says what is missing, and that nothing is lost', async () => {
  const told = await worker.output.nextLine(({ msg }) =>
    String(msg).startsWith('TEMPORAL_ADDRESS is not set'),
  );
  expect(told).toMatchObject({
    level: 'warn',
    msg: expect.stringMatching(/retried when they are due.*no UI.*signals/),
  });
});

test('fails twice, then accepts: three requests with one id, and the domain was killed between them', async () => {
  // So late that no second attempt has begun at the kill: its request would be missing.
  const later = answerWith(503, { 'retry-after': '10' });
  const failing = atFirst(1, later, answerWith(503));
  const to = await demo.subscribe({ eventTypes: ['client.*'] }, atFirst(2, failing));
  const never = await demo.subscribe({ eventTypes: ['client.*'] }, failing);
  await demo.newClient(instanceIds.harborlight);
  const { eventId } = await to.receiver.next();
  await demo.attempted(to, eventId);
  const { delivery } = await demo.attempted(never, eventId);
  domain.signal('SIGKILL');
  await domain.exited;
  // It falls due while the domain is away.
  await sleep(Math.max(0, (delivery?.nextAttemptAt?.getTime() ?? 0) - Date.now()));
  domain = await services.start({ command: 'domain', env: domain.settings, dataDir: domain.dataDir });
  const [delivered, exhausted] = await Promise.all([demo.ended(to, eventId), demo.ended(never, eventId)]);
  expect(delivered.delivery).toMatchObject({ status: DeliveryStatus.DELIVERED, attemptsBegun: 3 });
  expect(exhausted.delivery).toMatchObject({ status: DeliveryStatus.EXHAUSTED, attemptsBegun: 3 });
  for (const { receiver } of [to, never]) {
    expect(receiver.received.map((request) => request.eventId)).toEqual([eventId, eventId, eventId]);
  }
});

test('it does not wait for the due time of a retry to end', async () => {
  const to = await demo.subscribe({ eventTypes: ['client.*'] }, answerWith(503, { 'retry-after': '600' }));
  await demo.newClient(instanceIds.harborlight, 'Quillfeather Books');
  const { eventId } = await to.receiver.next();
  await demo.attempted(to, eventId);
  expect(await worker.stop()).toEqual({ code: 0, signal: null });
});

test('a worker whose Temporal is not there yet makes retries when they are due', async () => {
  const address = `unix:${domain.dataDir}/run/domain.sock`;
  // Nothing can listen at port 1 here.
  const settings = { ...env, TEMPORAL_ADDRESS: '127.0.0.1:1', DOMAIN_ADDRESS: address };
  await services.start({ command: 'worker', env: settings });
  const to = await demo.subscribe({ eventTypes: ['client.*'] }, atFirst(2, answerWith(503)));
  await demo.newClient(instanceIds.harborlight, 'Larkspur Bindery');
  const { eventId } = await to.receiver.next();
  const { delivery } = await demo.ended(to, eventId);
  expect(delivery).toMatchObject({ status: DeliveryStatus.DELIVERED, attemptsBegun: 3 });
});
