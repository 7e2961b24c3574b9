import { describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { apps, demoEnvironment } from './demo-environment.js';
import { refusalOf } from './relying-party.js';

const environment = demoEnvironment();

async function signedIn() {
  const { demo } = environment;
  const party = await demo.party(apps.portal);
  const tried = await party.tryToSignIn(demo.browser(), demo.demoPerson('user'));
  const tokens = await party.exchange(tried);
  return { demo, party, tried, tokens, subject: tokens.claims()?.sub ?? '' };
}

describe('the basic plan: tokens and userinfo', () => {
  test.each([
    ['oidcc-userinfo-get', (token: string) => ({ headers: { authorization: `Bearer ${token}` } })],
    [
      'oidcc-userinfo-post-header',
      (token: string) => ({ method: 'POST', headers: { authorization: `Bearer ${token}` } }),
    ],
    [
      'oidcc-userinfo-post-body',
      (token: string) => ({ method: 'POST', body: new URLSearchParams({ access_token: token }) }),
    ],
  ])('%s: the claims of the person come back', async (_, request: (token: string) => RequestInit) => {
    const { party, tokens, subject } = await signedIn();
    const address = party.config.serverMetadata().userinfo_endpoint as string;
    const response = await fetch(address, request(tokens.access_token));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toMatchObject({ sub: subject });
  });

  test.each([
    ['oidcc-server-client-secret-post', apps.portal, 'post'],
    ['oidcc-server (client_secret_basic)', apps.portal, 'basic'],
  ] as const)('%s: the application proves itself so', async (_, name, authentication) => {
    const { demo } = environment;
    const party = await demo.party(name, { authentication });
    const tokens = await party.signIn(demo.browser(), demo.demoPerson('user'));
    expect(tokens.claims()?.aud).toBe(party.application.clientId);
  });

  test('oidcc-codereuse: a code is good once, and its second use ends what the first one gave', async () => {
    const { party, tried, tokens, subject } = await signedIn();
    expect(await refusalOf(party.exchange(tried))).toBe('invalid_grant');
    const userinfo = client.fetchUserInfo(party.config, tokens.access_token, subject);
    expect(await refusalOf(userinfo)).toBe('invalid_token');
    const refresh = client.refreshTokenGrant(party.config, tokens.refresh_token as string);
    expect(await refusalOf(refresh)).toBe('invalid_grant');
  });

  test('oidcc-codereuse-30seconds: so it is half a minute later', async () => {
    const { demo, party, tried, tokens, subject } = await signedIn();
    demo.age('update authorization_codes set issued_at = issued_at - 30000, expires_at = expires_at - 30000');
    demo.age('update grants set rotated_at = rotated_at - 30000');
    expect(await refusalOf(party.exchange(tried))).toBe('invalid_grant');
    const userinfo = client.fetchUserInfo(party.config, tokens.access_token, subject);
    expect(await refusalOf(userinfo)).toBe('invalid_token');
  });

  test('oidcc-refresh-token: it gives new tokens for the same person and application', async () => {
    const { party, tokens, subject } = await signedIn();
    const refreshed = await client.refreshTokenGrant(party.config, tokens.refresh_token as string);
    expect(refreshed.access_token).not.toBe(tokens.access_token);
    const userinfo = await client.fetchUserInfo(party.config, refreshed.access_token, subject);
    expect(userinfo.sub).toBe(subject);
  });

  test('oidcc-refresh-token: another application can do nothing with it, and does it no harm', async () => {
    const { demo, party, tokens } = await signedIn();
    const other = await demo.party(apps.shiftwise);
    const refreshToken = tokens.refresh_token as string;
    expect(await refusalOf(client.refreshTokenGrant(other.config, refreshToken))).toBe('invalid_grant');
    const refreshed = await client.refreshTokenGrant(party.config, refreshToken);
    expect(refreshed.refresh_token).toBeDefined();
  });

  test('oidcc-server: the answers of the token endpoint are not stored anywhere', async () => {
    const { demo } = environment;
    const party = await demo.party(apps.mobile);
    const { returned, kept } = await party.tryToSignIn(demo.browser(), demo.demoPerson('user'));
    const response = await fetch(party.config.serverMetadata().token_endpoint as string, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: returned.searchParams.get('code') ?? '',
        redirect_uri: party.redirectUri,
        client_id: party.application.clientId,
        code_verifier: kept.pkceCodeVerifier,
      }),
    });
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await response.json()).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
  });
});

describe('the config plan', () => {
  test('oidcc-discovery-endpoint-verification: the document says what a client must know', async () => {
    const { demo } = environment;
    const response = await fetch(`${demo.url}/.well-known/openid-configuration`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    const document = (await response.json()) as Record<string, string>;
    const endpoints = Object.entries(document).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name));
    expect(endpoints.map(([name]) => name).sort()).toEqual([
      'authorization_endpoint',
      'end_session_endpoint',
      'introspection_endpoint',
      'jwks_uri',
      'revocation_endpoint',
      'token_endpoint',
      'userinfo_endpoint',
    ]);
    expect(endpoints.filter(([, address]) => !address.startsWith(`${demo.url}/`))).toEqual([]);
    expect(document).toMatchObject({
      issuer: demo.url,
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'form_post'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: expect.arrayContaining(['RS256', 'ES256', 'EdDSA']),
      token_endpoint_auth_methods_supported: expect.arrayContaining([
        'client_secret_basic',
        'client_secret_post',
      ]),
      code_challenge_methods_supported: ['S256'],
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      claims_parameter_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
  });

  test('oidcc-discovery-endpoint-verification: the key set has public keys only, each with an id and a use', async () => {
    const { demo } = environment;
    const { keys } = (await (await fetch(`${demo.url}/.well-known/jwks.json`)).json()) as {
      keys: Record<string, string>[];
    };
    expect(keys.map(({ alg }) => alg).sort()).toEqual(['ES256', 'EdDSA', 'RS256']);
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
    expect(keys.every(({ use, kid }) => use === 'sig' && kid !== undefined)).toBe(true);
    const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
    expect(keys.flatMap((key) => Object.keys(key).filter((name) => secretMembers.includes(name)))).toEqual(
      [],
    );
  });
});
