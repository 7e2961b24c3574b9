import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { type SignOnServer, startSignOn } from '../server.js';
import { describePage, LINK_TOKEN } from './page-suite.js';

const link = { email: 'maria@example.com', invitation: true };

describePage({
  operationId: 'showSetPassword',
  statuses: [200, 400, 405, 429, 500, 503],
  path: '/auth/set-password',
  method: 'showPasswordLink',
  secret: 'token',
  heading: 'Set a password',
  result: { $case: 'setPasswordPage', value: link },
  shows: [
    /<form method="post" action="\/auth\/set-password\?/,
    `name="token" value="${LINK_TOKEN}"`,
    /<input id="email" name="email" type="email" value="maria@example.com" autocomplete="username"[^>]* readonly>/,
    /<input id="password" name="password" type="password" value="" autocomplete="new-password"[^>]* aria-describedby="password-hint"/,
    '<button id="set-password"',
    'Welcome. Choose a password for <strong>maria@example.com</strong>, and you can sign in.',
  ],
  askedWith: { linkTokenHash: hashSecret(LINK_TOKEN) },
});

describe('why the last try was refused', () => {
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
    server.program({
      showPasswordLink: async () => ({
        result: { $case: 'setPasswordPage', value: { ...link, invitation: false } },
      }),
    });
  });

  afterAll(() => server.stop());

  const bodyWith = async (problem: string) =>
    (await server.ask('showSetPassword', `/auth/set-password?token=${LINK_TOKEN}&problem=${problem}`)).body;

  test('a new password names the account too', async () => {
    const body = await bodyWith('');
    expect(body).toContain(
      '<p class="lead">Choose a new password for <strong>maria@example.com</strong>. Your applications will ask you to sign in again.</p>',
    );
    expect(body).toContain('<title>Set a password</title>');
    expect(await bodyWith('too_short')).toContain('<title>Error: Set a password</title>');
  });

  test.each([
    ['too_short', 'too short'],
    ['too_long', 'too long'],
    ['too_common', 'most common'],
    ['too_personal', 'names related to you'],
  ])('%s is said in a sentence beside the password', async (problem, said) => {
    const body = await bodyWith(problem);
    expect(body).toMatch(new RegExp(`<div id="password-error" role="alert">.*${said}.*</div>`));
    expect(body).toMatch(
      /<input id="password"[^>]* aria-describedby="password-error password-hint" aria-invalid/,
    );
  });

  test.each(['unknown', '', 'constructor', '__proto__', '%3Cb%3E'])('%j says nothing', async (problem) => {
    expect(await bodyWith(problem)).not.toMatch(/role="alert"|<b>/);
  });
});
