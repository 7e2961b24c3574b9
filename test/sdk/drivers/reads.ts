import { beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts } from '../../support/free-ports.js';
import type { Driven } from './line-driver.js';
import {
  type Answer,
  breakOff,
  gzipped,
  hangUp,
  json,
  nothing,
  page,
  problem,
  type ScriptedServer,
  scriptedServers,
  silence,
  trickle,
} from './scripted-server.js';
import { user } from './user.js';
import { worker } from './worker.js';

const address = {
  address1: null,
  address2: null,
  city: null,
  isoCountryCode: null,
  postalCode: null,
  zoneCode: null,
};
const client = { id: 'cli_1', name: 'Tallowfern', location: address };
/** Longer than what is read at once. */
const clients = Array.from({ length: 5_000 }, (_, index) => ({ ...client, id: `cli_${index + 1}` }));

/** Over a gateway that misbehaves. */
export function describeReads(driver: Driven): void {
  const newServer = scriptedServers();
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await newServer();
  });
  const quick = (retry: object = {}) => ({
    baseUrl: server.url,
    retry: { baseDelaySeconds: 0.001, ...retry },
  });
  const listClients = (options: object = {}) =>
    driver.sdk.gateway({ ...quick(), ...options }, 'listClients', ['iin_1']);

  describe('an answer that is more, or less, than this release knows', () => {
    const manager = { id: 'usr_2', firstName: null, lastName: null, fullName: null, email: 'a@example.com' };

    test.each([
      ['an added member', { nickname: 'Pri', manager: { ...manager, added: true } }, { manager }],
      ['an added value of an enumeration', { status: 'ON_LEAVE' }, { status: 'ON_LEAVE' }],
      ['an id of another form', { userId: 'usr-1' }, { userId: 'usr-1' }],
      ['null wherever there may be null', {}, { firstName: null, manager: null, role: null }],
    ])('%s breaks nothing', async (_, given, expected) => {
      server.answers(json({ ...user, ...given }));
      const outcome = await driver.sdk.gateway(quick(), 'getUser', ['iin_1', 'cli_1', 'usr_1']);
      expect(outcome).toMatchObject({ value: { clientId: 'cli_1', ...expected } });
    });

    test('a worker of release 1.3.1, which had no offboardedAt, breaks nothing', async () => {
      const { offboardedAt: _, ...earlier } = worker;
      server.answers(json(earlier));
      const { value } = await driver.sdk.gateway(quick(), 'getWorker', ['iin_1', 'cli_1', 'wrk_1']);
      expect(value).toMatchObject({ id: 'wrk_1', phone: null });
    });

    test.each<[string, Answer]>([
      ['nothing', nothing],
      ['null', json(null)],
      ['an object', json({})],
      [
        'half a document',
        (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[{'),
      ],
      ['a page', page(200)],
      ['a list with null', json([null])],
      ['a list of texts', json(['a'])],
    ])('%s in place of a list is an error that says so, and is not asked for again', async (_, answer) => {
      server.answers(answer);
      const { error } = await listClients();
      expect(error).toMatchObject({ name: 'ApiError', status: 200, code: 'unexpected_response' });
      expect(server.asked).toHaveLength(1);
    });

    test.each<[string, Answer]>([
      ['nothing', nothing],
      ['null', json(null)],
    ])('%s in place of a record is an error that says so', async (_, answer) => {
      server.answers(answer);
      const { error } = await driver.sdk.gateway(quick(), 'getUser', ['iin_1', 'cli_1', 'usr_1']);
      expect(error).toMatchObject({ name: 'ApiError', status: 200, code: 'unexpected_response' });
    });
  });

  describe('what passes', () => {
    test.each<[string, Answer[]]>([
      ['a lost connection', [hangUp]],
      ['a connection lost in the middle of the answer', [breakOff]],
      [
        'a connection lost in the middle of a compressed answer',
        [gzipped(clients, (response) => response.destroy())],
      ],
      ['500 twice', [problem(500, 'internal_error'), problem(500, 'internal_error')]],
      ['502 with the page of a proxy', [page(502)]],
      ['503 and 504 and a lost connection', [problem(503, 'unavailable'), page(504), hangUp]],
    ])('%s is tried again', async (_, failures) => {
      server.answers(...failures, json([client]));
      expect(await listClients()).toMatchObject({ value: [{ id: 'cli_1' }] });
      expect(server.asked).toHaveLength(failures.length + 1);
    });

    test('429 is waited out as long as it says', async () => {
      server.answers(problem(429, 'rate_limited', { 'retry-after': '1' }), json([client]));
      expect(await listClients()).toMatchObject({ value: [{ id: 'cli_1' }] });
      const [first, second] = server.asked;
      expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
    });

    test('a date in Retry-After is understood as well', async () => {
      const date = new Date(Date.now() - 1000).toUTCString();
      server.answers(problem(503, 'unavailable', { 'retry-after': date }), json([client]));
      expect(await listClients({ retry: { baseDelaySeconds: 60, maxDelaySeconds: 60 } })).toMatchObject({
        value: [{ id: 'cli_1' }],
      });
    });

    const noDate = 'Mon, 01 Jan 99999999999999999999 00:00:00 GMT';
    test.each(['-5', '1.5', noDate])('a Retry-After of %s is ignored', async (given) => {
      server.answers(problem(503, 'unavailable', { 'retry-after': given }), json([client]));
      const { error } = await listClients({ retry: { maxRetries: 0 } });
      expect(error).toMatchObject({ status: 503, retryAfterSeconds: null });
    });

    test('pauses grow', async () => {
      server.answers(page(503));
      await listClients({ retry: { baseDelaySeconds: 0.04 } });
      const gaps = server.asked.slice(1).map(({ at }, index) => at - (server.asked[index]?.at ?? 0));
      expect(gaps).toHaveLength(3);
      expect(gaps.map((gap, index) => gap >= 0.5 * 40 * 2 ** index - 2)).toEqual([true, true, true]);
    });
  });

  describe('what stays', () => {
    test.each<[string, Answer, Record<string, unknown>, number]>([
      ['an error of the gateway', problem(500, 'internal_error'), { status: 500, code: 'internal_error' }, 4],
      ['the page of a proxy', page(502), { status: 502, code: 'unexpected_response', requestId: null }, 4],
      ['a refusal', problem(401, 'api_key_unknown'), { code: 'api_key_unknown', requestId: 'req-1' }, 1],
      ['a code added later', problem(418, 'added_later'), { status: 418, code: 'added_later' }, 1],
      ['a redirect', page(302, { location: '/elsewhere' }), { status: 302, code: 'unexpected_response' }, 1],
      ['an unrequested 304', (response) => response.writeHead(304).end(), { status: 304 }, 1],
      [
        'a wait that is too long',
        problem(429, 'rate_limited', { 'retry-after': '3600' }),
        { status: 429, retryAfterSeconds: 3600 },
        1,
      ],
      [
        'a wait without an end',
        problem(429, 'rate_limited', { 'retry-after': '99999999999' }),
        { status: 429 },
        1,
      ],
    ])('%s is an ApiError', async (_, answer, expected, requests) => {
      server.answers(answer);
      const { error } = await listClients();
      expect(error).toMatchObject({ name: 'ApiError', fields: [], ...expected });
      expect(server.asked).toHaveLength(requests);
    });

    test('says status, code and request id, if there is one', async () => {
      server.answers(problem(401, 'api_key_unknown'));
      const { error } = await listClients();
      expect(error?.message).toMatch(/It is api_key_unknown\. \(401 api_key_unknown, request req-1\)$/);
      server.answers(page(404));
      expect((await listClients()).error?.message).toMatch(/ \(404 unexpected_response\)$/);
    });

    test('says every part of the request that is wrong', async () => {
      const errors = [
        { in: 'path', path: 'clientId', message: 'is no client' },
        { in: 'query', path: 'limit', message: 'must be <= 1000' },
      ];
      const body = { status: 400, code: 'invalid_request', message: 'No.', requestId: 'req-2', errors };
      server.answers(json(body, { 'content-type': 'application/problem+json' }, 400));
      const { error } = await driver.sdk.gateway(quick(), 'getClient', ['iin_1', 'x']);
      expect(error).toMatchObject({ requestId: 'req-2', fields: errors });
      expect(error?.message).toBe(
        'No. (400 invalid_request, request req-2): path clientId is no client; query limit must be <= 1000',
      );
    });

    test('a connection that keeps breaking is a ConnectionError', async () => {
      server.answers(hangUp);
      expect((await listClients()).error).toMatchObject({ name: 'ConnectionError' });
      // The HTTP client of Go asks once more by itself when it was a kept connection that broke.
      expect([4, 5]).toContain(server.asked.length);
    });

    test('no server is a ConnectionError with the address', async () => {
      const [port] = await freePorts(1);
      const { error } = await listClients({ baseUrl: `http://127.0.0.1:${port}`, retry: { maxRetries: 0 } });
      expect(error).toMatchObject({ name: 'ConnectionError' });
      expect(error?.message).toContain(`127.0.0.1:${port}`);
    });

    test.each<[string, Answer]>([
      ['no answer', silence],
      ['an answer without an end', trickle],
      ['a compressed answer without an end', gzipped(clients, () => undefined)],
      ['an answer byte by byte', drip],
    ])('%s is a TimeoutError, and is not waited for twice', async (_, answer) => {
      server.answers(answer);
      // Time enough for a busy machine to send the request.
      const { error } = await listClients({ timeoutSeconds: 1 });
      expect(error).toMatchObject({ name: 'TimeoutError' });
      expect(server.asked.length).toBeLessThan(2);
    });

    test('an answer that is not what the contract describes is not shown with its error', async () => {
      server.answers(json([{ name: 'Ada Lovelace' }]));
      const { error } = await driver.sdk.gateway(quick(), 'listUsers', ['iin_1', 'cli_1']);
      // Not every language checks it.
      expect(error ?? { shown: '' }).toMatchObject({ shown: expect.not.stringContaining('Lovelace') });
    });

    test('without retries it is asked once', async () => {
      server.answers(page(503));
      await listClients({ retry: { maxRetries: 0 } });
      expect(server.asked).toHaveLength(1);
    });
  });

  describe('a request', () => {
    test('carries the key, the id of the caller and who sends it', async () => {
      server.answers(json([]));
      const options = { ...quick(), apiKey: 'ik_demo_7' };
      await driver.sdk.gateway(options, 'listClients', ['iin_1'], { requestId: 'req-7' });
      expect(server.asked[0]).toMatchObject({
        method: 'GET',
        path: '/v1/instance-integrations/iin_1/clients',
        headers: {
          'x-api-key': 'ik_demo_7',
          'x-request-id': 'req-7',
          'accept-encoding': expect.stringContaining('gzip'),
          'user-agent': expect.stringMatching(
            /^integration-service-sdk-(typescript|python|go)\/\d+\.\d+\.\d+$/,
          ),
        },
      });
    });

    test('may be answered compressed', async () => {
      server.answers(gzipped(clients));
      const { value } = await listClients();
      expect([value.length, value.at(-1)]).toEqual([5_000, expect.objectContaining({ id: 'cli_5000' })]);
    });

    test.each([
      ['a request id', { requestId: 'req\n7' }],
      ['an ETag', { ifChanged: '"7\n"' }],
    ])('is not sent with %s that no header can have, and no connection is blamed', async (_, lines) => {
      server.answers(json([]));
      const { error } = await driver.sdk.gateway(quick(), 'listClients', ['iin_1'], lines);
      expect(error).toMatchObject({ name: 'ValueError' });
      expect(server.asked).toHaveLength(0);
    });

    test('goes to the address that was given, with or without a slash at its end', async () => {
      server.answers(json([]));
      await driver.sdk.gateway({ ...quick(), baseUrl: `${server.url}/gateway//` }, 'listClients', ['a/b?c']);
      expect(server.asked[0]?.path).toBe('/gateway/v1/instance-integrations/a%2Fb%3Fc/clients');
    });

    test.each([
      ['an address without a protocol', { baseUrl: 'gateway.example.com' }],
      ['an address of another kind', { baseUrl: 'ftp://gateway.example.com' }],
      ['an address beyond this machine without TLS', { baseUrl: 'http://gateway.example.com' }],
      ['a name that begins like loopback, without TLS', { baseUrl: 'http://127.0.0.1.example.com' }],
      ['an address with a query', { baseUrl: 'https://gateway.example.com/?' }],
      ['an address with a fragment', { baseUrl: 'https://gateway.example.com/#a' }],
      ['an address with a space', { baseUrl: 'https://gateway.example.com/a b' }],
      ['an address after a space', { baseUrl: ' https://gateway.example.com' }],
      ['an address with a password', { baseUrl: 'https://ada:ik_demo_7@gateway.example.com' }],
      ['no key', { apiKey: '' }],
      ['a key with the end of its line', { apiKey: 'ik_demo_7\n' }],
    ])('is not made with %s', async (_, wrong) => {
      server.answers(json([]));
      const { error } = await listClients(wrong);
      expect(error).toMatchObject({ name: 'ValueError', message: expect.not.stringContaining('ik_demo_7') });
      expect(server.asked).toHaveLength(0);
    });

    test('without TLS goes beyond this machine only where that is allowed', async () => {
      server.answers(json([client]));
      // The same server, by an address that is not one of loopback.
      const baseUrl = `http://0.0.0.0:${new URL(server.url).port}`;
      const { error } = await listClients({ baseUrl });
      expect(error?.message).toMatch(/would send the API key unencrypted/);
      expect(server.asked).toHaveLength(0);
      expect((await listClients({ baseUrl, allowInsecureHttp: true })).value).toMatchObject([
        { id: 'cli_1' },
      ]);
    });

    test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.8.8.8', '[::1]'])(
      'without TLS may go to this machine: %s',
      async (host) => {
        const options = { baseUrl: `http://${host}:9`, retry: { maxRetries: 0 }, timeoutSeconds: 2 };
        const { error } = await driver.sdk.gateway(options, 'listClients', ['iin_1']);
        expect(error?.name).toMatch(/^(?:Connection|Timeout)Error$/);
      },
    );
  });
}

/** Sends white space, with which JSON may begin, while the reader reads. */
function drip(response: Parameters<Answer>[0]): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 40);
  response.once('close', () => clearInterval(timer));
}
