import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { expectOAuthError } from '../refusals.js';
import { formPost, type SignOnServer, startSignOn } from '../server.js';
import { aToken, publishing, verified } from './access-tokens.js';
import { testBodies } from './body-suite.js';
import { describeUserinfo } from './userinfo-suite.js';

describeUserinfo('userinfoPost', 'POST', [200, 400, 401, 403, 405, 408, 413, 415, 429, 500, 503]);

describe('the access token in the form', () => {
  const token = aToken();
  const context = { userType: UserType.USER, clientId: 'cli_x9sS1bFSklla6YZ7pnS811' };
  const claims = {
    sub: 'acc_EUgY3HzXMd8Ka4yIM4g5UF',
    aud: 'app_GRiNdE2svJ6Uj1h5qWVsYI',
    workerProfileId: 'wpf_Q25xTh8zHAjHa1xEtxDPHH',
    userIds: [],
    workerIds: [],
    lastLoginContext: context,
  };
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  const post = (fields: Record<string, string | string[]>, headers = {}) => {
    server.program({ ...publishing, getUserinfo: async () => ({ claims }) });
    return server.ask('userinfoPost', '/auth/userinfo', formPost(fields, headers));
  };

  test('200: is as good as in the header', async () => {
    expect((await post({ access_token: await token, unknown: 'x' })).status).toBe(200);
    expect(server.asked.at(-1)?.request).toEqual({ accessToken: verified });
  });

  test('200: an empty one does not count beside the header', async () => {
    const headers = { authorization: `Bearer ${await token}` };
    expect((await post({ access_token: '' }, headers)).status).toBe(200);
  });

  test('200: beside the header, an empty form that comes in chunks needs no type', async () => {
    const headers = { authorization: `Bearer ${await token}`, 'transfer-encoding': 'chunked' };
    expect((await post({}, { ...headers, 'content-type': undefined })).status).toBe(200);
  });

  test('400: in two places, or twice in one, it is refused', async () => {
    const [one, headers] = [await token, { authorization: `Bearer ${await token}` }];
    expectOAuthError(await post({ access_token: one }, headers), 400, 'invalid_request', 'in one place');
    expectOAuthError(await post({ access_token: [one, one] }), 400, 'invalid_request', 'more than once');
  });

  test('401: a form without it gets the challenge that says how to authenticate', async () => {
    const answer = await post({ other: 'x' });
    expectOAuthError(answer, 401, 'invalid_token');
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="sign-on"');
  });

  const body = { operationId: 'userinfoPost', path: '/auth/userinfo', takes: 'form' } as const;
  testBodies({ ...body, question: formPost({ access_token: 'x' }) }, () => server);
});
