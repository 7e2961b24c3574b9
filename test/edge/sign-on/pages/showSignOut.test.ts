import { InteractionPage } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { CSRF_TOKEN, describePage, INTERACTION } from './page-suite.js';

describePage({
  operationId: 'showSignOut',
  statuses: [200, 303, 400, 405, 429, 500, 503],
  path: '/auth/sign-out',
  method: 'showInteraction',
  secret: 'interaction',
  heading: 'Sign out?',
  result: {
    $case: 'signOutPage',
    value: {
      csrfToken: CSRF_TOKEN,
      accountEmail: 'maria@example.com',
      applicationName: 'Northwind <Scheduling>',
      formActionSource: 'https://app.example.com',
    },
  },
  shows: [
    /<form method="post" action="\/auth\/sign-out\?/,
    'You are signed in as <strong>maria@example.com</strong>.',
    '<strong>Northwind &lt;Scheduling&gt;</strong> asks',
    `name="csrf_token" value="${CSRF_TOKEN}"`,
    '<button id="sign-out"',
  ],
  askedWith: { page: InteractionPage.SIGN_OUT, interaction: INTERACTION },
});
