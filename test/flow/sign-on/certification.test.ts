import { describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { apps, demoEnvironment } from './demo-environment.js';
import { refusalOf, type SignInTried, type Tokens } from './relying-party.js';

const environment = demoEnvironment();

/** A browser with a session, the person's credentials, and what the application got. */
async function signedIn(parameters: Record<string, string> = {}) {
  const { demo } = environment;
  const party = await demo.party(apps.portal);
  const browser = demo.browser();
  const person = demo.demoPerson('user');
  const { tried, tokens } = await party.enter(browser, person, parameters);
  return { demo, party, browser, person, tried, tokens, subject: tokens.claims()?.sub ?? '' };
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
    const first = await signedIn();
    letSessionAge(2, first);
    const { party, browser, person } = first;
    const tried = await party.tryToSignIn(browser, person, { prompt: 'login' });
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

describe('the basic plan: tokens and userinfo', () => {
  test.each([
    ['oidcc-userinfo-get', (token: string) => ({ headers: { authorization: `Bearer ${token}` } })],
    [
      'oidcc-userinfo-post-header',
      (token: string) => ({ method: 'POST', headers: { authorization: `Bearer ${token}` } }),
    ],
    [
      'oidcc-userinfo-post-body',
      (token: string) => ({ method: 'POST', body: new URLSearchParams({ access_token: token }) }),
    ],
  ])('%s: the claims of the person come back', async (_, request: (token: string) => RequestInit) => {
    const { party, tokens, subject } = await signedIn();
    const address = party.config.serverMetadata().userinfo_endpoint as string;
    const response = await fetch(address, request(tokens.access_token));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toMatchObject({ sub: subject });
  });

  test.each([
    ['oidcc-server-client-secret-post', apps.portal, 'post'],
    ['oidcc-server (client_secret_basic)', apps.portal, 'basic'],
  ] as const)('%s: the application proves itself so', async (_, name, authentication) => {
    const { demo } = environment;
    const party = await demo.party(name, { authentication });
    const tokens = await party.signIn(demo.browser(), demo.demoPerson('user'));
    expect(tokens.claims()?.aud).toBe(party.application.clientId);
  });

  test('oidcc-codereuse: a code is good once, and its second use ends what the first one gave', async () => {
    const { party, tried, tokens, subject } = await signedIn();
    expect(await refusalOf(party.exchange(tried))).toBe('invalid_grant');
    const userinfo = client.fetchUserInfo(party.config, tokens.access_token, subject);
    expect(await refusalOf(userinfo)).toBe('invalid_token');
    const refresh = client.refreshTokenGrant(party.config, tokens.refresh_token as string);
    expect(await refusalOf(refresh)).toBe('invalid_grant');
  });

  test('oidcc-codereuse-30seconds: so it is half a minute later', async () => {
    const { demo, party, tried, tokens, subject } = await signedIn();
    demo.age('update authorization_codes set issued_at = issued_at - 30000, expires_at = expires_at - 30000');
    demo.age('update grants set rotated_at = rotated_at - 30000');
    expect(await refusalOf(party.exchange(tried))).toBe('invalid_grant');
    const userinfo = client.fetchUserInfo(party.config, tokens.access_token, subject);
    expect(await refusalOf(userinfo)).toBe('invalid_token');
  });

  test('oidcc-refresh-token: it gives new tokens for the same person and application', async () => {
    const { party, tokens, subject } = await signedIn();
    const refreshed = await client.refreshTokenGrant(party.config, tokens.refresh_token as string);
    expect(refreshed.access_token).not.toBe(tokens.access_token);
    const userinfo = await client.fetchUserInfo(party.config, refreshed.access_token, subject);
    expect(userinfo.sub).toBe(subject);
  });

  test('oidcc-refresh-token: another application can do nothing with it, and does it no harm', async () => {
    const { demo, party, tokens } = await signedIn();
    const other = await demo.party(apps.shiftwise);
    const refreshToken = tokens.refresh_token as string;
    expect(await refusalOf(client.refreshTokenGrant(other.config, refreshToken))).toBe('invalid_grant');
    const refreshed = await client.refreshTokenGrant(party.config, refreshToken);
    expect(refreshed.refresh_token).toBeDefined();
  });

  test('oidcc-server: the answers of the token endpoint are not stored anywhere', async () => {
    const { demo } = environment;
    const party = await demo.party(apps.mobile);
    const { returned, kept } = await party.tryToSignIn(demo.browser(), demo.demoPerson('user'));
    const response = await fetch(party.config.serverMetadata().token_endpoint as string, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: returned.searchParams.get('code') ?? '',
        redirect_uri: party.redirectUri,
        client_id: party.application.clientId,
        code_verifier: kept.pkceCodeVerifier,
      }),
    });
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await response.json()).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
  });
});

describe('the config plan', () => {
  test('oidcc-discovery-endpoint-verification: the document says what a client must know', async () => {
    const { demo } = environment;
    const response = await fetch(`${demo.url}/.well-known/openid-configuration`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    const document = (await response.json()) as Record<string, string>;
    const endpoints = Object.entries(document).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name));
    expect(endpoints.map(([name]) => name).sort()).toEqual([
      'authorization_endpoint',
      'end_session_endpoint',
      'introspection_endpoint',
      'jwks_uri',
      'revocation_endpoint',
      'token_endpoint',
      'userinfo_endpoint',
    ]);
    expect(endpoints.filter(([, address]) => !address.startsWith(`${demo.url}/`))).toEqual([]);
    expect(document).toMatchObject({
      issuer: demo.url,
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'form_post'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: expect.arrayContaining(['RS256', 'ES256', 'EdDSA']),
      token_endpoint_auth_methods_supported: expect.arrayContaining([
        'client_secret_basic',
        'client_secret_post',
      ]),
      code_challenge_methods_supported: ['S256'],
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      claims_parameter_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
  });

  test('oidcc-discovery-endpoint-verification: the key set has public keys only, each with an id and a use', async () => {
    const { demo } = environment;
    const { keys } = (await (await fetch(`${demo.url}/.well-known/jwks.json`)).json()) as {
      keys: Record<string, string>[];
    };
    expect(keys.map(({ alg }) => alg).sort()).toEqual(['ES256', 'EdDSA', 'RS256']);
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
    expect(keys.every(({ use, kid }) => use === 'sig' && kid !== undefined)).toBe(true);
    const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
    expect(keys.flatMap((key) => Object.keys(key).filter((name) => secretMembers.includes(name)))).toEqual(
      [],
    );
  });
});

/** The same, about to sign out. */
async function aboutToSignOut() {
  const { party, browser, tokens } = await signedIn();
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
    const { logout, isSignedOut, hint, signedOutUri } = await aboutToSignOut();
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
    const { logout, isSignedOut, hint, signedOutUri } = await aboutToSignOut();
    const left = await logout({ id_token_hint: hint, post_logout_redirect_uri: signedOutUri });
    expect([left.hasLeft, left.url.href]).toEqual([true, signedOutUri]);
    expect(await isSignedOut()).toBe(true);
  });

  test('oidcc-rp-initiated-logout-no-post-logout-redirect-uri: a page says so', async () => {
    const { logout, isSignedOut, hint } = await aboutToSignOut();
    const page = await logout({ id_token_hint: hint, state: 'a state' });
    expect([page.hasLeft, page.status, page.heading]).toEqual([false, 200, 'You are signed out']);
    expect(await isSignedOut()).toBe(true);
  });

  test.each([
    ['oidcc-rp-initiated-logout-no-params', {}],
    ['oidcc-rp-initiated-logout-only-state', { state: 'a state' }],
  ])('%s: the person is asked, and signs out', async (_, parameters) => {
    const { browser, logout, isSignedOut } = await aboutToSignOut();
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
    const { logout, hint, signedOutUri } = await aboutToSignOut();
    const uri = ending.startsWith('?') ? `${signedOutUri}${ending}` : ending;
    const page = await logout({ id_token_hint: hint, post_logout_redirect_uri: uri, state: 'a state' });
    expect([page.hasLeft, page.status, page.heading]).toEqual([false, 400, 'Something went wrong']);
  });

  test('oidcc-rp-initiated-logout-no-id-token-hint: an address without its application is not used', async () => {
    const { logout, isSignedOut, signedOutUri } = await aboutToSignOut();
    const page = await logout({ post_logout_redirect_uri: signedOutUri, state: 'a state' });
    expect([page.hasLeft, page.status, page.heading]).toEqual([false, 400, 'Something went wrong']);
    expect(await isSignedOut()).toBe(false);
  });

  test('with client_id for a hint the person is asked, and goes back to the application', async () => {
    const { browser, logout, signedOutUri } = await aboutToSignOut();
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
    const { browser, logout, isSignedOut, hint, signedOutUri } = await aboutToSignOut();
    const page = await logout({ id_token_hint: spoil(hint), post_logout_redirect_uri: signedOutUri });
    expect([page.hasLeft, page.status, page.heading]).toEqual([false, 400, 'Something went wrong']);
    expect(await isSignedOut()).toBe(false);
    // Who wanted to leave still can.
    const asked = await browser.follow(page, 'continue');
    expect((await browser.press(asked, 'sign-out')).heading).toBe('You are signed out');
  });

  test('a browser without a session is redirected in the same way', async () => {
    const { logout, hint, signedOutUri } = await aboutToSignOut();
    await logout({ id_token_hint: hint });
    const left = await logout({ id_token_hint: hint, post_logout_redirect_uri: signedOutUri, state: 's' });
    expect(left.url.href).toBe(`${signedOutUri}?state=s`);
  });
});
