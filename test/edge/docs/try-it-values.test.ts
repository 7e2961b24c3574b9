import { describe, expect, test } from '@jest/globals';
import { TRY_IT_VALUES, withTryItValues } from '../../../src/edge/docs/try-it-values.js';
import type { Dispatch, HttpRequest } from '../../../src/edge/http/exchange.js';

const VALUES = { apiKey: 'ik_demo_secret', ids: { clientId: 'cli_1' } };
const onward: Dispatch = async () => ({ status: 404, headers: {}, body: 'not here', operation: 'none' });

interface Asked {
  isLocalDemo?: boolean;
  path?: string;
  method?: string;
  clientAddress?: string;
  headers?: Record<string, string>;
}

const at = (host: string) => ({ host, origin: `http://${host}` });

function ask({
  isLocalDemo = true,
  path = TRY_IT_VALUES,
  method = 'POST',
  clientAddress = '127.0.0.1',
  headers = {},
}: Asked = {}) {
  const request = {
    path,
    method,
    clientAddress,
    headers: { host: 'localhost:4001', origin: 'http://localhost:4001', ...headers },
  };
  return withTryItValues(isLocalDemo, () => VALUES, onward)(request as unknown as HttpRequest);
}

describe('the key of a demo', () => {
  test('goes to a page of this machine, and into no cache', async () => {
    const { status, headers, body } = await ask();
    expect([status, JSON.parse(String(body))]).toEqual([200, VALUES]);
    expect(headers).toEqual({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  test.each([
    ['127.0.0.1', '127.0.0.1:4001'],
    ['::1', '[::1]:4001'],
    ['::ffff:127.0.0.1', 'LOCALHOST'],
    ['127.8.8.8', 'localhost:80'],
  ])('is given to %s at %s', async (clientAddress, host) => {
    expect((await ask({ clientAddress, headers: { host, origin: `http://${host}` } })).status).toBe(200);
  });

  test.each<[string, Asked]>([
    ['another machine', { clientAddress: '192.0.2.1' }],
    ['another machine by IPv6', { clientAddress: '2001:db8::1' }],
    ['an address that begins alike', { clientAddress: '::ffff:127.0.0.1.example' }],
    ['a client that has left', { clientAddress: '' }],
    ['a foreign name of this machine', { headers: at('rebound.example:4001') }],
    ['a name that begins alike', { headers: at('localhost.example') }],
    ['a proxy that says nothing but passes on the origin', { headers: { origin: 'https://demo.example' } }],
    ['a program that tells no origin', { headers: { origin: '' } }],
    ['a page of another scheme', { headers: { origin: 'https://localhost:4001' } }],
    ['a page without an origin', { headers: { origin: 'null' } }],
    ['a proxy', { headers: { 'x-forwarded-for': '192.0.2.1' } }],
    ['a proxy that says less', { headers: { 'x-forwarded-proto': 'https' } }],
    ['a proxy of the standard', { headers: { forwarded: 'for=192.0.2.1' } }],
    ['a gateway', { headers: { via: '1.1 cache' } }],
    ['a tunnel', { headers: { 'cf-connecting-ip': '192.0.2.1' } }],
    ['a page of another site', { headers: { origin: 'https://other.example' } }],
    ['a page of another port', { headers: { origin: 'http://localhost:4000' } }],
    ['a page that has the machine by another name', { headers: { origin: 'http://127.0.0.1:4001' } }],
  ])('is not given to %s', async (_, asked) => {
    const { status, headers, body } = await ask(asked);
    expect([status, body, headers['cache-control']]).toEqual([204, undefined, 'no-store']);
  });

  test.each<[string, Asked]>([
    ['in live, or where the demo is published', { isLocalDemo: false }],
    ['by another method', { method: 'GET' }],
    ['at another path', { path: `${TRY_IT_VALUES}/` }],
  ])('is nowhere %s', async (_, asked) => {
    expect(await ask(asked)).toMatchObject({ status: 404, body: 'not here' });
  });

  test('is unknown where there is no demo.json', async () => {
    const asked = {
      path: TRY_IT_VALUES,
      method: 'POST',
      clientAddress: '::1',
      headers: at('localhost'),
    };
    const answer = await withTryItValues(true, () => undefined, onward)(asked as unknown as HttpRequest);
    expect(answer.status).toBe(204);
  });
});
