import { describeForm } from './form-suite.js';
import { CSRF_TOKEN, INTERACTION } from './page-suite.js';

describeForm({
  operationId: 'cancelSignIn',
  statuses: [200, 303, 400, 405, 408, 413, 415, 429, 500, 503],
  path: '/auth/cancel',
  method: 'cancelSignIn',
  fields: { interaction: INTERACTION, csrf_token: CSRF_TOKEN },
  askedWith: { interaction: INTERACTION, csrfToken: CSRF_TOKEN },
  unfit: [
    ['an interaction that is none', { interaction: 'x' }],
    ['a CSRF token that is none', { csrf_token: '' }],
  ],
});
