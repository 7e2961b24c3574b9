import { describe, expect, test } from '@jest/globals';
import { apps } from '../../flow/sign-on/demo-environment.js';
import { walk } from '../../flow/sign-on/walk.js';
import { webhookEnvironment } from '../../flow/webhooks/webhook-environment.js';
import { sdkDriver } from './driver.js';

const driver = sdkDriver();
const environment = webhookEnvironment();

/** An application of the demo, as the SDK takes it. */
function settingsOf(name: (typeof apps)[keyof typeof apps]) {
  const { demo } = environment;
  const { clientId, clientSecret, redirectUris } = demo.application(name);
  const [{ uri: redirectUri } = { uri: '' }] = redirectUris;
  return { issuer: demo.url, clientId, ...(clientSecret && { clientSecret }), redirectUri };
}

describe.each([
  ['a confidential application', apps.portal],
  ['a public application', apps.mobile],
])('with the running service, %s', (_, name) => {
  test('signs a person in, reads who they are, refreshes, and ends it all', async () => {
    const { demo } = environment;
    const settings = settingsOf(name);
    const ask = (method: string, ...args: unknown[]) => driver.sdk.signOn(settings, method, ...args);
    const browser = demo.browser();
    const person = demo.demoPerson('user');

    const { url, ...kept } = (await ask('authorizationUrl')).value;
    const { end } = await walk(browser, await browser.open(url), person);
    const callbackUrl = end.url.href;
    const { value: signIn, error } = await ask('exchangeCode', { callbackUrl, ...kept });
    expect(error).toBeUndefined();
    expect(signIn.claims).toMatchObject({ email: person.email, aud: settings.clientId, iss: demo.url });

    const userinfo = await ask('userinfo', signIn.accessToken);
    expect(userinfo.value).toMatchObject({ sub: signIn.claims.sub, email: person.email });
    const renewed = (await ask('refresh', signIn.refreshToken)).value;
    expect(renewed.refreshToken).not.toBe(signIn.refreshToken);
    expect((await ask('refresh', signIn.refreshToken)).value.refreshToken).toBe(renewed.refreshToken);

    expect(await ask('revoke', renewed.refreshToken)).not.toHaveProperty('error');
    expect((await ask('userinfo', renewed.accessToken)).error).toMatchObject({
      name: 'OAuthError',
      error: 'invalid_token',
      status: 401,
      requestId: expect.stringMatching(/./),
    });
    expect((await ask('refresh', renewed.refreshToken)).error).toMatchObject({ error: 'invalid_grant' });
    const logout = await ask('logoutUrl', { idToken: signIn.idToken });
    await browser.open(logout.value);
    expect(browser.cookies.size).toBe(0);
  });

  test('is told when the person, or the server, refuses', async () => {
    const { demo } = environment;
    const ask = (method: string, ...args: unknown[]) => driver.sdk.signOn(settingsOf(name), method, ...args);
    const { url, ...kept } = (await ask('authorizationUrl', { prompt: 'none' })).value;
    const { url: returned } = await demo.browser().open(url);
    const { error } = await ask('exchangeCode', { callbackUrl: returned.href, ...kept });
    expect(error).toMatchObject({ name: 'OAuthError', error: 'login_required', status: null });
  });
});

test('a webhook of the running service is verified, and leads to the thing it is about', async () => {
  const { demo } = environment;
  const { subscription, secret, receiver } = await demo.subscribe({ eventTypes: ['client.created'] });
  const instanceId = demo.application(apps.portal).redirectUris[0]?.instanceId ?? '';
  const clientId = await demo.newClient(instanceId);
  const { body, headers } = await receiver.next(({ event }) => event.data.clientId === clientId);
  const { value: event } = await driver.sdk.call('verifyWebhook', new Uint8Array(body), headers, secret);
  expect(event).toMatchObject({ type: 'client.created', data: { clientId } });
  const [apiKey] = demo.service.demo().apiKeys.map(({ key }) => key);
  const options = { baseUrl: demo.service.gatewayUrl, apiKey };
  const read = await driver.sdk.gateway(options, 'getClient', subscription.instanceIntegrationId, clientId);
  expect(read.value).toMatchObject({ id: clientId, location: event.data.address });
});
