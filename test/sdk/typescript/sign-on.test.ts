import { createHash } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sdkDriver } from './driver.js';
import { type Answer, hangUp, json, page, type ScriptedServer, scriptedServers } from './scripted-server.js';
import { callbackFrom, kept, refusal, settingsFor, tokens } from './scripted-sign-on.js';

const driver = sdkDriver();
const newServer = scriptedServers();
let server: ScriptedServer;

beforeAll(async () => {
  server = await newServer();
});

const ask = (method: string, ...args: unknown[]) => driver.sdk.signOn(settingsFor(server), method, ...args);
const callback = (query: Record<string, string>) => callbackFrom(server, query);
const exchange = (callbackUrl = callback({ code: 'code-1' })) =>
  ask('exchangeCode', { callbackUrl, ...kept });

describe('the authorization URL', () => {
  test('has PKCE by S256, a state and a nonce, fresh each time', async () => {
    const [first, second] = [await ask('authorizationUrl'), await ask('authorizationUrl')];
    const url = new URL(first.value.url);
    expect(`${url.origin}${url.pathname}`).toBe(`${server.url}/auth/authorize`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'app_1',
      redirect_uri: 'https://app.example.com/callback',
      scope: 'openid profile email',
      state: first.value.state,
      nonce: first.value.nonce,
      code_challenge: createHash('sha256').update(first.value.codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const values = [first, second].flatMap(({ value }) => [value.state, value.nonce, value.codeVerifier]);
    expect(new Set(values).size).toBe(6);
    expect(values.every((value) => /^[\w-]{43}$/.test(value))).toBe(true);
  });

  test('carries what else is asked for', async () => {
    const options = {
      scope: 'openid',
      state: 'mine',
      prompt: 'login',
      loginHint: 'a b@example.com',
      maxAgeSeconds: 0,
    };
    const { value } = await ask('authorizationUrl', options);
    expect(Object.fromEntries(new URL(value.url).searchParams)).toMatchObject({
      scope: 'openid',
      state: 'mine',
      prompt: 'login',
      login_hint: 'a b@example.com',
      max_age: '0',
    });
  });

  test('the logout URL carries what it is given, and nothing for what it is not', async () => {
    const { value } = await ask('logoutUrl', {
      idToken: null,
      postLogoutRedirectUri: 'https://app.example.com/bye',
    });
    expect(Object.fromEntries(new URL(value).searchParams)).toEqual({
      client_id: 'app_1',
      post_logout_redirect_uri: 'https://app.example.com/bye',
    });
  });
});

describe('what the browser comes back with', () => {
  beforeEach(() => {
    server.answers(tokens());
  });

  test.each([
    ['another state', { code: 'c', state: 'state-2' }, { name: 'SignInError', reason: 'state_mismatch' }],
    ['another issuer', { code: 'c', iss: 'https://evil.example.com' }, { reason: 'issuer_mismatch' }],
    ['no code', {}, { reason: 'callback_malformed' }],
    [
      'a refusal',
      { error: 'access_denied', error_description: 'The person said no.' },
      { name: 'OAuthError', error: 'access_denied', description: 'The person said no.', status: null },
    ],
    ['a refusal of somebody else', { error: 'access_denied', state: 'x' }, { reason: 'state_mismatch' }],
  ])('%s is refused before anything is sent', async (_, query, expected) => {
    expect((await exchange(callback(query))).error).toMatchObject({ ...expected, isOurs: true });
    expect(server.asked).toHaveLength(0);
  });

  test('a parameter that comes twice is refused', async () => {
    const { error } = await exchange(`${callback({ code: 'c' })}&code=d`);
    expect(error).toMatchObject({ reason: 'callback_malformed' });
  });

  test('may be a path and query, as servers have it', async () => {
    const { pathname, search } = new URL(callback({ code: 'code-9' }));
    expect((await exchange(`${pathname}${search}`)).value).toMatchObject({ accessToken: 'at', claims: null });
    expect(JSON.parse(server.asked[0]?.body ?? '')).toEqual({
      grant_type: 'authorization_code',
      code: 'code-9',
      redirect_uri: 'https://app.example.com/callback',
      code_verifier: kept.codeVerifier,
      client_id: 'app_1',
      client_secret: 'cs_demo_1',
    });
  });
});

describe('refreshing', () => {
  test.each<[string, Answer[], number]>([
    ['is tried once more after a lost connection', [hangUp, tokens()], 2],
    ['is the new refresh token at once otherwise', [tokens()], 1],
  ])('%s', async (_, script, requests) => {
    server.answers(...script);
    expect((await ask('refresh', 'rt-1')).value).toMatchObject({ accessToken: 'at', refreshToken: 'rt-2' });
    expect(server.asked.map(({ body }) => JSON.parse(body).refresh_token)).toEqual(
      Array(requests).fill('rt-1'),
    );
  });

  test.each<[string, Answer, object, number]>([
    ['a connection that breaks twice', hangUp, { name: 'ConnectionError' }, 2],
    ['a refusal', refusal('invalid_grant'), { name: 'OAuthError', error: 'invalid_grant' }, 1],
    ['503', refusal('temporarily_unavailable', 503), { name: 'OAuthError', status: 503 }, 1],
  ])('is not tried again after %s', async (_, answer, expected, requests) => {
    server.answers(answer);
    expect((await ask('refresh', 'rt-1')).error).toMatchObject(expected);
    expect(server.asked).toHaveLength(requests);
  });
});

describe('userinfo and revocation', () => {
  test('are tried again where that helps', async () => {
    server.answers(hangUp, page(502), json({ sub: 'acc_1', lastLoginContext: { userType: 'ROBOT' } }));
    expect((await ask('userinfo', 'at')).value).toMatchObject({ lastLoginContext: { userType: 'ROBOT' } });
    expect(server.asked[0]).toMatchObject({
      path: '/auth/userinfo',
      headers: { authorization: 'Bearer at' },
    });
    server.answers(hangUp, (response) => response.writeHead(200).end());
    expect(await ask('revoke', 'rt')).not.toHaveProperty('error');
    expect(JSON.parse(server.asked[1]?.body ?? '')).toMatchObject({ token: 'rt', client_id: 'app_1' });
  });

  test('a refusal is an OAuthError', async () => {
    server.answers(refusal('invalid_token', 401));
    expect((await ask('userinfo', 'at')).error).toMatchObject({
      name: 'OAuthError',
      error: 'invalid_token',
      status: 401,
    });
  });
});
