import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { InteractionPage } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { formPost, type SignOnServer, startSignOn } from '../server.js';
import { describeForm } from './form-suite.js';
import { CSRF_TOKEN, INTERACTION } from './page-suite.js';

const PASSWORD = ' pässword & 100%+= 🔑 ';

describeForm({
  operationId: 'signIn',
  statuses: [200, 303, 400, 405, 408, 413, 415, 429, 500, 503],
  path: '/auth/sign-in',
  method: 'signIn',
  fields: {
    interaction: INTERACTION,
    csrf_token: CSRF_TOKEN,
    email: 'Märia@Example.com ',
    password: PASSWORD,
  },
  askedWith: {
    interaction: INTERACTION,
    csrfToken: CSRF_TOKEN,
    email: 'Märia@Example.com ',
    password: PASSWORD,
  },
  backUrl: `/auth/sign-in?interaction=${INTERACTION}`,
  unfit: [
    ['an interaction that is none', { interaction: 'x' }],
    ['an interaction with a line break at its end', { interaction: `${INTERACTION}\n` }],
    ['a CSRF token that is none', { csrf_token: '' }],
    ['a NUL in the email', { email: 'm\0@example.com' }],
    ['a NUL in the password', { password: 'pass\0word' }],
  ],
});

let server: SignOnServer;
beforeAll(async () => {
  server = await startSignOn();
});
afterAll(() => server.stop());

test('an email of 60,000 characters comes back to the page as a refused one does', async () => {
  const asked: string[] = [];
  server.program({
    signIn: async ({ email }) => {
      asked.push(email);
      const value = { page: InteractionPage.SIGN_IN, interaction: INTERACTION, entrances: [] };
      return { step: { result: { $case: 'nextPage', value } } };
    },
  });
  const email = 'x'.repeat(60_000);
  const fields = { interaction: INTERACTION, csrf_token: CSRF_TOKEN, email, password: PASSWORD };
  const { status } = await server.ask('signIn', '/auth/sign-in', formPost(fields));
  expect(status).toBe(303);
  expect(asked).toEqual([email]);
});
