import { beforeAll, describe, expect, test } from '@jest/globals';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { sdkDriver } from './driver.js';
import {
  type Answer,
  hangUp,
  json,
  page,
  type ScriptedServer,
  scriptedServers,
  silence,
} from './scripted-server.js';
import { callbackFrom, kept, refusal, settingsFor, tokens } from './scripted-sign-on.js';

const driver = sdkDriver();
const newServer = scriptedServers();
let server: ScriptedServer;
let key: CryptoKey;
let keySet: Answer;

beforeAll(async () => {
  server = await newServer();
  const pair = await generateKeyPair('RS256', { extractable: true });
  key = pair.privateKey;
  keySet = json({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }] });
});

const exchange = () => {
  const args = { callbackUrl: callbackFrom(server, { code: 'code-1' }), ...kept };
  return driver.sdk.signOn(settingsFor(server), 'exchangeCode', args);
};

async function idToken(claims: JWTPayload = {}, signer = key, header = {}): Promise<string> {
  const usual = { iss: server.url, aud: 'app_1', sub: 'acc_1', nonce: 'nonce-1', email: 'ada@example.com' };
  return new SignJWT({ ...usual, added_later: { yes: true }, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'one', ...header })
    .setIssuedAt()
    .setExpirationTime(claims.exp ?? '1h')
    .sign(signer);
}

describe('a code', () => {
  test.each<[string, Answer, Record<string, unknown>]>([
    ['a lost connection', hangUp, { name: 'ConnectionError' }],
    ['503', refusal('temporarily_unavailable', 503), { name: 'OAuthError', status: 503 }],
    ['429', refusal('slow_down', 429), { name: 'OAuthError', status: 429 }],
    ['the page of a proxy', page(502), { name: 'OAuthError', error: 'unexpected_response', status: 502 }],
    ['invalid_grant', refusal('invalid_grant'), { error: 'invalid_grant', description: 'No.', status: 400 }],
    ['an answer without tokens', json({}), { error: 'unexpected_response', status: 200 }],
  ])('is never exchanged a second time: after %s', async (_, answer, expected) => {
    server.answers(answer, tokens());
    expect((await exchange()).error).toMatchObject({ ...expected, isOurs: true });
    expect(server.asked).toHaveLength(1);
  });

  test('is not sent again after a time-out', async () => {
    server.answers(silence);
    const options = { ...settingsFor(server), timeoutMs: 80 };
    const args = { callbackUrl: callbackFrom(server, { code: 'c' }), ...kept };
    expect((await driver.sdk.signOn(options, 'exchangeCode', args)).error).toMatchObject({
      name: 'TimeoutError',
    });
    expect(server.asked).toHaveLength(1);
  });
});

describe('an ID token', () => {
  const answered = async (token: string, ...keys: Answer[]) => {
    server.answers(tokens({ scope: 'openid', id_token: token }), ...(keys.length > 0 ? keys : [keySet]));
    return exchange();
  };

  test('that holds gives its claims, those added later too', async () => {
    const token = await idToken();
    const { value, error } = await answered(token);
    expect(error).toBeUndefined();
    expect(value).toMatchObject({
      idToken: token,
      claims: { sub: 'acc_1', email: 'ada@example.com', added_later: { yes: true } },
      refreshToken: 'rt-2',
      expiresInSeconds: 3600,
    });
  });

  test('is verified although the keys come at the third attempt', async () => {
    expect((await answered(await idToken(), hangUp, page(503), keySet)).value).toMatchObject({
      scope: 'openid',
    });
  });

  test.each<[string, JWTPayload, object, string]>([
    ['of another issuer', { iss: 'https://evil.example.com' }, {}, 'id_token_invalid'],
    ['for another application', { aud: 'app_2' }, {}, 'id_token_invalid'],
    ['that is over', { exp: Math.floor(Date.now() / 1000) - 60 }, {}, 'id_token_invalid'],
    ['of another request', { nonce: 'nonce-2' }, {}, 'nonce_mismatch'],
    ['without a nonce', { nonce: undefined }, {}, 'nonce_mismatch'],
    ['without a subject', { sub: undefined }, {}, 'id_token_invalid'],
    ['with a key that nobody published', {}, { kid: 'two' }, 'id_token_invalid'],
    ['signed by another algorithm', {}, { alg: 'PS256' }, 'id_token_invalid'],
  ])('%s is refused', async (_, claims, header, reason) => {
    const { privateKey } = await generateKeyPair('PS256');
    const token = await idToken(claims, 'alg' in header ? privateKey : key, header);
    expect((await answered(token)).error).toMatchObject({ name: 'SignInError', reason, isOurs: true });
  });

  test('signed by somebody else is refused', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    expect((await answered(await idToken({}, privateKey))).error).toMatchObject({
      reason: 'id_token_invalid',
    });
  });

  test('that is missing is missed', async () => {
    server.answers(tokens({ scope: 'openid' }));
    expect((await exchange()).error).toMatchObject({ reason: 'id_token_missing' });
  });
});
