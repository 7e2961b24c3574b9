import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { InteractionPage } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { formPost, type SignOnServer, startSignOn } from '../server.js';
import { describeForm } from './form-suite.js';
import { CSRF_TOKEN, INTERACTION } from './page-suite.js';

const fields = { interaction: INTERACTION, csrf_token: CSRF_TOKEN };

describeForm({
  operationId: 'signOut',
  statuses: [303, 400, 405, 408, 413, 415, 429, 500, 503],
  path: '/auth/sign-out',
  method: 'confirmLogout',
  fields,
  askedWith: { interaction: INTERACTION, csrfToken: CSRF_TOKEN },
  unfit: [['an interaction that is none', { interaction: 'cuFEEZ-nt-JWY2Ao6w4J4g/..' }]],
});

let server: SignOnServer;

beforeAll(async () => {
  server = await startSignOn();
});

afterAll(() => server.stop());

test('the cookie is removed with the session', async () => {
  const value = { page: InteractionPage.SIGNED_OUT, interaction: '', entrances: [] };
  const step = {
    result: { $case: 'nextPage' as const, value },
    sessionCookie: { change: { $case: 'clear' as const, value: true } },
  };
  server.program({ confirmLogout: async () => ({ step }) });
  const { headers } = await server.ask('signOut', '/auth/sign-out', formPost(fields));
  expect(headers['set-cookie']).toEqual([
    '__Host-integration_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
  ]);
});
