import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectErrorPage, expectOAuthError } from './refusals.js';
import { type SignOnServer, startSignOn } from './server.js';

let server: SignOnServer;

beforeAll(async () => {
  server = await startSignOn();
});

afterAll(() => server.stop());

describe('the bare address', () => {
  test.each(['GET', 'HEAD'])('is a page that leads on: %s', async (method) => {
    const { status, headers, body } = await server.askAnything('/', { method });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    expect(body.includes('href="https://gateway.example.com/docs"')).toBe(method === 'GET');
    // Only a demo has an application of its own.
    expect(body).not.toContain('demo application');
  });

  test('refuses other methods', async () => {
    expectOAuthError(await server.askAnything('/', { method: 'POST' }), 404, 'invalid_request');
  });
});

describe('an unknown path', () => {
  test.each([
    '/auth',
    '/auth/authorize/',
    '/AUTH/authorize',
    '/auth//token',
    '/favicon.ico',
    '/auth/token%00',
  ])('is a page for people: %s', async (path) => {
    expectErrorPage(await server.askAnything(path), 404, 'There is no page at this address.');
  });

  test.each([
    ['POST', '/oauth/token'],
    ['OPTIONS', '/'],
    ['GET', '/.well-known/oauth-authorization-server'],
    ['GET', '/.well-known/'],
  ])('is JSON for programs: %s %s', async (method, path) => {
    expectOAuthError(await server.askAnything(path, { method }), 404, 'invalid_request');
  });

  test('that is not even encoded is refused', async () => {
    expectErrorPage(await server.askAnything('/auth/%zz'), 400, 'not complete');
    expectOAuthError(await server.askAnything('/%', { method: 'POST' }), 400, 'invalid_request');
  });
});
