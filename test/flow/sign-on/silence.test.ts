import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { PasswordLinkPurpose } from '../../../generated/proto/integration/platform/v1/accounts.js';
import { Planted } from '../../support/planted.js';
import { clientIds, demoEnvironment } from './demo-environment.js';
import { call } from './environment.js';
import { refusalOf } from './relying-party.js';
import { walk } from './walk.js';

const environment = demoEnvironment();

const WRONG_PASSWORD = 'wrong canary in the mine';
const NEW_PASSWORD = 'seven quiet herons';

/** All values that only their recipients may see, by kind. */
const secrets = new Planted();
let accountId: string;
let applicationId: string;

/** Links, a wrong password, consent, tokens, refresh, reuse, a code twice, revocation and sign-out. */
beforeAll(async () => {
  const { demo } = environment;
  const person = await demo.newPerson({ user: [clientIds.tallowfern] });
  const application = await demo.newDemoApplication({ firstParty: false });
  const { clientId, clientSecret = '' } = application;
  accountId = person.accountId;
  applicationId = clientId;
  const browser = demo.browser();
  const cookie = () => [...browser.cookies.values()][0];
  // A link that sets another password goes to a verified address only.
  const verification = await demo.platform.createEmailVerificationLink({ accountId }, call());
  await browser.press(await browser.open(verification.url), 'verify');
  const links = [
    await demo.platform.createPasswordLink({ accountId, purpose: PasswordLinkPurpose.RESET }, call()),
    verification,
  ].map(({ url }) => url) as [string, string];
  const [passwordLink, emailLink] = links.map((url) => new URL(url).searchParams.get('token') ?? '');
  secrets.keep({
    passwordLink,
    emailLink,
    clientSecret,
    WRONG_PASSWORD,
    NEW_PASSWORD,
    firstPassword: person.password,
  });
  // As the library writes it, which encodes more than it would have to.
  const basic = `${clientId}:${clientSecret}`.replaceAll('_', '%5F');
  secrets.keep({ basic: Buffer.from(basic).toString('base64') });
  await browser.press(await browser.open(links[0]), 'set-password', { password: NEW_PASSWORD });

  const party = await demo.party(application, { authentication: 'basic' });
  const { address, kept } = await party.begin();
  const page = await browser.open(address);
  secrets.keep({ anonymousCookie: cookie(), interaction: page.valueOf('interaction') });
  secrets.keep({ csrfToken: page.valueOf('csrf_token') });
  const { email } = person;
  const again = await browser.press(page, 'sign-in', { email, password: WRONG_PASSWORD });
  const { end } = await walk(browser, again, { email, password: NEW_PASSWORD });
  const tried = { returned: end.url, kept };
  const tokens = await party.exchange(tried);
  secrets.keep({ cookie: cookie(), code: tried.returned.searchParams.get('code') ?? undefined });
  secrets.keep({ codeVerifier: tried.kept.pkceCodeVerifier, accessToken: tokens.access_token });
  secrets.keep({ idToken: tokens.id_token, refreshToken: tokens.refresh_token });
  await client.fetchUserInfo(party.config, tokens.access_token, accountId);
  await client.tokenIntrospection(party.config, tokens.access_token);
  const refreshed = await client.refreshTokenGrant(party.config, tokens.refresh_token as string);
  secrets.keep({ secondAccessToken: refreshed.access_token, secondRefreshToken: refreshed.refresh_token });
  demo.age('update grants set rotated_at = rotated_at - 61000 where account_id = ?', accountId);
  const reuse = client.refreshTokenGrant(party.config, tokens.refresh_token as string);
  expect(await refusalOf(reuse)).toBe('invalid_grant');

  const replayed = await party.tryToSignIn(browser);
  await party.exchange(replayed);
  expect(await refusalOf(party.exchange(replayed))).toBe('invalid_grant');
  const last = await party.signIn(browser);
  await client.tokenRevocation(party.config, last.refresh_token as string);
  await party.tryToSignIn(browser, { decision: 'deny' }, { prompt: 'consent' });
  await browser.open(client.buildEndSessionUrl(party.config, { id_token_hint: last.id_token as string }));
});

describe('the audit log', () => {
  test('has each step of a life, with who did it and whether it was refused', () => {
    const { demo } = environment;
    const steps = demo.rows<{ type: string; outcome: string; actor: string }>(
      `select type, outcome, actor_id as actor from audit_events
       where subject_id in (?, ?) and actor_id in (?, ?) order by seq`,
      accountId,
      applicationId,
      accountId,
      applicationId,
    );
    const byThePerson = steps.filter(({ actor }) => actor === accountId).map(({ type }) => type);
    expect(byThePerson.sort()).toEqual(
      [
        'password.set',
        'email.verified',
        'sign_in',
        'consent.given',
        'code.issued',
        'code.issued',
        'code.issued',
        'consent.denied',
        'sign_out',
      ].sort(),
    );
    const byTheApplication = steps
      .filter(({ actor }) => actor === applicationId)
      .map(({ type, outcome }) => `${type} ${outcome}`);
    expect(byTheApplication).toEqual([
      'sign_in refused',
      'token.issued succeeded',
      'refresh_token.reused refused',
      'token.issued succeeded',
      'code.replayed refused',
      'token.issued succeeded',
      'token.revoked succeeded',
    ]);
  });

  test('has no secret in any column', () => {
    const text = JSON.stringify(environment.demo.rows('select * from audit_events'));
    expect(text).toContain(accountId);
    expect(secrets.seenIn(text)).toEqual([]);
  });
});

describe('no secret', () => {
  test('is overlooked where there is one', () => {
    expect(secrets.names).toHaveLength(18);
    expect(secrets.seenIn(secrets.text)).toEqual(secrets.names);
  });

  test('is in the log of any role, at its most talkative', async () => {
    const { output } = environment.demo.service;
    // The log comes a moment after the answers that it reports.
    await output.nextLine(({ role, operation }) => role === 'edge' && operation === 'logout');
    await output.nextLine(({ role, method }) => role === 'domain' && String(method).endsWith('/Logout'));
    const lines = output.lines();
    const operations = lines.flatMap(({ role, operation }) =>
      role === 'edge' && operation ? [operation] : [],
    );
    expect(operations).toEqual(
      expect.arrayContaining(['authorize', 'signIn', 'consent', 'token', 'userinfo', 'revoke', 'logout']),
    );
    expect(lines.filter(({ role, method }) => role === 'domain' && method).length).toBeGreaterThan(20);
    expect(secrets.seenIn(lines.map((line) => JSON.stringify(line)).join('\n'))).toEqual([]);
    expect(secrets.seenIn(environment.demo.service.errors.text())).toEqual([]);
  });

  test('is in the files of the database', () => {
    const { dataDir } = environment.demo.service;
    const files = readdirSync(dataDir).filter((file) => file.startsWith('integration.db'));
    const content = files.map((file) => readFileSync(join(dataDir, file), 'latin1')).join('\n');
    expect(content).toContain(accountId);
    expect(secrets.seenIn(content)).toEqual([]);
  });
});
