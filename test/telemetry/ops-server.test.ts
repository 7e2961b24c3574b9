import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Readiness } from '../../src/telemetry/health.js';
import { type OpsSource, startOpsServer } from '../../src/telemetry/ops-server.js';
import { exchange } from '../support/http-exchange.js';

let server: Server;
let port: number;
let source: { -readonly [Name in keyof OpsSource]: OpsSource[Name] };

beforeEach(async () => {
  source = {
    liveness: async () => ({ status: 'alive' }),
    readiness: async () => ({ status: 'ready', checks: {} }),
    metrics: async () => '# HELP a A.\n# TYPE a counter\na 1\n',
  };
  server = await startOpsServer(source, { host: '127.0.0.1', port: 0 });
  port = (server.address() as AddressInfo).port;
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

const json = async (path: string) => {
  const { status, headers, body } = await exchange(port, path);
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
  return { status, body: JSON.parse(body) };
};

test('/livez is 200 whenever it is answered', async () => {
  expect(await json('/livez')).toEqual({ status: 200, body: { status: 'alive' } });
});

describe('/readyz', () => {
  test.each<[Readiness['status'], number]>([
    ['ready', 200],
    ['degraded', 200],
    ['unready', 503],
  ])('%s is %i, with the checks', async (readiness, status) => {
    const body = { status: readiness, checks: { database: { ok: true } } };
    source.readiness = async () => body;
    expect(await json('/readyz')).toEqual({ status, body });
  });

  test('of one role stands below it, where there are several', async () => {
    source.readinessOf = async (role) => (role === 'edge' ? { status: 'unready', checks: {} } : undefined);
    expect(await json('/readyz/edge')).toEqual({ status: 503, body: { status: 'unready', checks: {} } });
    expect((await json('/readyz/other')).status).toBe(404);
    expect((await json('/readyz')).status).toBe(200);
  });
});

test('/metrics is the text that Prometheus asks for', async () => {
  const { status, headers, body } = await exchange(port, '/metrics');
  expect([status, body]).toEqual([200, await source.metrics()]);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
});

test('a query changes nothing', async () => {
  expect((await json('/readyz?verbose=1')).status).toBe(200);
});

test.each(['/', '/livez/', '/LIVEZ', '//livez', '/readyz/..', '/readyz/edge', '/metrics%00', '/healthz'])(
  '%s is none of the three, and the answer names them',
  async (path) => {
    expect(await json(path)).toEqual({
      status: 404,
      body: { message: 'There are /livez, /readyz and /metrics.' },
    });
  },
);

test.each(['liveness', 'readiness', 'metrics'] as const)(
  'when %s fails the answer is a bare 500, and the server continues',
  async (name) => {
    const path = { liveness: '/livez', readiness: '/readyz', metrics: '/metrics' }[name];
    const answer = source[name];
    Object.assign(source, { [name]: () => Promise.reject(new Error('canary')) });
    expect(await exchange(port, path)).toMatchObject({ status: 500, body: '' });
    Object.assign(source, { [name]: answer });
    expect((await exchange(port, path)).status).toBe(200);
  },
);

test('a port that is taken is an error that says so', async () => {
  const second = startOpsServer(source, { host: '127.0.0.1', port });
  await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
