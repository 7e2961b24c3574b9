import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { type SignOnServer, startSignOn } from '../server.js';
import { describePage, LINK_TOKEN } from './page-suite.js';

const link = { email: 'maria@<example>.com', clientName: 'Tallow & Fern' };

describePage({
  operationId: 'showChangeEmail',
  statuses: [200, 400, 405, 429, 500, 503],
  path: '/auth/change-email',
  method: 'showEmailChangeLink',
  secret: 'token',
  heading: 'Change your email',
  result: { $case: 'changeEmailPage', value: link },
  shows: [
    /<form method="post" action="\/auth\/change-email\?/,
    `name="token" value="${LINK_TOKEN}"`,
    '<strong>maria@&lt;example&gt;.com</strong>',
    '<strong>Tallow &amp; Fern</strong> asks',
    'Continue only if this is your own mailbox',
    /<input id="password" name="password" type="password" value="" autocomplete="current-password"/,
    'The one with which you sign in today. Your applications will ask you to sign in again.',
    '<button id="change-email"',
  ],
  askedWith: { linkTokenHash: hashSecret(LINK_TOKEN) },
});

describe('the page that takes a new address', () => {
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
    server.program({
      showEmailChangeLink: async () => ({
        result: { $case: 'changeEmailPage', value: { email: link.email, clientName: undefined } },
      }),
    });
  });

  afterAll(() => server.stop());

  const bodyWith = async (problem: string) =>
    (await server.ask('showChangeEmail', `/auth/change-email?token=${LINK_TOKEN}&problem=${problem}`)).body;

  test('names no client where the platform asked, and says beside the password that it was wrong', async () => {
    const body = await bodyWith('wrong');
    expect(body).toContain('Support asks');
    expect(body).toMatch(/<div id="password-error" role="alert">.*not the password of the account.*<\/div>/);
    expect(body).toContain('<title>Error: Change your email</title>');
  });

  test('leaves the focus above the text that says who asks, until a password was wrong', async () => {
    expect(await bodyWith('')).not.toContain('autofocus');
    expect(await bodyWith('wrong')).toMatch(/<input id="password"[^>]* autofocus>/);
  });

  test.each(['unknown', '', '__proto__', '%3Cb%3E'])('says nothing of the problem %j', async (problem) => {
    expect(await bodyWith(problem)).not.toMatch(/role="alert"|<b>/);
  });
});
