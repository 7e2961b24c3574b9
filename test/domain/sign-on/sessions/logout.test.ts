import { describe, expect, test } from '@jest/globals';
import { setApplicationEnabled, updateApplication } from '../../../../src/domain/operator/applications.js';
import type { LogoutParameters } from '../../../../src/domain/sign-on/sessions/logout-request.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import { databaseUnderTest } from '../../../support/databases.js';
import {
  AFTER_LOGOUT,
  audited,
  type BrowserRig,
  browserRig,
  CALLBACK,
  HOUR_MS,
  newPerson,
  type Person,
} from '../browser-rig.js';
import { answerOf, errorPageOf, signedInBrowser, TestBrowser } from '../test-browser.js';
import { ISSUER } from '../token-keys.js';

const under = databaseUnderTest('SQLite');

async function signedIn() {
  const rig = await browserRig(under);
  const person = await newPerson(rig, [rig.here.clientId]);
  const browser = await signedInBrowser(rig, person);
  const signedInAt = Math.floor(rig.clock.now() / 1_000);
  /** Long expired, which is good enough. */
  const hintFor = ({ accountId }: Person, aud: string = rig.applicationId, iat = signedInAt) =>
    rig.keys.sign('RS256', 'JWT', { iss: ISSUER, sub: accountId, aud, iat, exp: 2 });
  return { rig, person, browser, hintFor, signedInAt };
}

describe('with an ID token of who is signed in', () => {
  test('the session ends at once, and the browser goes where the application wants it', async () => {
    const { rig, person, browser, hintFor } = await signedIn();
    const stolen = new TestBrowser(rig);
    stolen.cookie = browser.cookie;
    rig.clock.advance(1);
    const step = await browser.logout({
      idTokenHint: await hintFor(person),
      postLogoutRedirectUri: AFTER_LOGOUT,
      state: 'a b&c',
    });
    expect(step).toEqual({
      kind: 'redirect',
      location: `${AFTER_LOGOUT}?state=a%20b%26c`,
      cookie: { kind: 'clear' },
    });
    expect(answerOf(await stolen.authorize({ prompt: 'none' }))).toMatchObject({ error: 'login_required' });
    expect((await audited(rig)).at(-1)).toMatchObject({
      what: 'sign_out succeeded',
      actor: person.accountId,
      attributes: { application_id: rig.applicationId },
    });
  });

  test('who is a user of a hundred clients, which makes it long, the session ends at once too', async () => {
    const { rig, person, browser, signedInAt } = await signedIn();
    const userIds = Array(100).fill({ id: newPublicId('UserId'), clientId: newPublicId('ClientId') });
    const claims = { iss: ISSUER, sub: person.accountId, aud: rig.applicationId, userIds };
    const idTokenHint = await rig.keys.sign('RS256', 'JWT', { ...claims, iat: signedInAt, exp: 2 });
    expect(await browser.logout({ idTokenHint })).toMatchObject({ page: 'signed_out' });
  });

  test('and no address, a page says so', async () => {
    const { person, browser, hintFor } = await signedIn();
    expect(await browser.logout({ idTokenHint: await hintFor(person), state: 'unused' })).toMatchObject({
      kind: 'page',
      page: 'signed_out',
      interaction: '',
      cookie: { kind: 'clear' },
    });
  });
});

describe('without one', () => {
  test('the person is asked first, and sees which application asks', async () => {
    const { rig, person, browser } = await signedIn();
    const parameters = { clientId: rig.applicationId, postLogoutRedirectUri: AFTER_LOGOUT, state: 's' };
    expect(await browser.logout(parameters)).toMatchObject({ page: 'sign_out' });
    expect(await browser.show('sign_out')).toMatchObject({
      accountEmail: person.email,
      applicationName: 'Brightledger Portal',
      formActionSource: 'https://portal.example.com',
    });
    const form = browser.at;
    expect(await browser.confirmLogout()).toMatchObject({
      location: `${AFTER_LOGOUT}?state=s`,
      cookie: { kind: 'clear' },
    });
    expect(await browser.authorize()).toMatchObject({ page: 'sign_in' });
    // Back, and once more.
    browser.at = form;
    expect(await browser.confirmLogout('whatever')).toMatchObject({ location: `${AFTER_LOGOUT}?state=s` });
  });

  const withdrawals: [string, (rig: BrowserRig) => Promise<unknown>][] = [
    [
      'removes the address',
      ({ operate, applicationId }) =>
        operate((changes) =>
          updateApplication(changes, { applicationId, postLogoutRedirectUris: [CALLBACK] }),
        ),
    ],
    [
      'disables the application',
      ({ operate, applicationId }) =>
        operate((changes) => setApplicationEnabled(changes, applicationId, false)),
    ],
  ];

  test.each(withdrawals)(
    'the person is signed out and not sent to the application if the operator %s meanwhile',
    async (_, withdraw) => {
      const { rig, browser } = await signedIn();
      await browser.logout({ clientId: rig.applicationId, postLogoutRedirectUri: AFTER_LOGOUT, state: 's' });
      const form = browser.at;
      await withdraw(rig);
      const signedOut = { kind: 'page', page: 'signed_out', interaction: '' };
      expect(await browser.confirmLogout()).toEqual({ ...signedOut, cookie: { kind: 'clear' } });
      expect(await new TestBrowser(rig).show('sign_out', form)).toEqual({ kind: 'step', step: signedOut });
    },
  );

  test.each(['', 'nonsense'])('a form that was not shown to them does nothing: %j', async (csrfToken) => {
    const { browser } = await signedIn();
    await browser.logout();
    expect(await browser.confirmLogout(csrfToken)).toEqual({
      kind: 'page',
      page: 'sign_out',
      interaction: browser.at,
    });
    expect(answerOf(await browser.authorize({ prompt: 'none' })).code).toBeDefined();
  });

  test('the person is asked too when the ID token is another person’s', async () => {
    const { rig, browser, hintFor } = await signedIn();
    const other = await newPerson(rig, [rig.here.clientId]);
    expect(await browser.logout({ idTokenHint: await hintFor(other) })).toMatchObject({ page: 'sign_out' });
  });

  test('the person is asked too when the ID token was issued before they signed in', async () => {
    const { rig, person, browser, hintFor, signedInAt } = await signedIn();
    const older = await hintFor(person, rig.applicationId, signedInAt - 1);
    expect(await browser.logout({ idTokenHint: older })).toMatchObject({ page: 'sign_out' });
    const idTokenHint = await hintFor(person);
    rig.clock.advance(1_000);
    await browser.authorize({ prompt: 'login' });
    await browser.signIn(person);
    expect(await browser.logout({ idTokenHint })).toMatchObject({ page: 'sign_out' });
    expect(await browser.confirmLogout()).toMatchObject({ page: 'signed_out', cookie: { kind: 'clear' } });
  });

  test.each([
    ['is nonsense', () => 'a.b.c'],
    ['was changed', (hint: string) => `${hint.slice(0, -4)}${hint.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`],
  ])('the person is asked too when the ID token %s', async (_, spoil) => {
    const { rig, person, browser, hintFor } = await signedIn();
    const idTokenHint = spoil(await hintFor(person));
    expect(await browser.logout({ idTokenHint })).toMatchObject({ page: 'sign_out' });
    const target = { clientId: rig.applicationId, postLogoutRedirectUri: AFTER_LOGOUT };
    expect(await browser.logout({ idTokenHint, ...target })).toMatchObject({ page: 'sign_out' });
    expect(await browser.confirmLogout()).toMatchObject({ location: AFTER_LOGOUT });
  });

  test('the page expires after an hour and says how to begin again', async () => {
    const { rig, browser } = await signedIn();
    await browser.logout();
    const csrfToken = await browser.csrfToken('sign_out');
    rig.clock.advance(HOUR_MS);
    expect(errorPageOf(await browser.confirmLogout(csrfToken))).toMatchObject({
      kind: 'stale',
      continueUrl: '/auth/logout',
    });
  });

  test('a person who is not signed in continues at once', async () => {
    const rig = await browserRig(under);
    const browser = new TestBrowser(rig);
    const parameters = { clientId: rig.applicationId, postLogoutRedirectUri: AFTER_LOGOUT };
    expect(await browser.logout(parameters)).toEqual({ kind: 'redirect', location: AFTER_LOGOUT });
    expect(await browser.logout()).toEqual({ kind: 'page', page: 'signed_out', interaction: '' });
  });
});

describe('there is no sign-out and no redirect', () => {
  type Case = (facts: Awaited<ReturnType<typeof signedIn>>) => Promise<Partial<LogoutParameters>>;
  const cases: [string, RegExp, RegExp, Case][] = [
    [
      'when ID token and client_id disagree',
      /different applications/,
      /names two different applications/,
      async ({ person, hintFor }) => ({ idTokenHint: await hintFor(person), clientId: 'app_other' }),
    ],
    [
      'when client_id is unknown',
      /client_id is not/,
      /not registered here/,
      async () => ({ clientId: 'app_other' }),
    ],
    [
      'when client_id has a NUL',
      /cannot be kept/,
      /cannot be read/,
      async () => ({ clientId: 'app_\u0000' }),
    ],
    [
      'when the address is unregistered',
      /needs client_id, or an id_token_hint/,
      /without saying which one/,
      async () => ({ postLogoutRedirectUri: AFTER_LOGOUT }),
    ],
    [
      'when only an unreadable ID token names its application',
      /that can be read/,
      /without saying which one/,
      async () => ({ idTokenHint: 'a.b.c', postLogoutRedirectUri: AFTER_LOGOUT }),
    ],
    [
      'when the address is not registered',
      /not registered/,
      /^Brightledger Portal asks to have you back .* not registered for it/,
      async ({ rig }) => ({ clientId: rig.applicationId, postLogoutRedirectUri: `${AFTER_LOGOUT}/` }),
    ],
    [
      'when the address is another application’s',
      /not registered/,
      /^Brightledger Portal asks to have you back .* not registered for it/,
      async ({ rig }) => ({
        clientId: await rig.newApplication({ postLogoutRedirectUris: [] }),
        postLogoutRedirectUri: AFTER_LOGOUT,
      }),
    ],
    [
      'when the application is disabled',
      /disabled/,
      /^Brightledger Portal asks to sign you out, and is disabled/,
      async ({ rig }) => {
        await rig.operate((changes) => setApplicationEnabled(changes, rig.applicationId, false));
        return { clientId: rig.applicationId, postLogoutRedirectUri: AFTER_LOGOUT };
      },
    ],
    [
      'when a parameter came twice',
      /more than once/,
      /cannot be read/,
      async () => ({ repeatedNames: ['state'] }),
    ],
    ['when the state is too long', /too long/, /cannot be read/, async () => ({ state: 's'.repeat(4_097) })],
  ];

  test.each(cases)('%s', async (_, words, told, prepare) => {
    const facts = await signedIn();
    const cookie = facts.browser.cookie;
    const page = errorPageOf(await facts.browser.logout(await prepare(facts)));
    expect(page).toMatchObject({ kind: 'request', continueUrl: '/auth/logout' });
    expect(page.developerMessage).toMatch(words);
    expect(page.message).toMatch(told);
    expect(page.message).toMatch(/You have not been signed out/);
    expect(facts.browser.cookie).toBe(cookie);
    expect(await facts.browser.logout()).toMatchObject({ page: 'sign_out' });
  });
});
