import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { newApiKey } from '../../../src/identifiers/api-key.js';
import { instanceIntegrationsAt, rateLimit } from '../../support/gateway/directory-answers.js';
import { type Gateway, startGateway } from '../../support/gateway/gateway.js';
import type { Question } from '../../support/http-exchange.js';

const PATH = '/v1/instance-integrations';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway('demo');
});

afterAll(() => gateway.stop());

beforeEach(() => gateway.program(instanceIntegrationsAt('v1')));

async function refusal(question: Question = {}, target = PATH) {
  const answer = await gateway.ask('listInstanceIntegrations', target, question);
  const problem = JSON.parse(answer.body);
  expect(problem).toMatchObject({
    type: `/docs/errors#${problem.code}`,
    status: answer.status,
    requestId: answer.headers['x-request-id'],
  });
  expect(answer.headers['cache-control']).toBe('no-store');
  return { status: answer.status, code: problem.code, headers: answer.headers, problem };
}

const domainThrows = (error: unknown) =>
  gateway.program({
    read: () => {
      throw error;
    },
  });

describe('a request id that cannot be logged', () => {
  test.each(['with space', 'a/b', 'x'.repeat(129), 'ünï', 'a;b', '<script>', ['a', 'b']])(
    'is replaced, and no reason to refuse: %j',
    async (given) => {
      const asLatin1 = (id: string) => Buffer.from(id).toString('latin1');
      const requestId = Array.isArray(given) ? given : asLatin1(given);
      const answer = await gateway.ask('listInstanceIntegrations', PATH, {
        headers: { 'x-request-id': requestId },
      });
      expect([answer.status, answer.headers['x-request-id']]).toEqual([
        200,
        expect.stringMatching(/^[0-9a-f-]{36}$/),
      ]);
    },
  );
});

describe('400', () => {
  test('an If-None-Match beyond 4,096 characters is refused, and named', async () => {
    const { status, problem } = await refusal({ headers: { 'if-none-match': `"${'x'.repeat(4_096)}"` } });
    expect(status).toBe(400);
    expect(problem.errors).toMatchObject([{ in: 'header', path: 'if-none-match' }]);
  });

  const key = newApiKey('demo');
  test.each([
    ['x-api-key', '?x-api-key=anything'],
    ['api_key', '?api_key='],
    ['apikey, in capitals', '?APIKEY=1'],
    ['an innocent name with a key as its value', `?q=${key}`],
    ['a key among other words', `?q=key%20${key}`],
    ['a key of the other environment', `?q=${newApiKey('live')}`],
    ['a key as a name', `?${key}`],
    ['a key cut off', `?q=${key.slice(0, 20)}`],
  ])('a key in the query is refused: %s', async (_, query) => {
    const { status, code, problem } = await refusal({}, `${PATH}${query}`);
    expect([status, code]).toEqual([400, 'api_key_in_query']);
    expect(JSON.stringify(problem)).not.toContain(key.slice(0, 20));
  });
});

describe('401', () => {
  const key = newApiKey('demo');
  const changed = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
  test.each<[string, string | undefined, string]>([
    ['no key', undefined, 'api_key_missing'],
    ['an empty key', '', 'api_key_missing'],
    ['a key with a character too few', key.slice(0, -1), 'api_key_malformed'],
    ['a key with a character too many', `${key}a`, 'api_key_malformed'],
    ['a key with another prefix', key.replace('ik_', 'sk_'), 'api_key_malformed'],
    ['a key with a wrong checksum', changed, 'api_key_malformed'],
    ['a key as a bearer token', `Bearer ${key}`, 'api_key_malformed'],
    ['two keys', `${key}, ${key}`, 'api_key_malformed'],
    ['a key of the live environment', newApiKey('live'), 'api_key_wrong_environment'],
  ])('%s is refused without asking the domain', async (_, apiKey, expected) => {
    domainThrows(new Error('the domain was asked'));
    const { status, code, headers, problem } = await refusal({ headers: { 'x-api-key': apiKey } });
    expect([status, code]).toEqual([401, expected]);
    expect(headers['www-authenticate']).toBe('ApiKey realm="gateway"');
    expect(JSON.stringify(problem)).not.toContain(apiKey || 'ik_');
  });

  test.each([
    [ErrorCode.API_KEY_UNKNOWN, 'api_key_unknown'],
    [ErrorCode.API_KEY_EXPIRED, 'api_key_expired'],
  ])('%s of the domain becomes 401 with its code', async (code, expected) => {
    domainThrows(new ServiceError(code, 'The API key is not in force.'));
    expect(await refusal()).toMatchObject({
      status: 401,
      code: expected,
      problem: { message: 'The API key is not in force.' },
    });
  });
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
  '405: %s gets the methods of the path, key or no key',
  async (method) => {
    const { status, code, headers } = await refusal({ method, headers: { 'x-api-key': '' } });
    expect([status, code, headers.allow]).toEqual([405, 'method_not_allowed', 'GET, HEAD']);
  },
);

test.each([
  'text/html',
  'application/xml, text/*;q=0.9',
  'application/json;q=0',
  '*/*;q=0',
  'application/json;q=0, */*',
  'application/problem+json',
  'nonsense',
])('406: Accept: %s rules JSON out', async (accept) => {
  const { status, code } = await refusal({ headers: { accept } });
  expect([status, code]).toEqual([406, 'not_acceptable']);
});

test('401: without a key, whatever Accept says', async () => {
  const { status, code } = await refusal({ headers: { accept: 'text/html', 'x-api-key': undefined } });
  expect([status, code]).toEqual([401, 'api_key_missing']);
});

test('a very long Accept, which takes long to judge, counts as none', async () => {
  const ask = async (types: number) => {
    const headers = { accept: 'a/b,'.repeat(types) };
    return (await gateway.ask('listInstanceIntegrations', PATH, { headers })).status;
  };
  expect([await ask(250), await ask(251)]).toEqual([406, 200]);
});

test.each([
  'application/json',
  'APPLICATION/JSON',
  'application/*',
  '*/*',
  'text/html, application/json;q=0.1',
  'text/html,application/xhtml+xml,*/*;q=0.8',
  '',
])('Accept: %j lets JSON in', async (accept) => {
  const answer = await gateway.ask('listInstanceIntegrations', PATH, { headers: { accept } });
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
});

describe('429', () => {
  test('it has the time to wait and the rate limit', async () => {
    const spent = { ...rateLimit, remaining: 0 };
    domainThrows(
      new ServiceError(ErrorCode.RATE_LIMITED, 'Too many.', { rateLimit: spent, retryAfterSeconds: 41 }),
    );
    const { status, code, headers } = await refusal();
    expect([status, code]).toEqual([429, 'rate_limited']);
    expect(headers).toMatchObject({
      'retry-after': '41',
      'x-ratelimit-limit': '600',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '41',
    });
  });

  test.each([undefined, 0])('with %s seconds to wait it still asks for one', async (retryAfterSeconds) => {
    domainThrows(new ServiceError(ErrorCode.RATE_LIMITED, 'Too many.', { rateLimit, retryAfterSeconds }));
    expect((await refusal()).headers['retry-after']).toBe('1');
  });
});

test('a refusal by the domain names the integration and its key in the log, and not in the answer', async () => {
  const keyHolder = { integrationId: 'itg_refused', apiKeyId: 'key_refused' };
  domainThrows(new ServiceError(ErrorCode.RATE_LIMITED, 'Too many.', { rateLimit, keyHolder }));
  const { problem } = await refusal();
  const line = await gateway.nextLine(
    ({ msg, requestId }) => msg === 'request' && requestId === problem.requestId,
  );
  expect(line).toMatchObject({ status: 429, code: 'rate_limited', ...keyHolder });
  expect(JSON.stringify(problem)).not.toContain('_refused');
});

describe('500', () => {
  const faults: [string, unknown][] = [
    ['an error of the domain', new Error('canary: the disk is full')],
    ['a code that is none of the gateway', new ServiceError(ErrorCode.INVALID_GRANT, 'canary: that code')],
    ['a service token that the domain refuses', new ServiceError(ErrorCode.CALLER_NOT_ALLOWED, 'canary')],
  ];
  test.each(faults)('%s says nothing but the request id', async (_, fault) => {
    domainThrows(fault);
    const { status, code, problem } = await refusal();
    expect([status, code]).toEqual([500, 'internal_error']);
    expect(problem.message).toBe('Something went wrong on our side.');
    expect(JSON.stringify(problem)).not.toContain('canary');
  });

  test('an answer of the domain without its header is one', async () => {
    gateway.program({ read: async () => ({ header: undefined, body: Buffer.from('[]') }) });
    expect((await refusal()).status).toBe(500);
  });
});

test('503: the waiting time of a busy domain is passed on', async () => {
  domainThrows(new ServiceError(ErrorCode.UNAVAILABLE, 'Busy.', { retryAfterSeconds: 7 }));
  const { status, code, headers } = await refusal();
  expect([status, code, headers['retry-after']]).toEqual([503, 'unavailable', '7']);
});

describe('503, when the domain', () => {
  test('is too slow', async () => {
    gateway.program({ read: () => new Promise(() => undefined) });
    const { status, code, headers } = await refusal();
    expect([status, code, headers['retry-after']]).toEqual([503, 'unavailable', '1']);
  });

  test('is away', async () => {
    const lonely = await startGateway();
    lonely.stopDomain();
    const answer = await lonely.ask('listInstanceIntegrations', PATH);
    await lonely.stop();
    expect(answer.status).toBe(503);
    expect(answer.body).not.toMatch(/sock|ECONN|grpc/i);
  });
});
