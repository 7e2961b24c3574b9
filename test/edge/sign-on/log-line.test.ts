import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { InteractionPage } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { newClientSecret } from '../../../src/identifiers/client-secret.js';
import type { Question } from '../../support/http-exchange.js';
import { aToken, publishing } from './endpoints/access-tokens.js';
import { basic, CLIENT_ID } from './endpoints/client-suite.js';
import { COOKIE, CSRF_TOKEN, INTERACTION, LINK_TOKEN } from './pages/page-suite.js';
import { formPost, type SignOnServer, startSignOn } from './server.js';

const CANARY = 'canary7Gq';
const FRESH = 'bmV3dmFsdWVuZXd2YWx1ZW5ld3ZhbHVlbmV3dmFsdWU';
const SECRET = newClientSecret('live');
const tokens = { accessToken: await aToken(), expiresInSeconds: 1, scope: 'openid', refreshToken: CANARY };

let server: SignOnServer;
let count = 0;

beforeAll(async () => {
  server = await startSignOn();
  const step = {
    result: { $case: 'redirect' as const, value: { location: `https://app.example.com/?code=${CANARY}` } },
    sessionCookie: { change: { $case: 'setValue' as const, value: FRESH } },
  };
  const page = { page: InteractionPage.SET_PASSWORD, interaction: '', entrances: [] };
  server.program({
    ...publishing,
    authorize: async () => ({ step }),
    signIn: async () => ({ step }),
    redeemPasswordLink: async () => ({ step: { result: { $case: 'nextPage', value: page } } }),
    issueTokens: async () => tokens,
    revokeToken: async () => ({}),
  });
});

afterAll(() => server.stop());

/** All that a request left in the log, up to its own line. */
async function linesOf(target: string, question: Question) {
  count += 1;
  const id = `logged-${count}`;
  const headers = { ...question.headers, 'x-request-id': id };
  await server.askAnything(target, { ...question, headers });
  await server.nextLine(({ requestId, msg }) => requestId === id && msg === 'request');
  return server.lines().filter(({ requestId }) => requestId === id);
}

describe('no secret that is sent or given is in the log', () => {
  const code = {
    grant_type: 'authorization_code',
    code: CANARY,
    redirect_uri: `https://a.example.com/${CANARY}`,
  };
  const client = { client_id: CLIENT_ID, client_secret: SECRET };
  const form = { interaction: INTERACTION, csrf_token: CSRF_TOKEN, email: `${CANARY}@example.com` };

  test.each<[string, string, Question, number]>([
    ['a state', `/auth/authorize?state=${CANARY}`, { headers: { cookie: COOKIE } }, 303],
    ['a password', '/auth/sign-in', formPost({ ...form, password: CANARY }, { cookie: COOKIE }), 303],
    [
      'a form from elsewhere',
      '/auth/sign-in',
      formPost({ ...form, password: CANARY }, { origin: CANARY }),
      400,
    ],
    ['a link', '/auth/set-password', formPost({ token: LINK_TOKEN, password: CANARY }), 303],
    ['a link in an address', `/auth/set-password?token=${LINK_TOKEN}`, {}, 500],
    ['a code', '/auth/token', formPost({ ...code, ...client }), 200],
    ['a secret in the header', '/auth/token', formPost(code, basic(CLIENT_ID, SECRET)), 200],
    ['a secret in the address', `/auth/token?client_secret=${SECRET}`, formPost(code), 400],
    ['a secret for an id', '/auth/token', formPost({ ...code, client_id: SECRET }), 200],
    ['a refresh token', '/auth/revoke', formPost({ ...client, token: `${CANARY}-canary7Gq` }), 200],
    ['an access token in the address', `/auth/userinfo?access_token=${tokens.accessToken}`, {}, 400],
    ['the name of a field', '/auth/token', formPost({ [CANARY]: 'x', ...client }), 400],
  ])('%s', async (_, target, question, status) => {
    const lines = await linesOf(target, question);
    expect(lines.at(-1)).toMatchObject({ msg: 'request', api: 'sign-on', status });
    const text = JSON.stringify(lines);
    const secrets = [CANARY, SECRET.slice(8), INTERACTION, CSRF_TOKEN, LINK_TOKEN, FRESH, COOKIE.slice(-30)];
    for (const secret of [...secrets, tokens.accessToken.slice(-30)]) {
      expect(text).not.toContain(secret);
    }
  });
});

test('a line names the application, once its id has the shape of one', async () => {
  const known = await linesOf('/auth/revoke', formPost({ client_id: CLIENT_ID, token: 'x' }));
  expect(known.at(-1)).toMatchObject({ operation: 'revoke', applicationId: CLIENT_ID });
  const hostile = await linesOf('/auth/revoke', formPost({ client_id: `${CLIENT_ID}"`, token: 'x' }));
  expect(hostile.at(-1)).not.toHaveProperty('applicationId');
});
