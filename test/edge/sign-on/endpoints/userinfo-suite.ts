import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import type { Question } from '../../../support/http-exchange.js';
import { expectOAuthError, testStatuses } from '../refusals.js';
import { type SignOnServer, startSignOn } from '../server.js';
import { aToken, publishing, verified } from './access-tokens.js';
import { basic } from './client-suite.js';

const PATH = '/auth/userinfo';

const always = {
  sub: 'acc_EUgY3HzXMd8Ka4yIM4g5UF',
  aud: 'app_GRiNdE2svJ6Uj1h5qWVsYI',
  workerProfileId: 'wpf_Q25xTh8zHAjHa1xEtxDPHH',
  userIds: [{ id: 'usr_gFiehBZq2w3xGplpfT04em', clientId: 'cli_x9sS1bFSklla6YZ7pnS811' }],
  workerIds: [{ id: 'wrk_XpZULrxsmgbr9ckuW61v4o', clientId: 'cli_xNL3k5MFYkU0K3ppS8ZsJC' }],
};
const context = { userType: UserType.USER, clientId: 'cli_x9sS1bFSklla6YZ7pnS811' };
const shownContext = { ...context, userType: 'USER' };
const named = { name: 'Maria Keller', firstName: 'Maria', lastName: 'Keller', email: 'maria@example.com' };
const standardNames = { given_name: 'Maria', family_name: 'Keller' };

/** Userinfo by GET and by POST, alike but for the form. */
export function describeUserinfo(
  operationId: string,
  verb: 'GET' | 'POST',
  statuses: readonly number[],
): void {
  let server: SignOnServer;
  let token: string;
  let claims: object;

  beforeAll(async () => {
    server = await startSignOn();
    token = await aToken();
  });

  beforeEach(() => {
    claims = { ...always, lastLoginContext: context };
    server.program({ ...publishing, getUserinfo: async () => ({ claims: claims as never }) });
  });

  afterAll(() => server.stop());

  const ask = (headers: Question['headers'], query = '') =>
    server.ask(operationId, PATH + query, { method: verb, headers });
  const bearer = (value = token) => ({ authorization: `Bearer ${value}` });
  const challenge = (error: string, said: string, more = '') =>
    `Bearer realm="sign-on", error="${error}", error_description="${said}"${more}`;
  const refusedBy = (error: Error) => {
    const getUserinfo = async () => {
      throw error;
    };
    server.program({ ...publishing, getUserinfo });
    return ask(bearer());
  };
  const questions = () => server.asked.filter(({ method }) => method === 'getUserinfo');

  describe('200', () => {
    test('the domain is asked with what the token says, and never the token', async () => {
      await ask({ authorization: `bearer  ${token}` });
      expect(questions()).toEqual([{ method: 'getUserinfo', request: { accessToken: verified } }]);
    });

    test('claims come under their names in the contract', async () => {
      claims = { ...claims, ...named, emailVerified: false };
      const answer = await ask(bearer());
      const shown = {
        ...always,
        ...named,
        ...standardNames,
        email_verified: false,
        lastLoginContext: shownContext,
      };
      expect(JSON.parse(answer.body)).toEqual(shown);
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'access-control-allow-origin': '*',
      });
    });

    test('claims that are not shown are absent, not null', async () => {
      const empty = { ...always, userIds: [], workerIds: [] };
      claims = { ...empty, lastLoginContext: { ...context, userType: UserType.WORKER } };
      const shown = { ...empty, lastLoginContext: { ...context, userType: 'WORKER' } };
      expect(JSON.parse((await ask(bearer())).body)).toEqual(shown);
    });
  });

  describe('400', () => {
    test.each(['access_token', 'token'])('a %s in the address is refused', async (name) => {
      const answer = await ask(bearer(), `?${name}=${token}`);
      expectOAuthError(answer, 400, 'invalid_request', 'does not belong in the address');
      expect(answer.headers['www-authenticate']).toMatch(
        /^Bearer realm="sign-on", error="invalid_request", /,
      );
    });

    test.each([
      ['nothing behind its scheme', 'Bearer'],
      ['two tokens', 'Bearer a.b.c, Bearer d.e.f'],
      ['a token with a space', 'Bearer a b'],
      ['a quoted token', 'Bearer "a.b.c"'],
    ])('a header with %s is refused', async (_, authorization) => {
      expectOAuthError(
        await ask({ authorization }),
        400,
        'invalid_request',
        'does not hold one access token',
      );
    });

    test('two headers are refused', async () => {
      const { authorization } = bearer();
      expectOAuthError(await ask({ authorization: [authorization, authorization] }), 400, 'invalid_request');
    });
  });

  describe('401', () => {
    test.each<[string, Record<string, string>]>([
      ['nothing', {}],
      ['a secret of an application', basic('app', 'secret')],
    ])('who sends %s is told how to ask, without an error of the token', async (_, headers) => {
      const answer = await ask(headers);
      expectOAuthError(answer, 401, 'invalid_token', 'Send the access token');
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="sign-on"');
    });

    test.each<[string, () => Promise<string>]>([
      ['an expired token', () => aToken({ exp: 1_700_000_000 })],
      ['a token of the other environment', () => aToken({ iss: 'https://sign-on.demo.example.com' })],
      ['a token for another audience', () => aToken({ aud: 'https://other.example.com' })],
      ['an ID token', () => aToken({}, 'JWT')],
      ['a token that was changed', async () => `${token.slice(0, -4)}AAAA`],
      [
        'a token that is not signed',
        async () => `eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0.${token.split('.')[1]}.`,
      ],
      ['a text', async () => 'abc'],
    ])('%s is refused before the domain is asked', async (_, make) => {
      const answer = await ask(bearer(await make()));
      const said = 'The access token is invalid or expired.';
      expectOAuthError(answer, 401, 'invalid_token', said);
      expect(answer.headers['www-authenticate']).toBe(challenge('invalid_token', said));
      expect(questions()).toEqual([]);
    });

    test('one that the domain refuses is told in its words', async () => {
      const answer = await refusedBy(new ServiceError(ErrorCode.INVALID_TOKEN, 'It was "revoked".'));
      expectOAuthError(answer, 401, 'invalid_token', "It was 'revoked'.");
      expect(answer.headers['www-authenticate']).toBe(challenge('invalid_token', "It was 'revoked'."));
    });
  });

  test('403: without openid the scope is named', async () => {
    const answer = await refusedBy(new ServiceError(ErrorCode.INSUFFICIENT_SCOPE, 'Lacks openid.'));
    expectOAuthError(answer, 403, 'insufficient_scope', 'Lacks openid.');
    const scope = ', scope="openid"';
    expect(answer.headers['www-authenticate']).toBe(challenge('insufficient_scope', 'Lacks openid.', scope));
  });

  test.each(['HEAD', 'PUT', 'DELETE'])('405: %s gets the methods of the path', async (method) => {
    const answer = await server.ask(operationId, PATH, { method, headers: bearer() });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, POST, OPTIONS']);
  });

  test('429: too many requests gets the time to wait', async () => {
    const answer = await refusedBy(new ServiceError(ErrorCode.RATE_LIMITED, 'No.', { retryAfterSeconds: 9 }));
    expectOAuthError(answer, 429, 'temporarily_unavailable');
    expect(answer.headers['retry-after']).toBe('9');
  });

  test('500: a fault of the domain discloses nothing, and has no claims', async () => {
    expectOAuthError(await refusedBy(new Error('canary')), 500, 'server_error');
    expectOAuthError(
      await refusedBy(new ServiceError(ErrorCode.INVALID_GRANT, 'canary')),
      500,
      'server_error',
    );
    claims = undefined as never;
    server.program({ ...publishing, getUserinfo: async () => ({ claims: undefined }) });
    expectOAuthError(await ask(bearer()), 500, 'server_error');
  });

  test('503: an unavailable domain is reported', async () => {
    const answer = await refusedBy(
      new ServiceError(ErrorCode.UNAVAILABLE, 'Busy.', { retryAfterSeconds: 2 }),
    );
    expectOAuthError(answer, 503, 'temporarily_unavailable');
    expect(answer.headers['retry-after']).toBe('2');
  });

  testStatuses(operationId, statuses);
}
