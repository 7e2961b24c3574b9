import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { expectOAuthError } from '../refusals.js';
import { formPost, SIGN_ON_URL, type SignOnMethods, type SignOnServer, startSignOn } from '../server.js';
import { aToken, publishing, verified } from './access-tokens.js';
import { CLIENT_ID, describeClient, SECRET } from './client-suite.js';

const REFRESH_TOKEN = 'I9wZ0c4u0lqJjsALydoAtsqwBTX9Vin70--FWYMerTZrWvAbO8TgysZHP04IYCSdhcyRP5Ucu00t';

describeClient({
  operationId: 'introspect',
  statuses: [200, 400, 401, 405, 408, 413, 415, 429, 500, 503],
  path: '/auth/introspect',
  method: 'introspectToken',
  fields: { token: REFRESH_TOKEN, token_type_hint: 'refresh_token' },
  answer: { active: false },
  refusals: [ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_CLIENT, ErrorCode.UNAUTHORIZED_CLIENT],
  unproven: 401,
  foreign: ErrorCode.INVALID_GRANT,
});

describe('200', () => {
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  const introspect = async (token: string, introspectToken: SignOnMethods['introspectToken']) => {
    server.program({ ...publishing, introspectToken });
    const fields = { client_id: CLIENT_ID, client_secret: SECRET, token };
    return server.ask('introspect', '/auth/introspect', formPost(fields));
  };
  const { clientId, accountId: sub, scope, issuedAt, expiresAt, tokenId } = verified;
  const active = { scope, clientId, sub, issuedAt, expiresAt };
  const shown = {
    active: true,
    scope,
    client_id: clientId,
    sub,
    iss: SIGN_ON_URL,
    iat: issuedAt.getTime() / 1_000,
    exp: expiresAt.getTime() / 1_000,
  };

  test('a valid access token is described with its id and its audience', async () => {
    const answer = await introspect(await aToken(), async () => ({
      active: true,
      token: { ...active, tokenId },
    }));
    expect(JSON.parse(answer.body)).toEqual({
      ...shown,
      token_type: 'Bearer',
      aud: SIGN_ON_URL,
      jti: tokenId,
    });
    expect(server.asked.at(-1)?.request.token).toEqual({ $case: 'accessToken', value: verified });
  });

  test('a valid refresh token is described without the members of access tokens', async () => {
    const answer = await introspect(REFRESH_TOKEN, async () => ({ active: true, token: active }));
    expect(JSON.parse(answer.body)).toEqual(shown);
    expect(server.asked.at(-1)?.request.token).toEqual({ $case: 'refreshToken', value: REFRESH_TOKEN });
  });

  test('any other token is only reported as inactive, whatever the domain returns', async () => {
    const answer = await introspect(REFRESH_TOKEN, async () => ({ active: false, token: active }));
    expect(JSON.parse(answer.body)).toEqual({ active: false });
  });

  test.each([
    ['an expired access token', () => aToken({ exp: 1_700_000_000 })],
    ['an ID token', () => aToken({}, 'JWT')],
    ['a text', async () => 'no token at all'],
  ])('%s is asked about as none', async (_, make) => {
    const answer = await introspect(await make(), async () => ({ active: false }));
    expect(JSON.parse(answer.body)).toEqual({ active: false });
    expect(server.asked.at(-1)?.request.token).toBeUndefined();
  });

  test('an active token without its kind is an internal error', async () => {
    expectOAuthError(await introspect(REFRESH_TOKEN, async () => ({ active: true })), 500, 'server_error');
  });

  test('scripts of other origins may not read the answer', async () => {
    const { headers } = await introspect(REFRESH_TOKEN, async () => ({ active: false }));
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });
});
