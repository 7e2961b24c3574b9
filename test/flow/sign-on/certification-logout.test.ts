import { describe, expect, test } from '@jest/globals';
import { apps, demoEnvironment } from './demo-environment.js';

const environment = demoEnvironment();

async function signedIn() {
  const { demo } = environment;
  const party = await demo.party(apps.portal);
  const browser = demo.browser();
  const tokens = await party.signIn(browser, demo.demoPerson('user'));
  const logout = (parameters: Record<string, string>) =>
    browser.open(`/auth/logout?${new URLSearchParams(parameters)}`);
  /** Whether the next request of an application finds no session. */
  const isSignedOut = async () => {
    const { returned } = await party.tryToSignIn(browser, {}, { prompt: 'none' });
    return returned.searchParams.get('error') === 'login_required';
  };
  return {
    browser,
    logout,
    isSignedOut,
    hint: tokens.id_token as string,
    signedOutUri: new URL('/signed-out', party.redirectUri).href,
  };
}

const [header = '', payload = ''] = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJub2JvZHkifQ'.split('.');

describe('the RP-initiated logout plan', () => {
  test('oidcc-rp-initiated-logout: the browser is back with the state, without a session', async () => {
    const { logout, isSignedOut, hint, signedOutUri } = await signedIn();
    const left = await logout({
      id_token_hint: hint,
      post_logout_redirect_uri: signedOutUri,
      state: 'a/b c',
    });
    expect([left.hasLeft, left.url.searchParams.get('state')]).toEqual([true, 'a/b c']);
    expect(left.url.href).toBe(`${signedOutUri}?state=a%2Fb%20c`);
    expect(await isSignedOut()).toBe(true);
  });

  test('oidcc-rp-initiated-logout-no-state: the address is as it was registered', async () => {
    const { logout, isSignedOut, hint, signedOutUri } = await signedIn();
    const left = await logout({ id_token_hint: hint, post_logout_redirect_uri: signedOutUri });
    expect([left.hasLeft, left.url.href]).toEqual([true, signedOutUri]);
    expect(await isSignedOut()).toBe(true);
  });

  test('oidcc-rp-initiated-logout-no-post-logout-redirect-uri: a page says so', async () => {
    const { logout, isSignedOut, hint } = await signedIn();
    const page = await logout({ id_token_hint: hint, state: 'a state' });
    expect([page.hasLeft, page.status, page.heading]).toEqual([false, 200, 'You are signed out']);
    expect(await isSignedOut()).toBe(true);
  });

  test.each([
    ['oidcc-rp-initiated-logout-no-params', {}],
    ['oidcc-rp-initiated-logout-only-state', { state: 'a state' }],
  ])('%s: the person is asked, and signs out', async (_, parameters) => {
    const { browser, logout, isSignedOut } = await signedIn();
    const page = await logout(parameters as Record<string, string>);
    expect([page.heading, await isSignedOut()]).toEqual(['Sign out?', false]);
    const end = await browser.press(page, 'sign-out');
    expect([end.hasLeft, end.heading]).toEqual([false, 'You are signed out']);
    expect(await isSignedOut()).toBe(true);
  });

  test.each([
    ['oidcc-rp-initiated-logout-bad-post-logout-redirect-uri', 'https://attacker.example.com/signed-out'],
    ['oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri', '?added=1'],
  ])('%s: there is an error page and no redirect', async (_, ending) => {
    const { logout, hint, signedOutUri } = await signedIn();
    const uri = ending.startsWith('?') ? `${signedOutUri}${ending}` : ending;
    const page = await logout({ id_token_hint: hint, post_logout_redirect_uri: uri, state: 'a state' });
    expect([page.hasLeft, page.status, page.heading]).toEqual([false, 400, 'Something went wrong']);
  });

  test('oidcc-rp-initiated-logout-no-id-token-hint: an address without its application is not used', async () => {
    const { logout, isSignedOut, signedOutUri } = await signedIn();
    const page = await logout({ post_logout_redirect_uri: signedOutUri, state: 'a state' });
    expect([page.hasLeft, page.status, page.heading]).toEqual([false, 400, 'Something went wrong']);
    expect(await isSignedOut()).toBe(false);
  });

  test('with client_id for a hint the person is asked, and goes back to the application', async () => {
    const { browser, logout, signedOutUri } = await signedIn();
    const { clientId } = environment.demo.application(apps.portal);
    const page = await logout({ client_id: clientId, post_logout_redirect_uri: signedOutUri, state: 's' });
    expect(page.heading).toBe('Sign out?');
    const left = await browser.press(page, 'sign-out');
    expect([left.hasLeft, left.url.href]).toEqual([true, `${signedOutUri}?state=s`]);
  });

  test.each([
    ['oidcc-rp-initiated-logout-bad-id-token-hint', () => 'a bad hint'],
    [
      'oidcc-rp-initiated-logout-modified-id-token-hint',
      (hint: string) => `${hint.slice(0, -8)}${hint.endsWith('AAAAAAAA') ? 'B' : 'A'.repeat(8)}`,
    ],
    ['an ID token of another person', () => `${header}.${payload}.`],
  ])('%s: there is no sign-out and no redirect', async (_, spoil: (hint: string) => string) => {
    const { browser, logout, isSignedOut, hint, signedOutUri } = await signedIn();
    const page = await logout({ id_token_hint: spoil(hint), post_logout_redirect_uri: signedOutUri });
    expect([page.hasLeft, page.status, page.heading]).toEqual([false, 400, 'Something went wrong']);
    expect(await isSignedOut()).toBe(false);
    // Who wanted to leave still can.
    const asked = await browser.follow(page, 'continue');
    expect((await browser.press(asked, 'sign-out')).heading).toBe('You are signed out');
  });

  test('a browser without a session is redirected in the same way', async () => {
    const { logout, hint, signedOutUri } = await signedIn();
    await logout({ id_token_hint: hint });
    const left = await logout({ id_token_hint: hint, post_logout_redirect_uri: signedOutUri, state: 's' });
    expect(left.url.href).toBe(`${signedOutUri}?state=s`);
  });
});
