import { describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { apps, demoEnvironment } from './demo-environment.js';
import type { SignInTried, Tokens } from './relying-party.js';

const environment = demoEnvironment();

/** A browser with a session, and the person's credentials. */
async function signedIn(parameters: Record<string, string> = {}) {
  const { demo } = environment;
  const party = await demo.party(apps.portal);
  const browser = demo.browser();
  const person = demo.demoPerson('user');
  const tokens = await party.signIn(browser, person, parameters);
  return { demo, party, browser, person, tokens };
}

const PROFILE = ['name', 'firstName', 'lastName', 'given_name', 'family_name'];

const claimsOf = (tokens: Tokens) => tokens.claims() as Record<string, unknown>;

function answer({ returned }: SignInTried): Record<string, string> {
  const { error_description, ...parameters } = Object.fromEntries(returned.searchParams);
  return parameters;
}

/** The session was begun a while ago, with the second in which tokens count time. */
function letSessionAge(seconds: number, { demo, tokens }: Awaited<ReturnType<typeof signedIn>>): void {
  const aged = demo.age(
    'update sessions set authenticated_at = authenticated_at - ? where account_id = ?',
    seconds * 1_000,
    claimsOf(tokens).sub,
  );
  expect(aged).toBeGreaterThan(0);
}

describe('the basic plan: the request', () => {
  test('oidcc-server: a code becomes tokens with a valid ID token', async () => {
    const { demo, tokens, party } = await signedIn();
    expect(claimsOf(tokens)).toMatchObject({ iss: demo.url, aud: party.application.clientId });
  });

  test('oidcc-response-type-missing: it is told to the application, or on a page', async () => {
    const { demo } = environment;
    const party = await demo.party(apps.portal);
    const { address, kept } = await party.begin();
    address.searchParams.delete('response_type');
    const { url, hasLeft } = await demo.browser().open(address);
    expect([hasLeft, url.searchParams.get('error')]).toEqual([true, 'invalid_request']);
    expect(url.searchParams.get('state')).toBe(kept.expectedState);
  });

  test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
    const { demo } = environment;
    const party = await demo.party(apps.portal);
    const tried = await party.tryToSignIn(demo.browser(), demo.demoPerson('user'), { nonce: '' });
    const { expectedNonce, ...kept } = tried.kept;
    const tokens = await client.authorizationCodeGrant(party.config, tried.returned, kept);
    expect(claimsOf(tokens).nonce).toBeUndefined();
  });

  test.each([
    ['oidcc-scope-profile', 'openid profile', PROFILE],
    ['oidcc-scope-email', 'openid email', ['email', 'email_verified']],
    ['oidcc-scope-all', 'openid profile email', [...PROFILE, 'email', 'email_verified']],
    ['oidcc-ensure-other-scope-order-succeeds', 'email openid', ['email', 'email_verified']],
  ])('%s: %s shows its claims and no others', async (_, scope, shown) => {
    const { party, tokens } = await signedIn({ scope });
    const userinfo = await client.fetchUserInfo(
      party.config,
      tokens.access_token,
      claimsOf(tokens).sub as string,
    );
    const always = ['aud', 'lastLoginContext', 'sub', 'userIds', 'workerIds', 'workerProfileId'];
    expect(Object.keys(userinfo).sort()).toEqual([...always, ...shown].sort());
    expect(tokens.scope?.split(' ').sort()).toEqual(scope.split(' ').sort());
  });

  test('oidcc-scope-address, oidcc-scope-phone: they are not supported, and discovery says so', async () => {
    const party = await environment.demo.party(apps.portal);
    expect(party.config.serverMetadata().scopes_supported).toEqual(['openid', 'profile', 'email']);
  });

  test.each([
    ['oidcc-display-page', { display: 'page' }],
    ['oidcc-display-popup', { display: 'popup' }],
    ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
    ['oidcc-ui-locales', { ui_locales: 'se' }],
    ['oidcc-claims-locales', { claims_locales: 'se' }],
    ['oidcc-ensure-request-with-acr-values-succeeds', { acr_values: '1 2' }],
    ['oidcc-ensure-request-with-valid-pkce-succeeds', {}],
  ])('%s: the request %j succeeds', async (_, parameters) => {
    const { tokens } = await signedIn(parameters as Record<string, string>);
    expect(claimsOf(tokens)).toHaveProperty('name');
  });

  test('oidcc-claims-essential: the request succeeds, and a scope that was not asked for stays closed', async () => {
    const { party, tokens } = await signedIn({
      scope: 'openid',
      claims: '{"userinfo":{"name":{"essential":true}}}',
    });
    const subject = claimsOf(tokens).sub as string;
    const userinfo = await client.fetchUserInfo(party.config, tokens.access_token, subject);
    expect([userinfo.sub, userinfo.name]).toEqual([subject, undefined]);
  });

  test('an essential acr without values succeeds, and the ID token has one that discovery names', async () => {
    const { party, tokens } = await signedIn({ claims: '{"id_token":{"acr":{"essential":true}}}' });
    const supported = party.config.serverMetadata().acr_values_supported;
    expect(supported).toEqual([claimsOf(tokens).acr]);
    const claims = JSON.stringify({ id_token: { acr: { essential: true, values: supported } } });
    expect(claimsOf((await signedIn({ claims })).tokens).acr).toBe(claimsOf(tokens).acr);
  });

  test.each([
    ['oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported'],
    ['oidcc-ensure-request-object-with-redirect-uri'],
  ])('%s: a request object is refused with its own error', async () => {
    const { demo } = environment;
    const party = await demo.party(apps.portal);
    const content = Buffer.from(JSON.stringify({ redirect_uri: party.redirectUri })).toString('base64url');
    const tried = await party.tryToSignIn(demo.browser(), {}, { request: `eyJhbGciOiJub25lIn0.${content}.` });
    expect(answer(tried)).toEqual({
      error: 'request_not_supported',
      state: tried.kept.expectedState,
      iss: demo.url,
    });
  });

  test('oidcc-ensure-registered-redirect-uri: an unregistered one gets a page, and no redirect', async () => {
    const { demo } = environment;
    const party = await demo.party(apps.portal);
    const page = await party.pageOf(demo.browser(), { redirect_uri: `${party.redirectUri}/other` });
    expect([page.hasLeft, page.status, page.heading]).toEqual([false, 400, 'Something went wrong']);
  });

  test('oidcc-ensure-post-request-succeeds: also under a session, which the form of another site does not show', async () => {
    const { party, browser, tokens } = await signedIn();
    const { address, kept } = await party.begin();
    const left = await browser.post(address.pathname, Object.fromEntries(address.searchParams));
    expect(left.hasLeft).toBe(true);
    const again = await party.exchange({ returned: left.url, kept });
    expect(claimsOf(again).sub).toBe(claimsOf(tokens).sub);
  });
});

describe('the basic plan: the session', () => {
  test('oidcc-prompt-none-not-logged-in: it is login_required', async () => {
    const { demo } = environment;
    const party = await demo.party(apps.portal);
    const tried = await party.tryToSignIn(demo.browser(), {}, { prompt: 'none' });
    expect([tried.pages, answer(tried)]).toEqual([
      [],
      { error: 'login_required', state: tried.kept.expectedState, iss: demo.url },
    ]);
  });

  test('oidcc-prompt-none-logged-in: it is the same person, since the same moment, without a page', async () => {
    const first = await signedIn({ max_age: '10000' });
    const tried = await first.party.tryToSignIn(first.browser, {}, { prompt: 'none', max_age: '10000' });
    const again = claimsOf(await first.party.exchange(tried));
    const { sub, auth_time } = claimsOf(first.tokens);
    expect([tried.pages, again.sub, again.auth_time]).toEqual([[], sub, auth_time]);
  });

  test('oidcc-prompt-login: the person signs in again, and auth_time is later', async () => {
    const first = await signedIn({ max_age: '10000' });
    letSessionAge(2, first);
    const { party, browser, person } = first;
    const tried = await party.tryToSignIn(browser, person, { prompt: 'login', max_age: '10000' });
    expect(tried.pages).toContain('Sign in');
    const again = claimsOf(await party.exchange(tried));
    expect(again.auth_time).toBeGreaterThan((claimsOf(first.tokens).auth_time as number) - 2);
    expect(again.sub).toBe(claimsOf(first.tokens).sub);
  });

  test('oidcc-max-age-1: after more than a second the person signs in again, and auth_time says when', async () => {
    const first = await signedIn();
    letSessionAge(60, first);
    const { party, browser, person } = first;
    const tried = await party.tryToSignIn(browser, person, { max_age: '1' });
    expect(tried.pages).toContain('Sign in');
    const { auth_time, iat } = claimsOf(await party.exchange(tried)) as { auth_time: number; iat: number };
    expect(iat - auth_time).toBeLessThan(30);
  });

  test('oidcc-max-age-10000: within it there is no new sign-in, and auth_time stays', async () => {
    const first = await signedIn();
    letSessionAge(60, first);
    const tried = await first.party.tryToSignIn(first.browser, {}, { max_age: '10000' });
    const { auth_time, iat } = claimsOf(await first.party.exchange(tried)) as {
      auth_time: number;
      iat: number;
    };
    expect([tried.pages, iat - auth_time >= 60]).toEqual([[], true]);
  });

  test('oidcc-id-token-hint: with prompt=none it is the same person', async () => {
    const { party, browser, tokens } = await signedIn();
    const hint = { prompt: 'none', id_token_hint: tokens.id_token as string };
    const again = await party.signIn(browser, {}, hint);
    expect(claimsOf(again).sub).toBe(claimsOf(tokens).sub);
  });

  test('oidcc-login-hint: the address is filled in', async () => {
    const { demo } = environment;
    const party = await demo.party(apps.portal);
    const page = await party.pageOf(demo.browser(), { login_hint: 'bob@example.com' });
    expect([page.heading, page.valueOf('email')]).toEqual(['Sign in', 'bob@example.com']);
  });
});
