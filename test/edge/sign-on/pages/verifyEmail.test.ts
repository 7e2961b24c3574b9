import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { describeForm } from './form-suite.js';
import { LINK_TOKEN } from './page-suite.js';

describeForm({
  operationId: 'verifyEmail',
  statuses: [303, 400, 405, 408, 413, 415, 429, 500, 503],
  path: '/auth/verify-email',
  method: 'redeemEmailLink',
  fields: { token: LINK_TOKEN },
  askedWith: { linkTokenHash: hashSecret(LINK_TOKEN) },
  unfit: [
    ['too short a token', { token: 'x'.repeat(15) }],
    ['too long a token', { token: 'x'.repeat(513) }],
  ],
});
