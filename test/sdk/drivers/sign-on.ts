import { describe, expect, test } from '@jest/globals';
import type { Driven } from './line-driver.js';
import { type Answer, hangUp, json, nothing, page } from './scripted-server.js';
import { grant, identity, REDIRECT_URI, signOnRig } from './sign-on-rig.js';

/** Over a sign-on server that says what a test wants. */
export function describeSignOn(driver: Driven): void {
  const rig = signOnRig(driver);

  describe('the address to send a browser to', () => {
    test('requests a code, by PKCE, with random values', async () => {
      const { value } = await driver.sdk.signOn(rig.options(), 'authorizationUrl');
      const { value: other } = await driver.sdk.signOn(rig.options(), 'authorizationUrl');
      const { origin, pathname, searchParams } = new URL(value.url);
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(value.codeVerifier));
      expect(origin + pathname).toBe(`${rig.server.url}/auth/authorize`);
      expect(Object.fromEntries(searchParams)).toEqual({
        response_type: 'code',
        client_id: 'app_1',
        redirect_uri: REDIRECT_URI,
        scope: 'openid profile email',
        state: value.state,
        nonce: value.nonce,
        code_challenge: Buffer.from(digest).toString('base64url'),
        code_challenge_method: 'S256',
      });
      for (const name of ['state', 'nonce', 'codeVerifier']) {
        expect(value[name]).toMatch(/^[\w-]{43}$/);
        expect(value[name]).not.toBe(other[name]);
      }
    });

    test('says what else was asked for', async () => {
      const given = {
        scope: 'openid',
        state: 's',
        nonce: 'n',
        prompt: 'login',
        loginHint: 'a b@example.com',
        maxAgeSeconds: 0,
      };
      const { value } = await driver.sdk.signOn(rig.options(), 'authorizationUrl', given);
      expect(Object.fromEntries(new URL(value.url).searchParams)).toMatchObject({
        scope: 'openid',
        state: 's',
        nonce: 'n',
        prompt: 'login',
        login_hint: 'a b@example.com',
        max_age: '0',
      });
    });

    test('for signing out has the ID token, and nothing that was not given', async () => {
      const { value } = await driver.sdk.signOn(rig.options(), 'logoutUrl', { idToken: 'x.y.z' });
      expect(value).toBe(`${rig.server.url}/auth/logout?client_id=app_1&id_token_hint=x.y.z`);
    });

    test('for signing out leaves out an ID token that is too long for an address', async () => {
      const idToken = `x.${'y'.repeat(8_000)}.z`;
      const { value } = await driver.sdk.signOn(rig.options(), 'logoutUrl', { idToken });
      expect(value).toBe(`${rig.server.url}/auth/logout?client_id=app_1`);
    });

    test('for signing out leaves out an ID token that is empty', async () => {
      const { value } = await driver.sdk.signOn(rig.options(), 'logoutUrl', { idToken: '' });
      expect(value).toBe(`${rig.server.url}/auth/logout?client_id=app_1`);
    });

    test('for signing out says where the browser goes afterwards', async () => {
      const given = { postLogoutRedirectUri: 'https://app.example.com/bye' };
      const { value } = await driver.sdk.signOn(rig.options(), 'logoutUrl', given);
      expect(Object.fromEntries(new URL(value).searchParams)).toEqual({
        client_id: 'app_1',
        post_logout_redirect_uri: 'https://app.example.com/bye',
      });
    });
  });

  describe('refreshing', () => {
    const refresh = (settings: object = {}) =>
      driver.sdk.signOn(rig.options(settings), 'refresh', { refreshToken: 'refresh-1' });
    const tokens = json({ ...grant, access_token: 'access-2' });

    test('is one request where all goes well', async () => {
      rig.server.answers(tokens);
      expect((await refresh()).value).toMatchObject({ accessToken: 'access-2', refreshToken: 'refresh-2' });
      expect(rig.server.asked).toHaveLength(1);
    });

    test.each<[string, Answer]>([
      ['a lost connection', hangUp],
      ['502, by which a proxy tells of one', page(502)],
      ['408, because its body did not arrive', json({ error: 'temporarily_unavailable' }, {}, 408)],
      ['503, which can hide that it was done', page(503)],
    ])('says the same again after %s', async (_, lost) => {
      rig.server.answers(lost, tokens);
      expect((await refresh()).value).toMatchObject({ accessToken: 'access-2', refreshToken: 'refresh-2' });
      const [first, second] = rig.server.asked.map(({ body }) => JSON.parse(body));
      expect(first).toEqual({
        grant_type: 'refresh_token',
        refresh_token: 'refresh-1',
        client_id: 'app_1',
        client_secret: 'cs_1',
      });
      expect(second).toEqual(first);
    });

    test('as often as other requests, and not at all without retries', async () => {
      rig.server.answers(hangUp);
      expect((await refresh()).error).toMatchObject({ name: 'ConnectionError' });
      expect(rig.server.asked).toHaveLength(4);
      expect((await refresh({ retry: { maxRetries: 0 } })).error).toMatchObject({ name: 'ConnectionError' });
      expect(rig.server.asked).toHaveLength(5);
    });

    test.each<[string, Answer]>([
      ['nothing', nothing],
      ['null', json(null)],
      ['no access token', json({ ...grant, access_token: null })],
    ])('%s in place of tokens is an error that says so', async (_, answer) => {
      rig.server.answers(answer);
      const { error } = await refresh();
      expect(error).toMatchObject({ name: 'OAuthError', error: 'unexpected_response', status: 200 });
      expect(rig.server.asked).toHaveLength(1);
    });

    test('says the same again soon, however long an answer may take', async () => {
      rig.server.answers(hangUp, tokens);
      expect((await refresh({ timeoutSeconds: 600 })).value).toMatchObject({ accessToken: 'access-2' });
      expect(rig.server.asked).toHaveLength(2);
    });

    test.each<[string, Answer, object, object]>([
      [
        'a pause that ends when the old token can count as stolen',
        json({ error: 'temporarily_unavailable' }, { 'Retry-After': '50' }, 503),
        {},
        { status: 503 },
      ],
      [
        'a pause after which a slow retry would come then',
        json({ error: 'temporarily_unavailable' }, { 'Retry-After': '30' }, 503),
        { timeoutSeconds: 30 },
        { status: 503 },
      ],
      [
        'invalid_grant',
        json({ error: 'invalid_grant' }, {}, 400),
        {},
        { error: 'invalid_grant', description: null },
      ],
    ])('is not tried again after %s', async (_, answer, settings, expected) => {
      rig.server.answers(answer);
      expect((await refresh(settings)).error).toMatchObject({ name: 'OAuthError', ...expected });
      expect(rig.server.asked).toHaveLength(1);
    });
  });

  test('userinfo is tried again, with the token in the header, and bears claims that it does not know', async () => {
    rig.server.answers(page(503), hangUp, json({ ...identity, aud: 'app_1', added: [1] }));
    const { value } = await driver.sdk.signOn(rig.options(), 'userinfo', { accessToken: 'access-1' });
    expect(value).toMatchObject(identity);
    expect(rig.server.asked).toHaveLength(3);
    expect(rig.server.asked[2]?.headers.authorization).toBe('Bearer access-1');
  });

  test('a refusal of userinfo is an OAuthError', async () => {
    rig.server.answers(json({ error: 'invalid_token', error_description: 'No.' }, {}, 401));
    const { error } = await driver.sdk.signOn(rig.options(), 'userinfo', { accessToken: 'access-1' });
    expect(error).toMatchObject({
      name: 'OAuthError',
      error: 'invalid_token',
      description: 'No.',
      status: 401,
    });
  });

  test.each<[string, Answer]>([
    ['nothing', nothing],
    ['null', json(null)],
  ])('%s in place of userinfo is an error that says so', async (_, answer) => {
    rig.server.answers(answer);
    const { error } = await driver.sdk.signOn(rig.options(), 'userinfo', { accessToken: 'access-1' });
    expect(error).toMatchObject({ name: 'OAuthError', error: 'unexpected_response', status: 200 });
  });

  test('userinfo that is not what the contract describes is an error that does not show it', async () => {
    rig.server.answers(json({ email: 'ada@example.com' }));
    const { error } = await driver.sdk.signOn(rig.options(), 'userinfo', { accessToken: 'access-1' });
    expect(error).toMatchObject({ name: 'OAuthError', shown: expect.not.stringContaining('ada@') });
  });

  test.each([
    ['a token with the end of its line', 'access-1\n', {}],
    ['an address beyond this machine without TLS', 'access-1', { issuer: 'http://sign-on.example.com' }],
    ['a user name in the address', 'access-1', { issuer: 'https://access-1@sign-on.example.com' }],
  ])('userinfo is not asked for with %s, which no message shows', async (_, accessToken, settings) => {
    rig.server.answers(json(identity));
    const { error } = await driver.sdk.signOn(rig.options(settings), 'userinfo', { accessToken });
    expect(error).toMatchObject({ name: 'ValueError', message: expect.not.stringContaining('access-1') });
    expect(rig.server.asked).toHaveLength(0);
  });

  test('revoking says what and who, and is tried again', async () => {
    rig.server.answers(page(502), (response) => response.writeHead(200).end());
    expect((await driver.sdk.signOn(rig.options(), 'revoke', { token: 'refresh-1' })).error).toBeUndefined();
    expect(JSON.parse(rig.server.asked[1]?.body ?? '')).toMatchObject({
      token: 'refresh-1',
      client_id: 'app_1',
      client_secret: 'cs_1',
    });
  });
}
