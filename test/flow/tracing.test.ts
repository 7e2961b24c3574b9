import { get } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { serviceProcesses } from '../support/service-process.js';
import { type CollectedSpan, TraceCollector } from '../support/trace-collector.js';
import { answerWith, atFirst, webhookReceivers } from '../support/webhooks/receiver.js';
import { readList } from './reading.js';
import { clientIds, instanceIds } from './sign-on/demo-environment.js';
import { call } from './sign-on/environment.js';
import { WebhookEnvironment } from './webhooks/webhook-environment.js';

const services = serviceProcesses();
const newReceiver = webhookReceivers();
let collector: TraceCollector;
let demo: WebhookEnvironment;

const PROXY = '127.0.0.2';
const FOREIGN_TRACE = 'a'.repeat(32);
const FOREIGN = `00-${FOREIGN_TRACE}-${'b'.repeat(16)}-01`;

beforeAll(async () => {
  collector = await TraceCollector.start();
  const service = await services.start({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      WEBHOOK_RETRY_DELAYS: '200ms,400ms',
      TRUSTED_PROXIES: `${PROXY}/32`,
    },
  });
  demo = new WebhookEnvironment(service, newReceiver);
});
afterAll(async () => {
  demo?.close();
  await collector?.stop();
});

/** The span and its ancestors, up to the root of the trace. */
async function lineOf(span: CollectedSpan): Promise<string[]> {
  const { parentSpanId: parent } = span;
  const line = [`${span.role}: ${span.name}`];
  return parent
    ? [...line, ...(await lineOf(await collector.span('a parent', ({ spanId }) => spanId === parent)))]
    : line;
}

test('a write, its commit and the POST of its webhook are one trace, which the receiver can continue', async () => {
  const to = await demo.subscribe({ eventTypes: ['client.created'] });
  await demo.newClient(instanceIds.harborlight, 'Quiet Harbour Tea');
  const received = await to.receiver.next();
  const post = await collector.span('the POST', ({ name }) => name === 'POST webhook');
  expect(received.headers.traceparent).toBe(`00-${post.traceId}-${post.spanId}-01`);
  expect(post.attributes).toMatchObject({
    'messaging.message.id': received.eventId,
    'integration.delivery.attempt': 1,
    'integration.delivery.outcome': 'SUCCEEDED',
    'http.response.status_code': 204,
  });
  expect(await lineOf(post)).toEqual([
    'worker: POST webhook',
    'domain: write',
    'domain: integration.platform.v1.PlatformService/CreateClient',
  ]);
});

test('a request to the gateway is a trace through edge and domain, and its log line names it', async () => {
  const [{ key = '' } = {}] = demo.service.demo().apiKeys;
  const { status } = await readList(demo.service, key, { 'x-request-id': 'traced-1' });
  expect(status).toBe(200);
  const request = await collector.span(
    'the request',
    ({ attributes, role }) => role === 'edge' && attributes['integration.request_id'] === 'traced-1',
  );
  expect(request).toMatchObject({
    name: 'GET listInstanceIntegrations',
    attributes: { 'http.response.status_code': 200 },
  });
  const served = await collector.span(
    'the call',
    ({ role, traceId }) => role === 'domain' && traceId === request.traceId,
  );
  expect((await lineOf(served)).at(-1)).toBe('edge: GET listInstanceIntegrations');
  const line = await demo.service.output.nextLine(
    ({ requestId, role }) => role === 'edge' && requestId === 'traced-1',
  );
  expect(line).toMatchObject({ traceId: request.traceId });
});

test('a trace from a trusted proxy is continued', async () => {
  const headers = { traceparent: FOREIGN, 'x-request-id': 'traced-3' };
  await new Promise((resolve, reject) => {
    const options = { headers, localAddress: PROXY };
    get(`${demo.service.gatewayUrl}/v1/instance-integrations`, options, (answer) =>
      answer.resume().once('end', resolve),
    ).once('error', reject);
  });
  const request = await collector.span(
    'the request',
    ({ attributes }) => attributes['integration.request_id'] === 'traced-3',
  );
  expect([request.traceId, request.parentSpanId]).toEqual([FOREIGN_TRACE, FOREIGN.split('-')[2]]);
});

test('a trace from an untrusted caller is not continued', async () => {
  await fetch(`${demo.service.gatewayUrl}/v1/instance-integrations`, {
    headers: { traceparent: FOREIGN, 'x-request-id': 'traced-2' },
  });
  const request = await collector.span(
    'the request',
    ({ attributes }) => attributes['integration.request_id'] === 'traced-2',
  );
  expect(request.traceId).not.toBe(FOREIGN_TRACE);
  expect(request.parentSpanId ?? '').toBe('');
});

test('a failed attempt and its retry are in the trace of the change, the failed one as an error', async () => {
  const to = await demo.subscribe({ eventTypes: ['client.created'] }, atFirst(1, answerWith(500)));
  await demo.newClient(instanceIds.harborlight, 'Second Harbour Tea');
  const { eventId } = await to.receiver.next();
  const ofEvent = (attempt: number) => (span: CollectedSpan) =>
    span.attributes['messaging.message.id'] === eventId &&
    span.attributes['integration.delivery.attempt'] === attempt;
  const first = await collector.span(
    'the first attempt',
    (span) => ofEvent(1)(span) && 'error.type' in span.attributes,
  );
  const second = await collector.span('the retry', ofEvent(2));
  expect(first.attributes).toMatchObject({
    'error.type': 'STATUS_REFUSED',
    'http.response.status_code': 500,
  });
  expect([second.traceId, second.parentSpanId]).toEqual([first.traceId, first.parentSpanId]);
});

test('no span contains a secret or personal data', async () => {
  const { apiKeys, operatorToken, platformToken, people } = demo.service.demo();
  const secrets = [...apiKeys.map(({ key }) => key), operatorToken, platformToken, 'Quiet Harbour Tea'];
  const personal = people.flatMap(({ email, password }) => [email, password]);
  const email = 'traced.person@example.com';
  await demo.platform.createUser(
    { clientId: clientIds.tallowfern, email, firstName: 'Traced', withoutManager: true },
    call(),
  );
  await demo.platform
    .createUser({ clientId: clientIds.tallowfern, email: 'no address', withoutManager: true }, call())
    .catch(() => undefined);
  await collector.span(
    'the refused call',
    ({ name, attributes }) => name.endsWith('/CreateUser') && 'error.type' in attributes,
  );
  personal.push(email, 'Traced', 'no address');
  expect([...secrets, ...personal].filter((text) => collector.text.includes(text))).toEqual([]);
  expect(collector.spans.length).toBeGreaterThan(5);
});
