import { beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts } from '../../support/free-ports.js';
import { changeOf } from '../drivers/changes.js';
import { describeEndedExchange } from '../drivers/exchange.js';
import type { Driven } from '../drivers/line-driver.js';
import {
  type Answer,
  json,
  page,
  problem,
  type ScriptedServer,
  scriptedServers,
  silence,
} from '../drivers/scripted-server.js';
import { grant, REDIRECT_URI, signOnRig } from '../drivers/sign-on-rig.js';
import { example, parametersOf, signed } from '../drivers/signed-requests.js';
import { user } from '../drivers/user.js';

/** What only TypeScript has, or has otherwise. */
export function describeOwnBehaviour(driver: Driven): void {
  describeEndedExchange(driver);
  const rig = signOnRig(driver);
  const newServer = scriptedServers();
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await newServer();
  });
  const listClients = (options: object = {}, more: object = {}) =>
    driver.sdk.gateway({ baseUrl: server.url, ...options }, 'listClients', ['iin_1'], { ...more });

  describe('reads', () => {
    test('times are a Date', async () => {
      server.answers(json(user));
      const { dates } = await driver.sdk.gateway({ baseUrl: server.url }, 'getUser', ['i', 'c', 'u']);
      expect(dates).toEqual(['createdAt']);
    });

    test('an error has the sentence of the gateway without what follows it in the message', async () => {
      server.answers(problem(403, 'forbidden'));
      expect((await listClients()).error).toMatchObject({
        detail: 'It is forbidden.',
        message: 'It is forbidden. (403 forbidden, request req-1)',
      });
    });

    test('null in place of a list is an error', async () => {
      server.answers(json(null));
      expect((await listClients()).error).toMatchObject({ status: 200, code: 'unexpected_response' });
    });

    test.each<[string, Answer]>([
      ['an answer', silence],
      ['a pause', problem(429, 'rate_limited', { 'retry-after': '30' })],
    ])('a caller who waits for %s no more gets the reason of their signal', async (_, answer) => {
      server.answers(answer);
      const { error } = await listClients({}, { abortAfterMs: 80 });
      expect(error).toMatchObject({ name: 'another TimeoutError' });
    });

    test.each<[string, object]>([
      ['a token answer without a lifetime', { expires_in: undefined }],
      ['a token answer with a lifetime as text', { expires_in: '3600' }],
      ['a token answer with a lifetime of half a second', { expires_in: 3600.5 }],
      ['a token answer without scope', { scope: undefined }],
    ])('%s is an error', async (_, more) => {
      server.answers(json({ ...grant, access_token: 'access-2', ...more }));
      const options = { issuer: server.url, clientId: 'app_1', redirectUri: REDIRECT_URI };
      const { error } = await driver.sdk.signOn(options, 'refresh', { refreshToken: 'refresh-1' });
      expect(error).toMatchObject({ name: 'OAuthError', error: 'unexpected_response' });
    });

    test('a change at a time that is none is an error', async () => {
      server.answers(json([changeOf('worker', 'wrk_1', null, { changedAt: 'yesterday' })]));
      const { error } = await driver.sdk.gateway({ baseUrl: server.url }, 'listChanges', ['iin_1']);
      expect(error).toMatchObject({ name: 'ApiError', code: 'unexpected_response' });
    });

    test('retry: false asks once', async () => {
      server.answers(page(503));
      await listClients({ retry: false });
      expect(server.asked).toHaveLength(1);
    });

    test('no server is reported with its reason', async () => {
      const [port] = await freePorts(1);
      const { error } = await listClients({ baseUrl: `http://127.0.0.1:${port}`, retry: false });
      expect(error?.message).toBe(`The connection to 127.0.0.1:${port} failed: ECONNREFUSED.`);
    });
  });

  test('an ID token without a nonce is refused where the request has none', async () => {
    const id_token = await rig.idToken({ nonce: undefined });
    rig.serves(json({ ...grant, access_token: 'access-1', id_token }));
    const { error } = await rig.exchange({ nonce: undefined });
    expect(error).toMatchObject({ name: 'SignInError', reason: 'nonce_mismatch' });
  });

  describe('a webhook', () => {
    const request = signed({ body: JSON.stringify({ ...example.payload, name: 'Bäckerei 🥐' }) });

    test.each(['bytes', 'ArrayBuffer', 'text'])('may be given as %s', async (as) => {
      const { value } = await driver.sdk.verify({ ...parametersOf(request), as });
      expect(value.event).toEqual({ ...example.payload, name: 'Bäckerei 🥐' });
    });

    test.each(['specVersion', 'dataVersion'])('of a later %s is of no type for isEvent', async (name) => {
      const isKnown = async (version: number) => {
        const body = JSON.stringify({ ...example.payload, [name]: version });
        return (await driver.sdk.verify(parametersOf(signed({ body })))).value.isKnown;
      };
      expect([await isKnown(1), await isKnown(2)]).toEqual([null, false]);
    });

    test('may have its headers as lists', async () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name.toUpperCase(), [value]]),
      );
      const { value } = await driver.sdk.verify({ ...parametersOf(request), headers });
      expect(value.event).toMatchObject({ name: 'Bäckerei 🥐' });
    });

    test('that was parsed already is a mistake of the program', async () => {
      const { error } = await driver.sdk.verify({ ...parametersOf(request), as: 'parsed' });
      expect(error).toMatchObject({ name: 'ValueError' });
    });

    test('whose age has no limit, as of Number(undefined), is a mistake of the program', async () => {
      const { error } = await driver.sdk.verify(
        parametersOf(signed({ ageSeconds: 301 }), undefined, { toleranceSeconds: 'NaN' }),
      );
      expect(error).toMatchObject({
        name: 'ValueError',
        message: expect.stringMatching(/^toleranceSeconds/),
      });
    });

    test('is verified by a clock that has fractions', async () => {
      const nowSeconds = Number(request.headers['Webhook-Timestamp']) + 0.5;
      const { value } = await driver.sdk.verify({ ...parametersOf(request), nowSeconds });
      expect(value.event).toMatchObject({ id: example.payload.id });
    });
  });
}
