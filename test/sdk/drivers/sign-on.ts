import { beforeAll, describe, expect, test } from '@jest/globals';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import {
  type Answer,
  hangUp,
  json,
  page,
  type ScriptedServer,
  scriptedServers,
} from '../typescript/scripted-server.js';
import type { Driven } from './line-driver.js';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;
const redirectUri = 'https://app.example.com/callback';
const flow = { state: 'state-1', nonce: 'nonce-1', codeVerifier: 'v'.repeat(43) };
const grant = {
  token_type: 'Bearer',
  expires_in: 3600,
  scope: 'openid profile email',
  refresh_token: 'refresh-2',
};
const identity = {
  sub: 'acc_1',
  workerProfileId: 'wpf_1',
  userIds: [{ id: 'usr_1', clientId: 'cli_1' }],
  workerIds: [],
  lastLoginContext: { userType: 'ROBOT', clientId: 'cli_1' },
};

type Signer = { privateKey: CryptoKey; jwk: JWK };

/** Over a sign-on server that says what a test wants. */
export function describeSignOn(driver: Driven): void {
  const newServer = scriptedServers();
  const signers = new Map<string, Signer>();
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await newServer();
    for (const algorithm of ALGORITHMS) {
      const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
      const jwk = { ...(await exportJWK(publicKey)), kid: algorithm, alg: algorithm, use: 'sig' };
      signers.set(algorithm, { privateKey, jwk });
    }
  });

  const options = (more: object = {}) => ({
    issuer: server.url,
    clientId: 'app_1',
    clientSecret: 'cs_1',
    redirectUri,
    retry: { baseDelaySeconds: 0.001 },
    ...more,
  });
  const callback = (parameters: Record<string, string> = {}) =>
    `${redirectUri}?${new URLSearchParams({ code: 'code-1', state: flow.state, iss: server.url, ...parameters })}`;
  const exchange = (more: object = {}, settings: object = {}) =>
    driver.sdk.signOn(options(settings), 'exchangeCode', { callbackUrl: callback(), ...flow, ...more });
  const askedFor = (path: string) => server.asked.filter((asked) => asked.path === path);
  const seconds = () => Math.floor(Date.now() / 1000);

  function idToken(claims: JWTPayload = {}, algorithm = 'RS256', kid = algorithm): Promise<string> {
    const { privateKey } = signers.get(algorithm) as Signer;
    const all = {
      iss: server.url,
      aud: 'app_1',
      iat: seconds(),
      exp: seconds() + 3600,
      nonce: flow.nonce,
      ...identity,
    };
    return new SignJWT({ ...all, ...claims }).setProtectedHeader({ alg: algorithm, kid }).sign(privateKey);
  }

  /** Keys of every kind that there is, one that nobody knows among them. */
  const keySet = () =>
    json({
      keys: [{ kty: 'PQC', kid: 'later' }, ...[...signers.values()].map(({ jwk }) => jwk), 'nonsense'],
    });

  /** Answers by address, whatever comes in which order. */
  function serves(token: Answer): void {
    const keys = keySet();
    server.answers((response, asked) =>
      (asked.path === '/.well-known/jwks.json' ? keys : token)(response, asked),
    );
  }

  describe('the address to send a browser to', () => {
    test('asks for a code, by PKCE, with values that nobody can guess', async () => {
      const { value } = await driver.sdk.signOn(options(), 'authorizationUrl');
      const { value: other } = await driver.sdk.signOn(options(), 'authorizationUrl');
      const { origin, pathname, searchParams } = new URL(value.url);
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(value.codeVerifier));
      expect(origin + pathname).toBe(`${server.url}/auth/authorize`);
      expect(Object.fromEntries(searchParams)).toEqual({
        response_type: 'code',
        client_id: 'app_1',
        redirect_uri: redirectUri,
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
        loginHint: 'a@b.c',
        maxAgeSeconds: 0,
      };
      const { value } = await driver.sdk.signOn(options(), 'authorizationUrl', given);
      expect(Object.fromEntries(new URL(value.url).searchParams)).toMatchObject({
        scope: 'openid',
        state: 's',
        nonce: 'n',
        prompt: 'login',
        login_hint: 'a@b.c',
        max_age: '0',
      });
    });

    test('for signing out has the ID token, and nothing that was not given', async () => {
      const { value } = await driver.sdk.signOn(options(), 'logoutUrl', { idToken: 'x.y.z' });
      expect(value).toBe(`${server.url}/auth/logout?client_id=app_1&id_token_hint=x.y.z`);
    });
  });

  describe('exchanging a code', () => {
    test.each(ALGORITHMS)('gives the tokens and who signed in, verified (%s)', async (algorithm) => {
      serves(json({ ...grant, access_token: 'access-1', id_token: await idToken({ added: 1 }, algorithm) }));
      const { value, error } = await exchange({}, { idTokenAlgorithm: algorithm });
      expect(error).toBeUndefined();
      expect(value).toMatchObject({
        accessToken: 'access-1',
        refreshToken: 'refresh-2',
        expiresInSeconds: 3600,
        scope: 'openid profile email',
        claims: identity,
      });
      expect(JSON.parse(askedFor('/auth/token')[0]?.body ?? '')).toEqual({
        grant_type: 'authorization_code',
        code: 'code-1',
        client_id: 'app_1',
        client_secret: 'cs_1',
        redirect_uri: redirectUri,
        code_verifier: flow.codeVerifier,
      });
    });

    test('takes the path and query that servers have', async () => {
      serves(json({ ...grant, access_token: 'access-1', id_token: await idToken() }));
      const callbackUrl = callback().slice('https://app.example.com'.length);
      expect((await exchange({ callbackUrl })).value).toMatchObject({ claims: { sub: 'acc_1' } });
    });

    test('sends no secret for an application that has none, and wants no ID token without openid', async () => {
      serves(json({ ...grant, scope: 'profile', access_token: 'access-1' }));
      const { value } = await driver.sdk.signOn({ ...options(), clientSecret: undefined }, 'exchangeCode', {
        callbackUrl: callback(),
        ...flow,
      });
      expect(value).toMatchObject({ accessToken: 'access-1', claims: null });
      expect(JSON.parse(askedFor('/auth/token')[0]?.body ?? '')).not.toHaveProperty('client_secret');
    });

    test.each<[string, Answer, object]>([
      ['a lost connection', hangUp, { name: 'ConnectionError' }],
      ['503', page(503), { name: 'OAuthError', error: 'unexpected_response', status: 503 }],
      [
        'invalid_grant',
        json({ error: 'invalid_grant', error_description: 'Used.' }, { 'x-request-id': 'req-3' }, 400),
        { name: 'OAuthError', error: 'invalid_grant', description: 'Used.', status: 400, requestId: 'req-3' },
      ],
      ['an answer that is no JSON', page(200), { name: 'OAuthError', error: 'unexpected_response' }],
    ])('is never tried again: %s', async (_, answer, expected) => {
      server.answers(answer);
      expect((await exchange()).error).toMatchObject(expected);
      expect(server.asked).toHaveLength(1);
    });

    test.each<[string, Record<string, string>, object]>([
      ['the state of another request', { state: 'other' }, { reason: 'state_mismatch' }],
      ['another issuer', { iss: 'https://evil.example.com' }, { reason: 'issuer_mismatch' }],
      ['no code', { code: '' }, { reason: 'callback_malformed' }],
      [
        'an error',
        { error: 'access_denied', error_description: 'No.' },
        { name: 'OAuthError', error: 'access_denied', description: 'No.', status: null },
      ],
    ])('asks nobody when the browser came back with %s', async (_, parameters, expected) => {
      server.answers(json({}));
      const { error } = await exchange({ callbackUrl: callback(parameters) });
      expect(error).toMatchObject({ name: 'SignInError', ...expected });
      expect(server.asked).toHaveLength(0);
    });

    test('asks nobody when a parameter came twice, or nothing is known of a request', async () => {
      server.answers(json({}));
      const twice = await exchange({ callbackUrl: `${callback()}&code=code-2` });
      const never = await exchange({ callbackUrl: callback({ state: '' }), state: '' });
      expect([twice.error?.reason, never.error?.reason]).toEqual(['callback_malformed', 'state_mismatch']);
      expect(server.asked).toHaveLength(0);
    });
  });

  describe('an ID token that does not hold', () => {
    test.each<[string, () => Promise<string>]>([
      ['of another issuer', () => idToken({ iss: 'https://evil.example.com' })],
      ['for another application', () => idToken({ aud: 'app_2' })],
      ['that has expired', () => idToken({ exp: seconds() - 31 })],
      ['that was issued in the future', () => idToken({ iat: seconds() + 300 })],
      ['for nobody', () => idToken({ sub: undefined })],
      ['without an end', () => idToken({ exp: undefined })],
      ['signed with an algorithm that was not agreed on', () => idToken({}, 'ES256')],
      ['signed with a key that is not published', () => idToken({}, 'RS256', 'unknown')],
      ['signed with a key of another kind', () => idToken({}, 'RS256', 'ES256')],
      ['whose claims were changed', async () => forged(await idToken())],
      ['that is not signed', async () => `${encoded({ alg: 'none' })}.${(await idToken()).split('.')[1]}.`],
      ['signed with the published key as a secret', () => confused(signers.get('RS256') as Signer)],
      ['that is none', async () => 'nonsense'],
    ])('is refused: one %s', async (_, make) => {
      serves(json({ ...grant, access_token: 'access-1', id_token: await make() }));
      expect((await exchange()).error).toMatchObject({ name: 'SignInError', reason: 'id_token_invalid' });
      expect(askedFor('/auth/token')).toHaveLength(1);
    });

    test.each<[string, () => Promise<object>, string]>([
      [
        'with the nonce of another request',
        async () => ({ id_token: await idToken({ nonce: 'x' }) }),
        'nonce_mismatch',
      ],
      ['that is missing', async () => ({}), 'id_token_missing'],
    ])('has a reason of its own: one %s', async (_, make, reason) => {
      serves(json({ ...grant, access_token: 'access-1', ...(await make()) }));
      expect((await exchange()).error).toMatchObject({ name: 'SignInError', reason });
    });

    test('a clock that is a little off does not matter', async () => {
      const claims = { exp: seconds() - 5, iat: seconds() + 5 };
      serves(json({ ...grant, access_token: 'access-1', id_token: await idToken(claims) }));
      expect((await exchange()).value).toMatchObject({ claims: { sub: 'acc_1' } });
    });
  });

  describe('refreshing', () => {
    const refresh = (settings: object = {}) =>
      driver.sdk.signOn(options(settings), 'refresh', { refreshToken: 'refresh-1' });
    const tokens = json({ ...grant, access_token: 'access-2' });

    test('says the same again once, after a lost connection', async () => {
      server.answers(hangUp, tokens);
      expect((await refresh()).value).toMatchObject({ accessToken: 'access-2', refreshToken: 'refresh-2' });
      const [first, second] = server.asked.map(({ body }) => JSON.parse(body));
      expect(first).toEqual({
        grant_type: 'refresh_token',
        refresh_token: 'refresh-1',
        client_id: 'app_1',
        client_secret: 'cs_1',
      });
      expect(second).toEqual(first);
    });

    test('and not twice, nor at all where nobody wants retries', async () => {
      server.answers(hangUp);
      expect((await refresh()).error).toMatchObject({ name: 'ConnectionError' });
      expect(server.asked).toHaveLength(2);
      expect((await refresh({ retry: { maxRetries: 0 } })).error).toMatchObject({ name: 'ConnectionError' });
      expect(server.asked).toHaveLength(3);
    });

    test.each<[string, Answer, object]>([
      ['503', page(503), { status: 503 }],
      [
        'invalid_grant',
        json({ error: 'invalid_grant' }, {}, 400),
        { error: 'invalid_grant', description: null },
      ],
    ])('is not tried again after %s', async (_, answer, expected) => {
      server.answers(answer);
      expect((await refresh()).error).toMatchObject({ name: 'OAuthError', ...expected });
      expect(server.asked).toHaveLength(1);
    });
  });

  test('userinfo is tried again, with the token in the header, and bears claims that it does not know', async () => {
    server.answers(page(503), hangUp, json({ ...identity, aud: 'app_1', added: [1] }));
    const { value } = await driver.sdk.signOn(options(), 'userinfo', { accessToken: 'access-1' });
    expect(value).toMatchObject(identity);
    expect(server.asked).toHaveLength(3);
    expect(server.asked[2]?.headers.authorization).toBe('Bearer access-1');
  });

  test('revoking says what and who', async () => {
    server.answers((response) => response.writeHead(200).end());
    expect((await driver.sdk.signOn(options(), 'revoke', { token: 'refresh-1' })).error).toBeUndefined();
    expect(JSON.parse(server.asked[0]?.body ?? '')).toMatchObject({
      token: 'refresh-1',
      client_id: 'app_1',
      client_secret: 'cs_1',
    });
  });
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function forged(token: string): string {
  const [header, payload = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return `${header}.${encoded({ ...claims, sub: 'acc_2' })}.${signature}`;
}

/** A token for who lets the token say how it is to be verified. */
function confused({ jwk }: Signer): Promise<string> {
  return new SignJWT(identity)
    .setProtectedHeader({ alg: 'HS256', kid: 'RS256' })
    .sign(new TextEncoder().encode(JSON.stringify(jwk)));
}
