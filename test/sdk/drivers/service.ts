import { describe, expect, test } from '@jest/globals';
import { apps } from '../../flow/sign-on/demo-environment.js';
import { walk } from '../../flow/sign-on/walk.js';
import { webhookEnvironment } from '../../flow/webhooks/webhook-environment.js';
import type { Driven } from './line-driver.js';

/** Over the service as it runs. */
export function describeService(driver: Driven): void {
  const environment = webhookEnvironment();

  /** Asks as an application of the demo does. */
  const askAs = (name: (typeof apps)[keyof typeof apps]) => {
    const { demo } = environment;
    const { clientId, clientSecret, redirectUris } = demo.application(name);
    const settings = { issuer: demo.url, clientId, redirectUri: redirectUris[0]?.uri };
    const secret = clientSecret ? { clientSecret } : {};
    return (method: string, parameters = {}) =>
      driver.sdk.signOn({ ...settings, ...secret }, method, parameters);
  };

  describe.each([
    ['a confidential application', apps.portal],
    ['a public application', apps.mobile],
  ])('with the running service, %s', (_, name) => {
    test('signs a person in, reads who they are, refreshes, and ends it all', async () => {
      const { demo } = environment;
      const ask = askAs(name);
      const [browser, person] = [demo.browser(), demo.demoPerson('user')];

      const { url, ...kept } = (await ask('authorizationUrl')).value;
      const { end } = await walk(browser, await browser.open(url), person);
      const callback = { callbackUrl: end.url.href, ...kept };
      const { value: signIn, error } = await ask('exchangeCode', callback);
      expect(error).toBeUndefined();
      expect(signIn.claims).toMatchObject({ email: person.email, sub: expect.stringMatching(/^acc_/) });

      const { accessToken, refreshToken, idToken } = signIn;
      const userinfo = await ask('userinfo', { accessToken });
      expect(userinfo.value).toMatchObject({ sub: signIn.claims.sub, email: person.email });
      const { value: renewed } = await ask('refresh', { refreshToken });
      expect(renewed.refreshToken).not.toBe(refreshToken);
      expect(renewed.expiresInSeconds).toBe(3600);
      expect((await ask('refresh', { refreshToken })).value.refreshToken).toBe(renewed.refreshToken);

      expect(await ask('revoke', { token: renewed.refreshToken })).not.toHaveProperty('error');
      expect((await ask('userinfo', { accessToken: renewed.accessToken })).error).toMatchObject({
        name: 'OAuthError',
        error: 'invalid_token',
        status: 401,
        requestId: expect.stringMatching(/./),
      });
      const over = await ask('refresh', { refreshToken: renewed.refreshToken });
      expect(over.error).toMatchObject({ error: 'invalid_grant' });
      await browser.open((await ask('logoutUrl', { idToken })).value);
      expect([...browser.cookies.keys()]).toEqual(['integration_device_demo']);

      const again = await ask('exchangeCode', callback);
      expect(again.error).toMatchObject({ name: 'OAuthError', error: 'invalid_grant', status: 400 });
    });

    test('is told when the server refuses', async () => {
      const ask = askAs(name);
      const { url, ...kept } = (await ask('authorizationUrl', { prompt: 'none' })).value;
      const { url: returned } = await environment.demo.browser().open(url);
      const { error } = await ask('exchangeCode', { callbackUrl: returned.href, ...kept });
      expect(error).toMatchObject({ name: 'OAuthError', error: 'login_required', status: null });
    });
  });

  test('a webhook of the running service is verified, and its link leads to what it is about', async () => {
    const { demo } = environment;
    const { secret, receiver } = await demo.subscribe({ eventTypes: ['client.created'] });
    const instanceId = demo.application(apps.portal).redirectUris[0]?.instanceId ?? '';
    const clientId = await demo.newClient(instanceId);
    const { body, headers } = await receiver.next(({ event }) => event.data.clientId === clientId);
    const nowSeconds = Math.floor(Date.now() / 1000);
    const request = { body: body.toString('base64'), headers, secrets: [secret], nowSeconds };
    const { value } = await driver.sdk.verify(request);
    expect(value.event).toMatchObject({ type: 'client.created', data: { clientId } });
    const [apiKey] = demo.service.demo().apiKeys.map(({ key }) => key);
    const read = await driver.sdk.follow({ baseUrl: demo.service.gatewayUrl, apiKey }, request);
    expect(read.value).toMatchObject({ id: clientId, location: value.event.data.address });
  });
}
