import { InteractionPage } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { describePage, INTERACTION, shared } from './page-suite.js';

describePage({
  operationId: 'showConsent',
  statuses: [200, 303, 400, 405, 429, 500, 503],
  path: '/auth/consent',
  method: 'showInteraction',
  secret: 'interaction',
  heading: 'Allow Northwind &lt;Scheduling&gt; to see who you are?',
  result: {
    $case: 'consentPage',
    value: {
      interaction: shared,
      accountEmail: 'maria@example.com',
      scopes: ['openid', 'profile', 'email', 'constructor'],
    },
  },
  shows: [
    /<form method="post" action="\/auth\/consent">/,
    /<b>Who you are here<\/b>[\s\S]*<b>Your name<\/b>[\s\S]*<b>Your email address<\/b>/,
    // A scope without words is shown too.
    '<b>constructor</b>',
    '<button id="approve" name="decision" value="approve">Allow</button>',
    '<button id="deny" name="decision" value="deny" class="quiet">Do not allow</button>',
    'Either way you go back to https://app.example.com.',
    'Signed in as <b>maria@example.com</b>',
  ],
  askedWith: { page: InteractionPage.CONSENT, interaction: INTERACTION },
});
