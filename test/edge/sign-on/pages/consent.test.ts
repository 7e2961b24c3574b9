import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { InteractionPage } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { formPost, type SignOnServer, startSignOn } from '../server.js';
import { describeForm } from './form-suite.js';
import { CSRF_TOKEN, INTERACTION } from './page-suite.js';

const fields = { interaction: INTERACTION, csrf_token: CSRF_TOKEN, decision: 'approve' };

describeForm({
  operationId: 'consent',
  statuses: [200, 303, 400, 405, 408, 413, 415, 429, 500, 503],
  path: '/auth/consent',
  method: 'decideConsent',
  fields,
  askedWith: { interaction: INTERACTION, csrfToken: CSRF_TOKEN, approved: true },
  unfit: [
    ['an unknown decision', { decision: 'maybe' }],
    ['a decision in capitals', { decision: 'APPROVE' }],
    ['an empty decision', { decision: '' }],
  ],
});

let server: SignOnServer;

beforeAll(async () => {
  server = await startSignOn();
});

afterAll(() => server.stop());

test('the other button is a denial', async () => {
  const value = { page: InteractionPage.SIGNED_OUT, interaction: '', entrances: [] };
  server.program({ decideConsent: async () => ({ step: { result: { $case: 'nextPage', value } } }) });
  await server.ask('consent', '/auth/consent', formPost({ ...fields, decision: 'deny' }));
  expect(server.asked[0]?.request).toMatchObject({ approved: false });
});
