import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { expectOAuthError } from '../refusals.js';
import { formPost, type SignOnServer, startSignOn } from '../server.js';
import { aToken, publishing, verified } from './access-tokens.js';
import { CLIENT_ID, describeClient, SECRET } from './client-suite.js';

const REFRESH_TOKEN = 'I9wZ0c4u0lqJjsALydoAtsqwBTX9Vin70--FWYMerTZrWvAbO8TgysZHP04IYCSdhcyRP5Ucu00t';

describeClient({
  operationId: 'revoke',
  statuses: [200, 400, 401, 405, 408, 413, 415, 429, 500, 503],
  path: '/auth/revoke',
  method: 'revokeToken',
  fields: { token: REFRESH_TOKEN, token_type_hint: 'refresh_token' },
  answer: {},
  refusals: [
    ErrorCode.INVALID_REQUEST,
    ErrorCode.INVALID_CLIENT,
    ErrorCode.UNAUTHORIZED_CLIENT,
    ErrorCode.INVALID_GRANT,
    ErrorCode.UNSUPPORTED_TOKEN_TYPE,
  ],
  unproven: 400,
  foreign: ErrorCode.INVALID_SCOPE,
});

describe('the token', () => {
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  const revoke = async (token: string, hint = '') => {
    server.program({ ...publishing, revokeToken: async () => ({}) });
    const fields = { client_id: CLIENT_ID, client_secret: SECRET, token, token_type_hint: hint };
    const answer = await server.ask('revoke', '/auth/revoke', formPost(fields));
    const { request } = server.asked.find(({ method }) => method === 'revokeToken') ?? {};
    return { answer, token: request?.token };
  };

  test.each(['', 'access_token', 'refresh_token', 'nonsense'])(
    'is told by its form, whatever the hint %j says, and 200 is JSON without members',
    async (hint) => {
      const refresh = await revoke(REFRESH_TOKEN, hint);
      expect(refresh.token).toEqual({ $case: 'refreshToken', value: REFRESH_TOKEN });
      const access = await revoke(await aToken(), hint);
      expect(access.token).toEqual({ $case: 'accessToken', value: verified });
      expect([access.answer.status, access.answer.body]).toEqual([200, '{}']);
      expect(access.answer.headers['content-type']).toBe('application/json');
    },
  );

  test.each([
    ['an expired access token', () => aToken({ exp: 1_700_000_000 })],
    ['an access token of another issuer', () => aToken({ iss: 'https://other.example.com' })],
    ['an access token that was changed', async () => `${(await aToken()).slice(0, -4)}AAAA`],
    ['an ID token of another issuer', () => aToken({ iss: 'https://other.example.com' }, 'JWT')],
    ['a text', async () => 'no token at all'],
    ['too short a text', async () => 'x'],
  ])('%s has ended already: the domain still learns who asks, and the answer is 200', async (_, make) => {
    const { answer, token } = await revoke(await make());
    expect([answer.status, token]).toEqual([200, undefined]);
    expect(server.asked.at(-1)?.method).toBe('revokeToken');
  });

  test('an ID token is refused, once the domain knows who asks', async () => {
    const { answer } = await revoke(await aToken({}, 'JWT'));
    expectOAuthError(answer, 400, 'unsupported_token_type', 'An ID token cannot be revoked.');
    expect(server.asked.at(-1)?.method).toBe('revokeToken');
  });
});
