import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Dispatch } from '../../../src/edge/http/exchange.js';
import { ask, openGatewayApi } from '../../support/contract/contract-api.js';

const PATH =
  '/v2/instance-integrations/iin_HnuQOy4YQg1OdOSCDbMAkY/clients/cli_4Fqnh5226raKAAEIfY2jwW/workers';

interface Seen {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
}

let dispatch: Dispatch;
let seen: Seen | undefined;

beforeAll(async () => {
  const listWorkersV2 = async ({ params, query }: Seen) => {
    seen = { params, query };
    return { status: 200, headers: {}, body: [] };
  };
  dispatch = await openGatewayApi({ handlers: { listWorkersV2 } });
});

beforeEach(() => {
  seen = undefined;
});

const askWorkers = (query: string) => ask(dispatch, `${PATH}${query}`);

describe('what a handler gets', () => {
  test('the parameters of the path, and numbers as numbers', async () => {
    await askWorkers('?limit=100&cursor=7');
    expect(seen?.params).toEqual({
      instanceIntegrationId: 'iin_HnuQOy4YQg1OdOSCDbMAkY',
      clientId: 'cli_4Fqnh5226raKAAEIfY2jwW',
    });
    expect(seen?.query).toEqual({ limit: 100, cursor: '7' });
  });

  test('nothing that the document does not know', async () => {
    await askWorkers('?__proto__=1&constructor=2&Limit=3&limit[]=4&a.b=5&limit%00=6');
    expect(seen?.query).toEqual({});
    expect(Object.getPrototypeOf(seen?.query)).toBe(Object.prototype);
  });
});

describe('a query parameter that breaks its schema', () => {
  test.each([
    ['below the least', 'limit=0', 'limit'],
    ['below zero', 'limit=-1', 'limit'],
    ['above the most', 'limit=1001', 'limit'],
    ['not a whole number', 'limit=1.5', 'limit'],
    ['not a number', 'limit=ten', 'limit'],
    ['a number to JavaScript only', 'limit=1e1', 'limit'],
    ['a number in base 16', 'limit=0x10', 'limit'],
    ['a number with a space', 'limit=%2010', 'limit'],
    ['empty', 'limit=', 'limit'],
    ['without a value', 'limit', 'limit'],
    ['twice', 'limit=1&limit=2', 'limit'],
    ['twice the same', 'limit=1&limit=1', 'limit'],
    ['twice, of a text', 'cursor=a&cursor=b', 'cursor'],
    ['too short a text', 'cursor=', 'cursor'],
    ['too long a text', `cursor=${'a'.repeat(513)}`, 'cursor'],
  ])('is refused and named: %s', async (_, query, name) => {
    const answer = await askWorkers(`?${query}`);
    expect(answer).toMatchObject({ status: 400, problem: { code: 'invalid_request' } });
    expect(answer.problem?.errors).toMatchObject([{ in: 'query', path: name }]);
    expect(seen).toBeUndefined();
  });

  test.each(['limit=1&limit=2', 'limit=1&limit=1', 'cursor=a&cursor=b', 'limit=1&limit=2&limit=x'])(
    'is said to be given once where it is given more often: %s',
    async (query) => {
      const [name = ''] = query.split('=');
      const answer = await askWorkers(`?${query}`);
      expect(answer.problem?.errors).toEqual([{ in: 'query', path: name, message: 'must be given once' }]);
    },
  );

  test('does not hide another', async () => {
    const answer = await askWorkers('?limit=0&cursor=');
    expect(answer.problem?.errors).toMatchObject([{ path: 'limit' }, { path: 'cursor' }]);
  });
});
