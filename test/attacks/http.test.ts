import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { type Exchange, exchange, rawExchange } from '../support/http-exchange.js';
import { serviceProcesses } from '../support/service-process.js';
import { AttackedService, credentialsOf, redirectUriOf } from './attacked-service.js';
import { ALMOST_PATHS, BROKEN_REQUESTS, MISLEADING_HEADERS } from './http-cases.js';
import { encoded, FORM } from './user-agent.js';
import { expectErrorPage, expectRefusal } from './verdicts.js';

const services = serviceProcesses();
let attacked: AttackedService;
let discovery: string;

beforeAll(async () => {
  // With no proxy in front, as it is by itself.
  attacked = new AttackedService(await services.start());
  discovery = (await exchange(attacked.port, '/.well-known/openid-configuration')).body;
});

describe('what a request says of its destination', () => {
  test.each(MISLEADING_HEADERS)('changes neither issuer nor address: %s', async (_, headers) => {
    const published = await exchange(attacked.port, '/.well-known/openid-configuration', { headers });
    expect([published.status, published.body]).toEqual([200, discovery]);
    const target = attacked.authorizeTarget(attacked.portal, { prompt: 'none' });
    expectRefusal(await exchange(attacked.port, target, { headers }), {
      target: redirectUriOf(attacked.portal),
      issuer: attacked.issuer,
      error: 'login_required',
      state: 'state-of-the-application',
    });
    const begun = await exchange(attacked.port, attacked.authorizeTarget(attacked.portal), { headers });
    expect(begun.headers.location).toMatch(/^\/auth\/sign-in\?interaction=[A-Za-z0-9_-]{100,1000}$/);
    expect(begun.headers['set-cookie']?.[0]).not.toMatch(/Domain|Secure/i);
    const refused = await exchange(attacked.port, '/auth/authorize', { headers });
    expectErrorPage(refused);
    expect(refused.body).not.toMatch(/evil\.example|<script/);
  });

  test('is ignored where it is an absolute URL of another server', async () => {
    const target = 'http://evil.example/.well-known/openid-configuration';
    expect((await exchange(attacked.port, target)).body).toBe(discovery);
    expectErrorPage(await exchange(attacked.port, 'http://evil.example/auth/authorize'));
  });

  test('does not change where it came from, as long as no proxy is trusted', async () => {
    const headers = {
      'x-forwarded-for': '203.0.113.9',
      'x-real-ip': '203.0.113.9',
      'x-request-id': 'who-am-i',
    };
    await exchange(attacked.port, '/auth/authorize', { headers });
    const line = await eventually('the line of the request', () =>
      attacked.service.output
        .lines()
        .find(({ msg, requestId }) => msg === 'request' && requestId === 'who-am-i'),
    );
    expect(line.client).toMatch(/127\.0\.0\.1$/);
  });

  test.each(['<script>', 'a b', `${'a'.repeat(200)}`, '"', 'a;b'])(
    'is not repeated from an invalid request id: %s',
    async (id) => {
      const answer = await exchange(attacked.port, '/auth/authorize', { headers: { 'x-request-id': id } });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(answer.body).not.toContain(`<dd>${id}`);
    },
  );
});

test.each(ALMOST_PATHS)('the path %s is not taken for another, and answers 404', async (path) => {
  const answer = await exchange(
    attacked.port,
    `${path}?${attacked.authorizeTarget(attacked.portal).split('?')[1]}`,
  );
  expect([400, 404]).toContain(answer.status);
  expect(answer.headers.location).toBeUndefined();
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(answer.body).not.toMatch(/evil\.example|root:|"issuer"/);
});

test.each(BROKEN_REQUESTS)('a request with %s is refused, and its connection closed', async (_, bytes) => {
  const received = await rawExchange(attacked.port, bytes);
  expect(received).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

/** One private answer of each kind. */
const PRIVATE_ANSWERS: readonly [path: string, ask: () => Promise<Exchange>][] = [
  ['/auth/token', () => attacked.call('/auth/token', {})],
  ['/auth/token with a wrong method', () => exchange(attacked.port, '/auth/token')],
  ['/auth/token with too much', () => attacked.call('/auth/token', { x: 'x'.repeat(70_000) })],
  [
    '/auth/introspect',
    () => attacked.call('/auth/introspect', { ...credentialsOf(attacked.portal), token: 'x' }),
  ],
  ['/auth/revoke', () => attacked.call('/auth/revoke', { ...credentialsOf(attacked.portal), token: 'x' })],
  ['/auth/userinfo', () => exchange(attacked.port, '/auth/userinfo')],
  ['/auth/authorize', () => exchange(attacked.port, attacked.authorizeTarget(attacked.portal))],
  ['/auth/authorize, refused', () => exchange(attacked.port, '/auth/authorize')],
  ['/auth/sign-in', () => attacked.userAgent().open(attacked.authorizeTarget(attacked.portal))],
  ['/auth/logout', () => exchange(attacked.port, '/auth/logout')],
  ['/auth/set-password', () => exchange(attacked.port, `/auth/set-password?token=${'A'.repeat(43)}`)],
  ['/auth/verify-email', () => exchange(attacked.port, `/auth/verify-email?token=${'A'.repeat(43)}`)],
  ['/auth/change-email', () => exchange(attacked.port, `/auth/change-email?token=${'A'.repeat(43)}`)],
  ['/nothing', () => exchange(attacked.port, '/nothing')],
  ['/nothing, posted', () => attacked.call('/nothing', {})],
];

test.each(PRIVATE_ANSWERS)('%s is not cached', async (_, ask) => {
  const { headers } = await ask();
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers.server ?? headers['x-powered-by']).toBeUndefined();
});

describe('a script of another origin', () => {
  const ORIGINS = ['https://evil.example', 'null', 'http://localhost:8400'];

  test.each(
    ORIGINS.flatMap((origin) =>
      ['/auth/authorize', '/auth/sign-in', '/auth/logout', '/auth/introspect', '/nothing'].map((path) => [
        origin,
        path,
      ]),
    ),
  )('from %s may not read %s, nor request it with custom headers', async (origin, path) => {
    const preflight = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    for (const question of [
      { method: 'OPTIONS', headers: preflight },
      { headers: { origin } },
      { method: 'POST', headers: { origin } },
      // Refused before its path is looked at.
      { method: 'POST', headers: { origin, expect: 'the-unexpected' } },
    ]) {
      const answer = await exchange(attacked.port, path, question);
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  test.each(ORIGINS)(
    'from %s gets tokens like any caller, and never with what the browser adds',
    async (origin) => {
      for (const method of ['OPTIONS', 'POST']) {
        const answer = await exchange(attacked.port, '/auth/token', {
          method,
          headers: { origin, 'access-control-request-method': 'POST', 'content-type': FORM },
          ...(method === 'POST' && { body: encoded({ grant_type: 'password' }) }),
        });
        expect(answer.headers['access-control-allow-origin']).toBe('*');
        expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
      }
      const headers = { origin, expect: 'the-unexpected' };
      const refused = await exchange(attacked.port, '/auth/token', { method: 'POST', headers });
      expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([417, '*']);
    },
  );
});

test('after all of that it still serves', async () => {
  expect((await exchange(attacked.port, '/.well-known/openid-configuration')).body).toBe(discovery);
  await attacked.service.logged();
  const errors = attacked.service.output.lines().filter(({ level }) => level === 'error');
  expect(errors).toEqual([]);
});
