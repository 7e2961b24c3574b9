import { beforeEach, describe, expect, test } from '@jest/globals';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { newApiKey } from '../../../src/identifiers/api-key.js';
import { rateLimit, refusing } from '../../support/gateway/directory-answers.js';
import type { Gateway } from '../../support/gateway/gateway.js';
import {
  type GatewayOperation,
  idNamesOf,
  isInQuery,
  pathIds,
  pathOf,
} from '../../support/gateway/operations.js';
import type { Question } from '../../support/http-exchange.js';

const UNFIT_IDS: [what: string, spoil: (id: string) => string][] = [
  ['a character too few', (id) => id.slice(0, -1)],
  ['a character too many', (id) => `${id}a`],
  ['another prefix', (id) => `evt_${id.slice(4)}`],
  ['a prefix in capitals', (id) => id.slice(0, 3).toUpperCase() + id.slice(3)],
  ['a character that is none of base62', (id) => `${id.slice(0, -1)}-`],
  ['a line break at its end', (id) => `${id}%0A`],
  ['nothing but its prefix', (id) => id.slice(0, 4)],
  ['quotes', (id) => `${id.slice(0, -9)}'%20or%201=1`],
];

/** What the domain refuses a path with, by the last id that is in it. */
const MISSING: [code: ErrorCode, status: number, name: string, needs: string][] = [
  [ErrorCode.INSTANCE_INTEGRATION_NOT_FOUND, 404, 'instance_integration_not_found', 'instanceIntegrationId'],
  [
    ErrorCode.INSTANCE_INTEGRATION_NOT_CONFIGURED,
    404,
    'instance_integration_not_configured',
    'instanceIntegrationId',
  ],
  [ErrorCode.CLIENT_NOT_FOUND, 404, 'client_not_found', 'clientId'],
  [ErrorCode.USER_NOT_FOUND, 404, 'user_not_found', 'userId'],
  [ErrorCode.WORKER_NOT_FOUND, 404, 'worker_not_found', 'workerId'],
];

/** What every read of the gateway refuses, and how. */
export function describeRefusals(operation: GatewayOperation, present: () => Gateway): void {
  const { operationId } = operation;
  const path = pathOf(operation);
  const idNames = idNamesOf(operation);

  const domainThrows = (error: unknown) =>
    present().program(
      refusing(() => {
        throw error;
      }),
    );

  beforeEach(() => domainThrows(new Error('the domain was asked')));

  async function refusal(question: Question = {}, target = path) {
    const answer = await present().ask(operationId, target, question);
    const problem = JSON.parse(answer.body);
    expect(problem).toMatchObject({ status: answer.status, requestId: answer.headers['x-request-id'] });
    expect(answer.headers['cache-control']).toBe('no-store');
    return { status: answer.status, code: problem.code, headers: answer.headers, problem };
  }

  const unfit = idNames.flatMap((name) => UNFIT_IDS.map(([what, spoil]) => ({ name, what, spoil })));
  // jest refuses an empty table, and one operation has no id in its path.
  (unfit.length > 0 ? test.each(unfit) : test.skip.each([{ name: 'no id', what: '', spoil: String }]))(
    '400: $name with $what is refused before the domain is asked',
    async ({ name, spoil }) => {
      const target = pathOf(operation, { ...pathIds, [name]: spoil(pathIds[name] ?? '') });
      const { status, code, problem } = await refusal({}, target);
      expect([status, code]).toEqual([400, 'invalid_request']);
      const place = isInQuery(operation, name) ? 'query' : 'path';
      expect(problem.errors).toMatchObject([{ in: place, path: name }]);
    },
  );

  test('400: every id that is wrong is named at once, and none is shown', async () => {
    const headers = { 'if-none-match': 'x'.repeat(4_097) };
    const spoiled = Object.fromEntries(idNames.map((name) => [name, 'canary']));
    const { status, problem } = await refusal({ headers }, pathOf(operation, spoiled));
    expect(status).toBe(400);
    expect(problem.errors).toHaveLength(idNames.length + 1);
    expect(JSON.stringify(problem)).not.toContain('canary');
  });

  test('400: a key in the query is refused', async () => {
    expect((await refusal({}, pathOf(operation, pathIds, 'api_key=x'))).code).toBe('api_key_in_query');
  });

  test.each([
    ['no key', undefined, 'api_key_missing'],
    ['half a key', newApiKey('demo').slice(0, 30), 'api_key_malformed'],
    ['a key of live', newApiKey('live'), 'api_key_wrong_environment'],
  ])('401: %s is refused before the domain is asked', async (_, apiKey, expected) => {
    const { status, code, headers } = await refusal({ headers: { 'x-api-key': apiKey } });
    expect([status, code, headers['www-authenticate']]).toEqual([401, expected, 'ApiKey realm="gateway"']);
  });

  test.each([
    [ErrorCode.API_KEY_UNKNOWN, 'api_key_unknown'],
    [ErrorCode.API_KEY_EXPIRED, 'api_key_expired'],
  ])('401: so is what the domain refuses as %s', async (code, expected) => {
    domainThrows(new ServiceError(code, 'Not in force.'));
    expect(await refusal()).toMatchObject({
      status: 401,
      code: expected,
      problem: { message: 'Not in force.' },
    });
  });

  const missing = MISSING.filter(([, , , needs]) => idNames.includes(needs));
  (missing.length > 0 ? test.each(missing) : test.skip.each(MISSING.slice(0, 1)))(
    '404: %s is told in the words of the domain, with where the caller stands',
    async (code, expected, name) => {
      domainThrows(new ServiceError(code, 'Thing not found', { rateLimit }));
      const { status, code: said, problem, headers } = await refusal();
      expect([status, said, problem.message]).toEqual([expected, name, 'Thing not found']);
      expect(headers).toMatchObject({
        'x-ratelimit-limit': '600',
        'x-ratelimit-remaining': '587',
        'x-ratelimit-reset': '41',
      });
    },
  );

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    '405: %s gets the methods of the path',
    async (verb) => {
      const { status, headers } = await refusal({ method: verb, headers: { 'x-api-key': undefined } });
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    },
  );

  test('406: who does not take JSON is told so', async () => {
    expect(await refusal({ headers: { accept: 'text/csv' } })).toMatchObject({
      status: 406,
      code: 'not_acceptable',
    });
  });

  test('429: who is over the limit gets the time to wait', async () => {
    const spent = { ...rateLimit, remaining: 0 };
    domainThrows(
      new ServiceError(ErrorCode.RATE_LIMITED, 'No.', { rateLimit: spent, retryAfterSeconds: 41 }),
    );
    const { status, headers } = await refusal();
    expect([status, headers['retry-after'], headers['x-ratelimit-remaining']]).toEqual([429, '41', '0']);
  });

  describe('500', () => {
    test('a fault of the domain says nothing but the request id', async () => {
      domainThrows(new Error('canary: the disk is full'));
      const { status, problem } = await refusal();
      expect([status, problem.message]).toEqual([500, 'Something went wrong on our side.']);
      expect(JSON.stringify(problem)).not.toContain('canary');
    });

    test('an answer without its header is one', async () => {
      present().program(refusing(async () => ({ body: Buffer.from('[]') })));
      expect((await refusal()).status).toBe(500);
    });
  });

  test('503: the waiting time of a busy domain is passed on', async () => {
    domainThrows(new ServiceError(ErrorCode.UNAVAILABLE, 'Busy.', { retryAfterSeconds: 7 }));
    const { status, headers } = await refusal();
    expect([status, headers['retry-after']]).toEqual([503, '7']);
  });
}
