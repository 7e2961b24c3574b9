import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type SignOnServer, startSignOn } from './server.js';

const OPEN: [path: string, methods: string][] = [
  ['/auth/token', 'POST, OPTIONS'],
  ['/auth/userinfo', 'GET, POST, OPTIONS'],
  ['/auth/revoke', 'POST, OPTIONS'],
  ['/.well-known/openid-configuration', 'GET, HEAD, OPTIONS'],
  ['/.well-known/jwks.json', 'GET, HEAD, OPTIONS'],
];
const CLOSED = [
  '/auth/introspect',
  '/auth/authorize',
  '/auth/logout',
  '/auth/sign-in',
  '/auth/consent',
  '/auth/signed-out',
];
const PREFLIGHT = {
  method: 'OPTIONS',
  headers: {
    origin: 'https://spa.example.com',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  },
};

let server: SignOnServer;

beforeAll(async () => {
  server = await startSignOn();
  server.program({});
});

afterAll(() => server.stop());

describe('scripts of other origins', () => {
  test.each(OPEN)('may call %s with %s, without credentials', async (path, methods) => {
    const { status, headers, body } = await server.askAnything(path, PREFLIGHT);
    expect([status, body]).toEqual([204, '']);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': methods,
      'access-control-allow-headers': 'Authorization, Content-Type, If-None-Match, x-request-id',
      'access-control-max-age': '7200',
      allow: methods,
    });
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });

  test.each(OPEN)('may read errors at %s too, with when to come again and what was wrong', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { headers } = await server.askAnything(path, { method });
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-expose-headers']).toMatch(
        /^Retry-After, WWW-Authenticate, x-request-id\b/,
      );
    }
  });

  test('may read that too many requests are under way, which no contract answers', async () => {
    const full = await startSignOn({ maxRequests: 0 });
    try {
      for (const [path] of OPEN) {
        const { status, headers } = await full.askAnything(path, { method: 'POST' });
        expect([path, status, headers['access-control-allow-origin']]).toEqual([path, 503, '*']);
        expect(headers['access-control-expose-headers']).toMatch(/^Retry-After\b/);
      }
      for (const path of [...CLOSED, '/nowhere', '/auth/token/']) {
        const { status, headers } = await full.askAnything(path);
        expect([path, status, headers['access-control-allow-origin']]).toEqual([path, 503, undefined]);
      }
    } finally {
      await full.stop();
    }
  });

  test.each(CLOSED)('are not let near %s', async (path) => {
    const preflight = await server.askAnything(path, PREFLIGHT);
    expect(preflight.status).toBe(405);
    for (const answer of [
      preflight,
      await server.askAnything(path),
      await server.askAnything('/nowhere', PREFLIGHT),
    ]) {
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});
