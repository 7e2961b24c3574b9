import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  InteractionPage,
  PasswordProblem,
} from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { formPost, type SignOnServer, startSignOn } from '../server.js';
import { describeForm } from './form-suite.js';
import { LINK_TOKEN } from './page-suite.js';

const fields = { token: LINK_TOKEN, password: ' correct horse ' };

describeForm({
  operationId: 'changeEmail',
  statuses: [303, 400, 405, 408, 413, 415, 429, 500, 503],
  path: '/auth/change-email',
  method: 'redeemEmailChangeLink',
  fields,
  askedWith: { linkTokenHash: hashSecret(LINK_TOKEN), password: ' correct horse ' },
  backUrl: `/auth/change-email?token=${LINK_TOKEN}`,
  unfit: [['a token of another alphabet', { token: `${LINK_TOKEN}!` }]],
});

let server: SignOnServer;

beforeAll(async () => {
  server = await startSignOn();
});

afterAll(() => server.stop());

test.each([
  [
    InteractionPage.CHANGE_EMAIL,
    PasswordProblem.WRONG,
    `/auth/change-email?token=${LINK_TOKEN}&problem=wrong`,
  ],
  [InteractionPage.EMAIL_CHANGED, undefined, '/auth/email-changed'],
])('%s, with the problem %s, is at %s', async (page, problem, location) => {
  const value = { page, interaction: '', problem, entrances: [] };
  server.program({
    redeemEmailChangeLink: async () => ({ step: { result: { $case: 'nextPage', value } } }),
  });
  const answer = await server.ask('changeEmail', '/auth/change-email', formPost(fields));
  expect(answer.headers.location).toBe(location);
});
