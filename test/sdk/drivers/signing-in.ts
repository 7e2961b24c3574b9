import { expect, test } from '@jest/globals';
import { apps, demoEnvironment } from '../../flow/sign-on/demo-environment.js';
import { walk } from '../../flow/sign-on/walk.js';
import type { Driven } from './line-driver.js';

/** Over the service as it runs. */
export function describeSigningIn(driver: Driven): void {
  const environment = demoEnvironment();

  test('a person of the demo signs in, is read, refreshed and revoked', async () => {
    const { demo } = environment;
    const { clientId, clientSecret, redirectUris } = demo.application(apps.portal);
    const redirectUri = redirectUris[0]?.uri as string;
    const options = { issuer: demo.url, clientId, clientSecret, redirectUri };
    const person = demo.demoPerson('user');

    const { value: request } = await driver.sdk.signOn(options, 'authorizationUrl');
    const browser = demo.browser();
    const { end } = await walk(browser, await browser.open(new URL(request.url)), person);
    const { state, nonce, codeVerifier } = request;
    const callback = { callbackUrl: end.url.href, state, nonce, codeVerifier };

    const { value: signedIn, error } = await driver.sdk.signOn(options, 'exchangeCode', callback);
    expect(error).toBeUndefined();
    expect(signedIn.claims).toMatchObject({ email: person.email, sub: expect.stringMatching(/^acc_/) });
    const again = await driver.sdk.signOn(options, 'exchangeCode', callback);
    expect(again.error).toMatchObject({ name: 'OAuthError', error: 'invalid_grant', status: 400 });
  });

  test('tokens serve until they are revoked', async () => {
    const { demo } = environment;
    const party = await demo.party(apps.portal);
    const { clientId, clientSecret } = party.application;
    const options = { issuer: demo.url, clientId, clientSecret, redirectUri: party.redirectUri };
    const { access_token: accessToken, refresh_token: refreshToken } = await party.signIn(
      demo.browser(),
      demo.demoPerson('user'),
    );
    const { value: who } = await driver.sdk.signOn(options, 'userinfo', { accessToken });
    const { value: tokens } = await driver.sdk.signOn(options, 'refresh', { refreshToken });
    expect([who.sub, tokens.expiresInSeconds]).toEqual([expect.stringMatching(/^acc_/), 3600]);
    const revoked = await driver.sdk.signOn(options, 'revoke', { token: tokens.refreshToken });
    const after = await driver.sdk.signOn(options, 'refresh', { refreshToken: tokens.refreshToken });
    expect([revoked.error, after.error?.error]).toEqual([undefined, 'invalid_grant']);
  });
}
