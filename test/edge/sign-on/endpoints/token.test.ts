import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { formPost, jsonPost, type SignOnServer, startSignOn } from '../server.js';
import { aToken } from './access-tokens.js';
import { CLIENT_ID, describeClient, SECRET } from './client-suite.js';

const codeGrant = {
  grant_type: 'authorization_code',
  code: 'kTmAy0IngJVyw9QKvhdKQPU__LhboUjX8ItW9fJA0jQ',
  redirect_uri: 'https://app.example.com/callback',
};
const accessToken = await aToken();
const answer = { accessToken, expiresInSeconds: 3_600, scope: 'openid' };

describeClient({
  operationId: 'token',
  statuses: [200, 400, 401, 405, 408, 413, 415, 429, 500, 503],
  path: '/auth/token',
  method: 'issueTokens',
  fields: codeGrant,
  answer,
  refusals: [
    ErrorCode.INVALID_REQUEST,
    ErrorCode.INVALID_CLIENT,
    ErrorCode.INVALID_GRANT,
    ErrorCode.UNAUTHORIZED_CLIENT,
    ErrorCode.UNSUPPORTED_GRANT_TYPE,
    ErrorCode.INVALID_SCOPE,
  ],
  unproven: 400,
  foreign: ErrorCode.UNSUPPORTED_TOKEN_TYPE,
});

describe('200', () => {
  const client = { client_id: CLIENT_ID, client_secret: SECRET };
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  const grantOf = async (fields: Record<string, string>) => {
    server.program({ issueTokens: async () => answer });
    await server.ask('token', '/auth/token', formPost({ ...client, ...fields }));
    return server.asked[0]?.request.grant;
  };

  test('a code is asked about by its hash', async () => {
    const code = { codeHash: hashSecret(codeGrant.code), redirectUri: codeGrant.redirect_uri };
    expect(await grantOf(codeGrant)).toEqual({
      $case: 'authorizationCode',
      value: { ...code, codeVerifier: undefined },
    });
    const codeVerifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    expect(await grantOf({ ...codeGrant, code_verifier: codeVerifier })).toEqual({
      $case: 'authorizationCode',
      value: { ...code, codeVerifier },
    });
  });

  test('a refresh token continues as it is, with the scopes that are wanted', async () => {
    const fields = { grant_type: 'refresh_token', refresh_token: 'r-1' };
    const value = { refreshToken: 'r-1', scope: undefined };
    expect(await grantOf(fields)).toEqual({ $case: 'refreshToken', value });
    expect(await grantOf({ ...fields, scope: 'openid email' })).toEqual({
      $case: 'refreshToken',
      value: { ...value, scope: 'openid email' },
    });
  });

  test.each(['client_credentials', 'password', 'urn:ietf:params:oauth:grant-type:device_code', '__proto__'])(
    'the grant %s is left to the domain to refuse, which knows by then who asks',
    async (grantType) => {
      expect(await grantOf({ grant_type: grantType })).toBeUndefined();
    },
  );

  test('the tokens come under the names of OAuth, those that are not given left out', async () => {
    const all = { ...answer, refreshToken: 'r-2', idToken: await aToken({}, 'JWT') };
    const tokens = { access_token: accessToken, token_type: 'Bearer', expires_in: 3_600, scope: 'openid' };
    for (const [given, body] of [
      [answer, tokens],
      [all, { ...tokens, refresh_token: 'r-2', id_token: all.idToken }],
    ] as const) {
      server.program({ issueTokens: async () => given });
      const got = await server.ask('token', '/auth/token', jsonPost({ ...client, ...codeGrant }));
      expect(JSON.parse(got.body)).toEqual(body);
      expect(got.headers).toMatchObject({
        'content-type': 'application/json',
        'cache-control': 'no-store',
        pragma: 'no-cache',
        'access-control-allow-origin': '*',
      });
    }
    expect(server.text()).not.toContain(accessToken.slice(-20));
  });
});
