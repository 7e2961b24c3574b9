import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { expectErrorPage, expectOAuthError } from './refusals.js';
import { type SignOnServer, startSignOn } from './server.js';

let server: SignOnServer;

beforeAll(async () => {
  server = await startSignOn();
});

afterAll(() => server.stop());

describe('a path of nothing', () => {
  test.each([
    '/',
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
