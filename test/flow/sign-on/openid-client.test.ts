import { describe, expect, test } from '@jest/globals';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { SigningAlgorithm } from '../../../generated/proto/integration/operator/v1/signing_keys.js';
import { apps, demoEnvironment } from './demo-environment.js';
import { type RelyingParty, refusalOf, SCOPE, type Tokens } from './relying-party.js';
import { walk } from './walk.js';

const environment = demoEnvironment();

const subjectOf = (tokens: Tokens) => tokens.claims()?.sub ?? '';

describe.each([
  ['a confidential application that proves itself in the body', apps.portal, 'post'],
  ['a confidential application that proves itself by Basic', apps.shiftwise, 'basic'],
  ['a public application', apps.mobile, 'post'],
] as const)('with npm openid-client, %s', (_, name, authentication) => {
  const signedIn = async () => {
    const { demo } = environment;
    const party = await demo.party(name, { authentication });
    const browser = demo.browser();
    const tokens = await party.signIn(browser, demo.demoPerson('user'));
    return { demo, party, browser, tokens };
  };

  test('discovers the server, signs a person in with PKCE, and gets tokens that prove it', async () => {
    const { demo, party, tokens } = await signedIn();
    expect(party.config.serverMetadata().issuer).toBe(demo.url);
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: SCOPE });
    expect(tokens.claims()).toMatchObject({
      iss: demo.url,
      aud: party.application.clientId,
      email: demo.demoPerson('user').email,
      email_verified: true,
      lastLoginContext: { userType: 'USER' },
    });
    await expect(proof(party, tokens.id_token as string, 'RS256')).resolves.toBe(subjectOf(tokens));
  });

  test('reads the same claims at userinfo', async () => {
    const { party, tokens } = await signedIn();
    const { iss, iat, exp, auth_time, nonce, acr, at_hash, ...claims } = tokens.claims() as Record<
      string,
      unknown
    >;
    const userinfo = await client.fetchUserInfo(party.config, tokens.access_token, subjectOf(tokens));
    expect(userinfo).toEqual(claims);
  });

  test('refreshes: the new tokens work, and a repeated refresh gets the same answer', async () => {
    const { party, tokens } = await signedIn();
    const first = await client.refreshTokenGrant(party.config, tokens.refresh_token as string);
    expect(first).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: SCOPE });
    expect(first.id_token).toBeUndefined();
    expect(first.refresh_token).not.toBe(tokens.refresh_token);
    const again = await client.refreshTokenGrant(party.config, tokens.refresh_token as string);
    expect(again.refresh_token).toBe(first.refresh_token);
    const subject = subjectOf(tokens);
    expect((await client.fetchUserInfo(party.config, first.access_token, subject)).sub).toBe(subject);
  });

  test('takes the answer out of a form, where it wants one', async () => {
    const { demo } = environment;
    const party = await demo.party(name, { authentication });
    const { address, kept } = await party.begin({ response_mode: 'form_post' });
    const browser = demo.browser();
    const { end } = await walk(browser, await browser.open(address), demo.demoPerson('worker'));
    expect(end.html).toContain(`<form method="post" action="${party.redirectUri}">`);
    const fields = ['code', 'state', 'iss'].map((field): [string, string] => [
      field,
      end.valueOf(field) ?? '',
    ]);
    const form = new Request(party.redirectUri, { method: 'POST', body: new URLSearchParams(fields) });
    const tokens = await client.authorizationCodeGrant(party.config, form, {
      ...kept,
      idTokenExpected: true,
    });
    expect(tokens.claims()?.aud).toBe(party.application.clientId);
  });

  test('revokes its refresh token, and with it all tokens of the sign-in', async () => {
    const { party, tokens } = await signedIn();
    await client.tokenRevocation(party.config, tokens.refresh_token as string);
    const userinfo = client.fetchUserInfo(party.config, tokens.access_token, subjectOf(tokens));
    expect(await refusalOf(userinfo)).toBe('invalid_token');
    const refresh = client.refreshTokenGrant(party.config, tokens.refresh_token as string);
    expect(await refusalOf(refresh)).toBe('invalid_grant');
  });

  test('ends the session of the browser, which returns to the application', async () => {
    const { demo, party, browser, tokens } = await signedIn();
    const postLogoutRedirectUri = new URL('/signed-out', party.redirectUri).href;
    const end = client.buildEndSessionUrl(party.config, {
      id_token_hint: tokens.id_token as string,
      post_logout_redirect_uri: postLogoutRedirectUri,
      state: 'a state',
    });
    const left = await browser.open(end);
    expect([left.hasLeft, left.url.href]).toEqual([true, `${postLogoutRedirectUri}?state=a%20state`]);
    expect([...browser.cookies.keys()]).toEqual(['integration_device_demo']);
    expect((await party.pageOf(browser)).heading).toBe('Sign in');
    expect(demo.audited(subjectOf(tokens)).map(({ type }) => type)).toContain('sign_out');
  });
});

describe('introspection', () => {
  test('describes a confidential application’s own tokens, and reports others only as inactive', async () => {
    const { demo } = environment;
    const [mine, other] = await Promise.all([
      demo.party(apps.portal),
      demo.party(apps.shiftwise, { authentication: 'basic' }),
    ]);
    const tokens = await mine.signIn(demo.browser(), demo.demoPerson('worker'));
    const { clientId } = mine.application;
    expect(await client.tokenIntrospection(mine.config, tokens.access_token)).toMatchObject({
      active: true,
      client_id: clientId,
      iss: demo.url,
      scope: SCOPE,
      sub: subjectOf(tokens),
      token_type: 'Bearer',
    });
    const refreshToken = tokens.refresh_token as string;
    expect(await client.tokenIntrospection(mine.config, refreshToken)).toMatchObject({ active: true });
    expect(await client.tokenIntrospection(other.config, tokens.access_token)).toEqual({ active: false });
    expect(await client.tokenIntrospection(other.config, refreshToken)).toEqual({ active: false });
  });

  test('is refused to a public application', async () => {
    const { demo } = environment;
    const party = await demo.party(apps.mobile);
    const tokens = await party.signIn(demo.browser(), demo.demoPerson('worker'));
    const asked = client.tokenIntrospection(party.config, tokens.access_token);
    expect(await refusalOf(asked)).toBe('unauthorized_client');
  });
});

describe('the algorithm of ID tokens', () => {
  test.each([
    ['ES256', SigningAlgorithm.ES256],
    ['EdDSA', SigningAlgorithm.EDDSA],
  ] as const)(
    'is %s where the operator says so, and no other is taken',
    async (algorithm, idTokenAlgorithm) => {
      const { demo } = environment;
      const application = await demo.newDemoApplication({ idTokenAlgorithm });
      const party = await demo.party(application, { algorithm });
      const tokens = await party.signIn(demo.browser(), demo.demoPerson('worker'));
      expect(decodeProtectedHeader(tokens.id_token as string).alg).toBe(algorithm);
      await expect(proof(party, tokens.id_token as string, algorithm)).resolves.toBe(subjectOf(tokens));

      const ofOldTimes = await demo.party(application, { algorithm: 'RS256' });
      const attempt = ofOldTimes.signIn(demo.browser(), demo.demoPerson('worker'));
      await expect(attempt).rejects.toMatchObject({ cause: { message: expect.stringContaining('"alg"') } });
    },
  );
});

/** The library does not check the signature of a token from its own connection: this checks it. */
async function proof(party: RelyingParty, idToken: string, algorithm: string): Promise<string | undefined> {
  const { jwks_uri: address = '', issuer } = party.config.serverMetadata();
  const { payload } = await jwtVerify(idToken, createRemoteJWKSet(new URL(address)), {
    issuer,
    algorithms: [algorithm],
    audience: party.application.clientId,
  });
  return payload.sub;
}
