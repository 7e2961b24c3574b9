import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { freePorts } from '../../support/free-ports.js';
import { sdkDriver } from './driver.js';
import {
  type Answer,
  breakOff,
  hangUp,
  json,
  page,
  problem,
  type ScriptedServer,
  scriptedServers,
  silence,
  trickle,
} from './scripted-server.js';

const driver = sdkDriver();
const newServer = scriptedServers();
let server: ScriptedServer;

beforeAll(async () => {
  server = await newServer();
});

/** Retries that nobody has to wait for. */
const quick = () => ({ baseUrl: server.url, retry: { baseDelayMs: 1 } });

const client = { id: 'cli_1', name: 'Tallowfern', location: { city: 'Portland' } };
const user = {
  userId: 'usr_1',
  clientId: 'cli_1',
  email: 'priya@example.com',
  firstName: null,
  lastName: null,
  fullName: null,
  status: 'ACTIVE',
  manager: null,
  role: null,
  createdAt: '2026-06-11T16:02:19.350Z',
};

describe('an answer that is more, or less, than this release knows', () => {
  const getUser = () => driver.sdk.gateway(quick(), 'getUser', 'iin_1', 'cli_1', 'usr_1');

  test.each([
    [
      'an added member',
      { nickname: 'Pri', manager: { id: 'usr_2', added: true } },
      { manager: { id: 'usr_2' } },
    ],
    ['an added value of an enumeration', { status: 'ON_LEAVE' }, { status: 'ON_LEAVE' }],
    ['null wherever there may be null', {}, { firstName: null, manager: null, role: null }],
  ])('%s breaks nothing', async (_, given, expected) => {
    server.answers(json({ ...user, ...given }));
    expect(await getUser()).toMatchObject({
      value: { userId: 'usr_1', createdAt: new Date(user.createdAt), ...expected },
    });
  });

  test.each<[string, Answer]>([
    ['a list in place of an object', json({})],
    ['nothing', json(null)],
    [
      'half a document',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[{'),
    ],
    ['a page', page(200)],
  ])('%s where a list should be is an error that says so, and is not asked for again', async (_, answer) => {
    server.answers(answer);
    const { error } = await driver.sdk.gateway(quick(), 'listClients', 'iin_1');
    expect(error).toMatchObject({ name: 'ApiError', status: 200, code: 'unexpected_response', isOurs: true });
    expect(server.asked).toHaveLength(1);
  });
});

describe('what passes', () => {
  test.each<[string, Answer[]]>([
    ['a lost connection', [hangUp]],
    ['a connection lost in the middle of the answer', [breakOff]],
    ['500 twice', [problem(500, 'internal_error'), problem(500, 'internal_error')]],
    ['502 with the page of a proxy', [page(502)]],
    ['503 and 504 and a lost connection', [problem(503, 'unavailable'), page(504), hangUp]],
  ])('%s is tried again', async (_, failures) => {
    server.answers(...failures, json([client]));
    const { value } = await driver.sdk.gateway(quick(), 'listClients', 'iin_1');
    expect(value).toMatchObject([{ id: 'cli_1', location: { city: 'Portland' } }]);
    expect(server.asked).toHaveLength(failures.length + 1);
  });

  test('429 is waited out as long as it says', async () => {
    server.answers(problem(429, 'rate_limited', { 'retry-after': '1' }), json([client]));
    expect(await driver.sdk.gateway(quick(), 'listClients', 'iin_1')).toMatchObject({
      value: [{ id: 'cli_1' }],
    });
    const [first, second] = server.asked;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(999);
  });

  test('a date in Retry-After is understood as well', async () => {
    const date = new Date(Date.now() - 1000).toUTCString();
    server.answers(problem(503, 'unavailable', { 'retry-after': date }), json([client]));
    expect(await driver.sdk.gateway(quick(), 'listClients', 'iin_1')).toMatchObject({
      value: [{ id: 'cli_1' }],
    });
  });

  test('pauses grow, and no two callers wait alike', async () => {
    server.answers(page(503));
    await driver.sdk.gateway({ baseUrl: server.url, retry: { baseDelayMs: 40 } }, 'listClients', 'iin_1');
    const gaps = server.asked.slice(1).map(({ at }, index) => at - (server.asked[index]?.at ?? 0));
    expect(gaps).toHaveLength(3);
    expect(gaps.map((gap, index) => gap >= 0.5 * 40 * 2 ** index - 2)).toEqual([true, true, true]);
  });
});

describe('what stays', () => {
  test.each<[string, Answer, Record<string, unknown>, number]>([
    ['an error of the gateway', problem(500, 'internal_error'), { status: 500, code: 'internal_error' }, 4],
    ['the page of a proxy', page(502), { status: 502, code: 'unexpected_response', requestId: null }, 4],
    [
      'a refusal',
      problem(401, 'api_key_unknown'),
      { status: 401, code: 'api_key_unknown', requestId: 'req-1' },
      1,
    ],
    ['a code added later', problem(418, 'added_later'), { status: 418, code: 'added_later' }, 1],
    ['a redirect', page(302, { location: '/elsewhere' }), { status: 302, code: 'unexpected_response' }, 1],
    ['304 that nobody asked for', (response) => response.writeHead(304).end(), { status: 304 }, 1],
    [
      'a wait that is too long',
      problem(429, 'rate_limited', { 'retry-after': '3600' }),
      { status: 429, retryAfterSeconds: 3600 },
      1,
    ],
  ])('%s is thrown as an ApiError', async (_, answer, expected, requests) => {
    server.answers(answer);
    const { error } = await driver.sdk.gateway(quick(), 'listClients', 'iin_1');
    expect(error).toMatchObject({ name: 'ApiError', isOurs: true, fields: [], ...expected });
    expect(server.asked).toHaveLength(requests);
  });

  test('says every part of the request that is wrong', async () => {
    const errors = [{ in: 'path', path: 'clientId', message: 'It is no client.' }];
    const body = { status: 400, code: 'invalid_request', message: 'No.', requestId: 'req-2', errors };
    server.answers(json(body, { 'content-type': 'application/problem+json' }, 400));
    const { error } = await driver.sdk.gateway(quick(), 'getClient', 'iin_1', 'x');
    expect(error).toMatchObject({ message: 'No.', requestId: 'req-2', fields: errors });
  });

  test('a connection that keeps breaking is a ConnectionError', async () => {
    server.answers(hangUp);
    const { error } = await driver.sdk.gateway(quick(), 'listClients', 'iin_1');
    expect(error).toMatchObject({ name: 'ConnectionError', isOurs: true });
    expect(server.asked).toHaveLength(4);
  });

  test('nobody there is a ConnectionError that says where and why', async () => {
    const [port] = await freePorts(1);
    const options = { baseUrl: `http://127.0.0.1:${port}`, retry: false };
    const { error } = await driver.sdk.gateway(options, 'listClients', 'iin_1');
    expect(error).toMatchObject({ name: 'ConnectionError' });
    expect(error?.message).toBe(`The connection to 127.0.0.1:${port} failed: ECONNREFUSED.`);
  });

  test.each<[string, Answer]>([
    ['no answer', silence],
    ['an answer without an end', trickle],
  ])('%s is a TimeoutError, and is not waited for twice', async (_, answer) => {
    server.answers(answer);
    const outcome = await driver.sdk.gateway({ ...quick(), timeoutMs: 80 }, 'listClients', 'iin_1');
    expect(outcome.error).toMatchObject({ name: 'TimeoutError', isOurs: true });
    expect(server.asked).toHaveLength(1);
  });

  test.each<[string, Answer]>([
    ['an answer', silence],
    ['a pause', problem(429, 'rate_limited', { 'retry-after': '30' })],
  ])('a caller who waits for %s no more gets the reason of their signal', async (_, answer) => {
    server.answers(answer);
    const { error } = await driver.sdk.abandoned(80, quick(), 'listClients', 'iin_1');
    expect(error).toMatchObject({ name: 'TimeoutError', isOurs: false });
  });

  test('retry: false asks once', async () => {
    server.answers(page(503));
    await driver.sdk.gateway({ baseUrl: server.url, retry: false }, 'listClients', 'iin_1');
    expect(server.asked).toHaveLength(1);
  });
});

describe('a request', () => {
  beforeEach(() => {
    server.answers(json([]));
  });

  test('carries the key, the id of the caller and who sends it', async () => {
    await driver.sdk.gateway({ ...quick(), apiKey: 'ik_demo_7' }, 'listClients', 'iin_1', {
      requestId: 'req-7',
    });
    expect(server.asked[0]).toMatchObject({
      method: 'GET',
      path: '/v1/instance-integrations/iin_1/clients',
      headers: {
        'x-api-key': 'ik_demo_7',
        'x-request-id': 'req-7',
        'user-agent': expect.stringMatching(/^integration-service-sdk-typescript\/\d+\.\d+\.\d+$/),
      },
    });
  });

  test('goes to the address that was given, with or without a slash at its end', async () => {
    await driver.sdk.gateway({ ...quick(), baseUrl: `${server.url}/gateway//` }, 'listClients', 'a/b?c');
    expect(server.asked[0]?.path).toBe('/gateway/v1/instance-integrations/a%2Fb%3Fc/clients');
  });

  test.each([
    ['an address without a protocol', { baseUrl: 'gateway.example.com' }],
    ['an address of another kind', { baseUrl: 'ftp://gateway.example.com' }],
    ['no key', { apiKey: '' }],
    ['a key with the end of its line', { apiKey: 'ik_demo_7\n' }],
  ])('is not made with %s', async (_, wrong) => {
    const { error } = await driver.sdk.gateway({ ...quick(), ...wrong }, 'listClients', 'iin_1');
    expect(error).toMatchObject({ name: 'TypeError' });
    expect(server.asked).toHaveLength(0);
  });
});
