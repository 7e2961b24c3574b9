import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { newApiKey } from '../../../src/identifiers/api-key.js';
import { instanceIntegrationsAt } from '../../support/gateway/directory-answers.js';
import { type Gateway, startGateway } from '../../support/gateway/gateway.js';
import { exchange, type Question } from '../../support/http-exchange.js';

const PATH = '/v1/instance-integrations';
const CANARY = 'canary7Gq';

let gateway: Gateway;
let count = 0;

beforeAll(async () => {
  gateway = await startGateway();
  gateway.program(instanceIntegrationsAt('v1'));
  // That it is not believed is reported once, and here.
  const headers = { 'x-forwarded-for': '203.0.113.9', 'x-request-id': 'forwarded' };
  await exchange(gateway.port, PATH, { headers });
  await gateway.nextLine(({ requestId }) => requestId === 'forwarded');
});

afterAll(() => gateway.stop());

/** The lines of one request, all of them: a second request later has been logged by then. */
async function linesOf(target: string, question: Question = {}) {
  count += 1;
  const id = `logged-${count}`;
  const before = gateway.lines().length;
  const headers = { 'x-api-key': gateway.key, 'x-request-id': id, ...question.headers };
  const answer = await exchange(gateway.port, target, { ...question, headers });
  await exchange(gateway.port, PATH, { headers: { 'x-request-id': `after-${id}` } });
  await gateway.nextLine(({ requestId }) => requestId === `after-${id}`);
  const lines = gateway.lines().slice(before, -1);
  return { answer, lines, text: JSON.stringify(lines) };
}

test('a request is one line that says who asked what, how it ended and how long it took', async () => {
  const { lines } = await linesOf(PATH);
  expect(lines).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      ...{ role: 'test', host: hostname(), pid: process.pid, version: '1.2.3' },
      requestId: `logged-${count}`,
      api: 'gateway',
      method: 'GET',
      operation: 'listInstanceIntegrations',
      status: 200,
      durationMs: expect.any(Number),
      client: '127.0.0.1',
      integrationId: 'itg_1',
      apiKeyId: 'key-1',
      msg: 'request',
    },
  ]);
});

describe('a refusal is one line too, with its code', () => {
  test.each<[number, string, string, string, Question]>([
    [400, 'invalid_request', 'none', `${PATH}%zz`, {}],
    [401, 'api_key_missing', 'listInstanceIntegrations', PATH, { headers: { 'x-api-key': undefined } }],
    [404, 'route_not_found', 'none', `/${CANARY}`, {}],
    [405, 'method_not_allowed', 'none', PATH, { method: 'PUT' }],
    [406, 'not_acceptable', 'listInstanceIntegrations', PATH, { headers: { accept: 'text/csv' } }],
    [400, 'invalid_request', 'listUsers', `${PATH}/${CANARY}/clients/y/users`, {}],
  ])('%i %s', async (status, code, operation, target, question) => {
    const { lines } = await linesOf(target, question);
    expect(lines).toMatchObject([{ msg: 'request', status, code, operation }]);
    expect(lines).toHaveLength(1);
  });

  test('500 has one more before it, with the cause', async () => {
    gateway.program({ read: () => Promise.reject(new ServiceError(ErrorCode.INTERNAL_ERROR, 'No.')) });
    const { lines } = await linesOf(PATH);
    expect(lines.map(({ msg, level }) => [msg === 'request', level])).toEqual([
      [false, 'error'],
      [true, 'error'],
    ]);
    gateway.program(instanceIntegrationsAt('v1'));
  });

  test('503 by which the domain refused is a warning with its reason', async () => {
    const refusal = new ServiceError(ErrorCode.UNAVAILABLE, 'Too much is under way.');
    gateway.program({ read: () => Promise.reject(refusal) });
    const { lines } = await linesOf(PATH);
    expect(lines).toMatchObject([{ msg: 'request', level: 'warn', status: 503, reason: refusal.message }]);
    expect(lines).toHaveLength(1);
    gateway.program(instanceIntegrationsAt('v1'));
  });
});

test.each([
  ['Aa'.padEnd(43, '0'), '[secret]'],
  ['Aa'.padEnd(42, '0'), undefined],
  ['a'.padEnd(128, '0'), undefined],
  [`Aa.${'Aa'.padEnd(42, '0')}`, undefined],
])('the request id %s is answered, and in its line unless it looks like a secret', async (id, hidden) => {
  const { answer, lines } = await linesOf(PATH, { headers: { 'x-request-id': id } });
  expect([answer.headers['x-request-id'], lines[0]?.requestId]).toEqual([id, hidden ?? id]);
});

describe('nothing of what was sent is in a line but a fit request id', () => {
  const key = newApiKey('demo');
  const liveKey = newApiKey('live');
  const hostile = [
    'x-forwarded-for',
    'user-agent',
    'referer',
    'cookie',
    'authorization',
    'accept',
    'if-none-match',
    'x-request-id',
    'x-api-key',
    'host',
  ];

  test.each<[string, string, Question]>([
    ['a key in the query', `${PATH}?x-api-key=${key}&q=${CANARY}`, {}],
    ['a key as the name of a parameter', `${PATH}?${key}`, {}],
    ['a key in the path', `${PATH}/${key}/clients`, {}],
    ['a key in an unknown path', `/${key}?${CANARY}`, {}],
    ['a broken path', `${PATH}/${CANARY}%zz`, {}],
    ['a whole address as the target', `http://${CANARY}:${key}@example.com/${CANARY}`, {}],
    ['a key of the other environment', PATH, { headers: { 'x-api-key': liveKey } }],
    ['a key that was cut off', PATH, { headers: { 'x-api-key': key.slice(0, 40) } }],
    ['a key with more behind it', PATH, { headers: { 'x-api-key': `${key}, ${key}` } }],
    ['a key as the request id', PATH, { headers: { 'x-request-id': key } }],
    ['a body', PATH, { method: 'POST', body: `${CANARY} ${key}` }],
    ...hostile.map((name): [string, string, Question] => [
      `a hostile ${name}`,
      PATH,
      { headers: { [name]: `${CANARY} "},{"level":"fatal ${key}` } },
    ]),
  ])('%s', async (_, target, question) => {
    const { lines, text } = await linesOf(target, question);
    expect(lines).toHaveLength(1);
    expect(text).not.toContain(CANARY);
    expect(text).not.toMatch(/ik_(live|demo)_/);
    expect(text).not.toContain(key.slice(10, 30));
    expect(text).not.toContain(liveKey.slice(10, 30));
  });
});
