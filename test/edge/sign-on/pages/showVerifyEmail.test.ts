import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { describePage, LINK_TOKEN } from './page-suite.js';

describePage({
  operationId: 'showVerifyEmail',
  statuses: [200, 400, 405, 429, 500, 503],
  path: '/auth/verify-email',
  method: 'showEmailLink',
  secret: 'token',
  heading: 'Verify your email',
  result: { $case: 'verifyEmailPage', value: { email: 'maria@<example>.com' } },
  shows: [
    /<form method="post" action="\/auth\/verify-email\?/,
    `name="token" value="${LINK_TOKEN}"`,
    '<strong>maria@&lt;example&gt;.com</strong>',
    '<button id="verify"',
  ],
  askedWith: { linkTokenHash: hashSecret(LINK_TOKEN) },
});
