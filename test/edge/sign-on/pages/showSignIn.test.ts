import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { InteractionPage } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { type SignOnServer, startSignOn } from '../server.js';
import { describePage, INTERACTION, shared } from './page-suite.js';

const REFUSAL = 'The email address or the password is wrong.';

describePage({
  operationId: 'showSignIn',
  statuses: [200, 303, 400, 405, 429, 500, 503],
  path: '/auth/sign-in',
  method: 'showInteraction',
  secret: 'interaction',
  heading: 'Sign in',
  result: {
    $case: 'signInPage',
    value: { interaction: shared, email: 'm@example.com', refusals: [], withoutAccess: false },
  },
  shows: [
    '<strong>Northwind &lt;Scheduling&gt;</strong>',
    'Harborlight &amp; &quot;Sons&quot;',
    /<form method="post" action="\/auth\/sign-in\?/,
    /<label for="email">Email<\/label>\n<div><input id="email" name="email" type="text" inputmode="email" value="m@example.com" autocomplete="username"/,
    /<input id="password" name="password" type="password" value="" autocomplete="current-password"/,
    /<button id="sign-in"/,
    /<form method="post" action="\/auth\/cancel\?/,
    /<button id="cancel" type="submit" class="quiet">Cancel<\/button>/,
    'no access yet? Ask the administrator of Harborlight &amp; &quot;Sons&quot; to send you a link.',
  ],
  askedWith: { page: InteractionPage.SIGN_IN, interaction: INTERACTION },
});

describe('what was wrong with the attempt before', () => {
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  async function bodyWith(
    refusals: { input: string; message: string }[],
    { email = '', withoutAccess = false } = {},
  ) {
    const value = { interaction: shared, email, refusals, withoutAccess };
    server.program({ showInteraction: async () => ({ result: { $case: 'signInPage', value } }) });
    return (await server.ask('showSignIn', `/auth/sign-in?interaction=${INTERACTION}`)).body;
  }

  test('stands beside its input, which points to it', async () => {
    const body = await bodyWith([{ input: 'password', message: REFUSAL }]);
    expect(body).toMatch(/<input id="password"[^>]* aria-describedby="password-error" aria-invalid="true"/);
    expect(body).toMatch(new RegExp(`<div id="password-error" role="alert">.*${REFUSAL}.*</div>`));
    expect(body).not.toMatch(/<input id="email"[^>]* aria-invalid/);
  });

  test.each(['', 'interaction'])(
    'is told above the form when it concerns %j, which is no input',
    async (input) => {
      expect(await bodyWith([{ input, message: 'No <access>.' }])).toMatch(
        /<div class="alert" id="form-error" role="alert">.*No &lt;access&gt;\..*<\/div>\n<form/,
      );
    },
  );

  test.each([
    ['email', ''],
    ['password', 'm@example.com'],
  ])('describes the input that has the focus, %s, and is in the title', async (name, email) => {
    const body = await bodyWith([{ input: '', message: 'No access.' }], { email });
    expect(body.match(/ aria-describedby="form-error"/g)).toHaveLength(1);
    expect(body).toMatch(
      new RegExp(`<input id="${name}"[^>]* aria-describedby="form-error"[^>]* autofocus>`),
    );
    expect(body).toContain('<title>Error: Sign in · ');
    const first = await bodyWith([], { email });
    expect(first).toContain('<title>Sign in · ');
    expect(first).not.toContain('form-error');
  });

  test('who has no access finds the way back to the application', async () => {
    const body = await bodyWith([{ input: '', message: 'No access.' }], { withoutAccess: true });
    expect(body).toMatch(/<button id="cancel"[^>]*>Back to Northwind &lt;Scheduling&gt;<\/button>/);
    expect(body).not.toContain('Ask the administrator');
  });

  test('the typed email stays, and the password is where to continue', async () => {
    const body = await bodyWith([], { email: '"><script>alert(1)</script>' });
    expect(body).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
    expect(body).toMatch(/<input id="password"[^>]* autofocus/);
  });
});
