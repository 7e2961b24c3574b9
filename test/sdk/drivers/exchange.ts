import { describe, expect, test } from '@jest/globals';
import { type JWTPayload, SignJWT } from 'jose';
import { signalled } from '../../support/signalled.js';
import type { Driven } from './line-driver.js';
import { type Answer, hangUp, json, nothing, page, silence } from './scripted-server.js';
import {
  ALGORITHMS,
  flow,
  grant,
  identity,
  REDIRECT_URI,
  type Signer,
  secondsNow,
  signOnRig,
} from './sign-on-rig.js';

/** What becomes of a code, over a sign-on server that says what a test wants. */
export function describeExchange(driver: Driven): void {
  const rig = signOnRig(driver);

  describe('exchanging a code', () => {
    test.each(ALGORITHMS)('gives the tokens and who signed in, verified (%s)', async (algorithm) => {
      rig.serves(
        json({ ...grant, access_token: 'access-1', id_token: await rig.idToken({ added: 1 }, algorithm) }),
      );
      const { value, error } = await rig.exchange({}, { idTokenAlgorithm: algorithm });
      expect(error).toBeUndefined();
      expect(value).toMatchObject({
        accessToken: 'access-1',
        refreshToken: 'refresh-2',
        expiresInSeconds: 3600,
        scope: 'openid profile email',
        claims: identity,
      });
      expect({ ...value.claims, ...value.allClaims }).toMatchObject({ added: 1 });
      expect(JSON.parse(rig.askedFor('/auth/token')[0]?.body ?? '')).toEqual({
        grant_type: 'authorization_code',
        code: 'code-1',
        client_id: 'app_1',
        client_secret: 'cs_1',
        redirect_uri: REDIRECT_URI,
        code_verifier: flow.codeVerifier,
      });
    });

    test('verifies the ID token although the keys come at the third attempt', async () => {
      const token = json({ ...grant, access_token: 'access-1', id_token: await rig.idToken() });
      rig.server.answers(token, page(503), page(502), rig.keySet());
      expect((await rig.exchange()).value).toMatchObject({ claims: { sub: 'acc_1' } });
      expect(rig.server.asked).toHaveLength(4);
    });

    test.each<[string, Answer]>([
      ['a page', page(200)],
      ['null', json(null)],
      ['an object', json({})],
    ])('%s in place of the keys is no fault of the ID token', async (_, keys) => {
      const token = json({ ...grant, access_token: 'access-1', id_token: await rig.idToken() });
      rig.server.answers((...asked) => (asked[1].path === '/.well-known/jwks.json' ? keys : token)(...asked));
      const { error } = await rig.exchange();
      expect(error).toMatchObject({ name: 'OAuthError', error: 'unexpected_response', status: 200 });
    });

    test.each([
      [240, 1],
      [310, 2],
    ])(
      'keeps the keys for the five minutes of their Cache-Control: %i s later, they were read %i times',
      async (seconds, reads) => {
        rig.serves(json({ ...grant, access_token: 'access-1', id_token: await rig.idToken() }));
        const parameters = { callbackUrl: rig.callback(), ...flow, seconds };
        const { value } = await driver.sdk.signOn(rig.options(), 'exchangeTwice', parameters);
        expect(value).toMatchObject({ claims: { sub: 'acc_1' } });
        expect(rig.askedFor('/.well-known/jwks.json')).toHaveLength(reads);
      },
    );

    test('reads the keys once for all who wait for them, and tells all that this failed', async () => {
      const token = json({ ...grant, access_token: 'access-1', id_token: await rig.idToken() });
      rig.server.answers((...asked) => (asked[1].path === '/auth/token' ? token : silence)(...asked));
      const parameters = { callbackUrl: rig.callback(), ...flow, count: 8 };
      const { value } = await driver.sdk.signOn(
        rig.options({ timeoutSeconds: 3 }),
        'exchangeAtOnce',
        parameters,
      );
      expect(value).toEqual(Array(8).fill('TimeoutError'));
      // One, but for those that come late on a busy machine.
      const reads = rig.askedFor('/.well-known/jwks.json').length;
      expect(reads).toBeGreaterThan(0);
      expect(reads).toBeLessThan(4);
    });

    test('takes the path and query that servers have', async () => {
      rig.serves(json({ ...grant, access_token: 'access-1', id_token: await rig.idToken() }));
      const callbackUrl = rig.callback().slice('https://app.example.com'.length);
      expect((await rig.exchange({ callbackUrl })).value).toMatchObject({ claims: { sub: 'acc_1' } });
    });

    test('sends no secret for an application that has none, and wants no ID token without openid', async () => {
      rig.serves(json({ ...grant, scope: 'profile', access_token: 'access-1' }));
      const { value } = await driver.sdk.signOn(
        { ...rig.options(), clientSecret: undefined },
        'exchangeCode',
        {
          callbackUrl: rig.callback(),
          ...flow,
        },
      );
      expect(value).toMatchObject({ accessToken: 'access-1', claims: null });
      expect(JSON.parse(rig.askedFor('/auth/token')[0]?.body ?? '')).not.toHaveProperty('client_secret');
    });

    test('wants an ID token without openid too where a maximum age was asked for', async () => {
      const revoked = rig.serves(json({ ...grant, scope: 'profile', access_token: 'access-1' }));
      expect((await rig.exchange({ maxAgeSeconds: 60 })).error).toMatchObject({
        name: 'SignInError',
        reason: 'id_token_missing',
      });
      expect(await revoked).toBe('refresh-2');
    });

    test.each<[string, Answer, object]>([
      ['a lost connection', hangUp, { name: 'ConnectionError' }],
      ['503', page(503), { name: 'OAuthError', error: 'unexpected_response', status: 503 }],
      ['429', json({ error: 'slow_down' }, {}, 429), { name: 'OAuthError', status: 429 }],
      [
        'an answer without tokens',
        json({}),
        { name: 'OAuthError', error: 'unexpected_response', status: 200 },
      ],
      ['200 without a body', nothing, { name: 'OAuthError', error: 'unexpected_response', status: 200 }],
      ['no answer', silence, { name: 'TimeoutError' }],
      [
        'an answer of more than 1 MiB',
        json({ ...grant, added: 'x'.repeat(1_048_576) }),
        { name: 'ConnectionError', message: expect.stringContaining('has more than 1048576 bytes') },
      ],
      [
        'invalid_grant',
        json({ error: 'invalid_grant', error_description: 'Used.' }, { 'x-request-id': 'req-3' }, 400),
        {
          ...{ name: 'OAuthError', error: 'invalid_grant', description: 'Used.', status: 400 },
          ...{ requestId: 'req-3', message: 'invalid_grant: Used. (400, request req-3)' },
        },
      ],
      ['an answer that is no JSON', page(200), { name: 'OAuthError', error: 'unexpected_response' }],
    ])('is never tried again: %s', async (_, answer, expected) => {
      rig.server.answers(answer);
      // Whatever else is answered may come late on a busy machine.
      const settings = answer === silence ? { timeoutSeconds: 1 } : {};
      expect((await rig.exchange({}, settings)).error).toMatchObject(expected);
      // A busy machine may not even send the request in time.
      expect(rig.server.asked.length).toBeLessThan(2);
    });

    test.each<[string, Record<string, string>, object]>([
      ['the state of another request', { state: 'other' }, { reason: 'state_mismatch' }],
      ['another issuer', { iss: 'https://evil.example.com' }, { reason: 'issuer_mismatch' }],
      ['an error of a proxy', { error: 'access_denied', state: 'other' }, { reason: 'state_mismatch' }],
      ['no code', { code: '' }, { reason: 'callback_malformed' }],
      [
        'an error',
        { error: 'access_denied', error_description: 'No.' },
        {
          ...{ name: 'OAuthError', error: 'access_denied', description: 'No.', status: null },
          message: 'access_denied: No.',
        },
      ],
    ])('sends no request when the browser returned with %s', async (_, parameters, expected) => {
      rig.server.answers(json({}));
      const { error } = await rig.exchange({ callbackUrl: rig.callback(parameters) });
      expect(error).toMatchObject({ name: 'SignInError', ...expected });
      expect(rig.server.asked).toHaveLength(0);
    });

    test('sends no request when the browser returned to an address that cannot be read', async () => {
      rig.server.answers(json({}));
      const { error } = await rig.exchange({ callbackUrl: '//[?code=code-1' });
      expect(error).toMatchObject({
        name: 'SignInError',
        reason: 'callback_malformed',
        shown: expect.not.stringContaining('code-1'),
      });
      expect(rig.server.asked).toHaveLength(0);
    });

    test('sends no request when a parameter is repeated', async () => {
      rig.server.answers(json({}));
      const { error } = await rig.exchange({ callbackUrl: `${rig.callback()}&code=code-2` });
      expect(error).toMatchObject({ reason: 'callback_malformed' });
      expect(rig.server.asked).toHaveLength(0);
    });

    test.each(['', null])('sends no request for an authorization with the state %j', async (state) => {
      rig.server.answers(json({}));
      const without = new URL(rig.callback());
      without.searchParams.delete('state');
      for (const callbackUrl of [rig.callback({ state: '' }), without.href]) {
        const { error } = await rig.exchange({ callbackUrl, state, nonce: null, codeVerifier: null });
        expect(error).toMatchObject({ reason: 'state_mismatch' });
      }
      expect(rig.server.asked).toHaveLength(0);
    });
  });

  describe('an ID token that is not valid', () => {
    test.each<[string, () => Promise<string>]>([
      ['of another issuer', () => rig.idToken({ iss: 'https://evil.example.com' })],
      ['for another application', () => rig.idToken({ aud: 'app_2' })],
      ['that has expired', () => rig.idToken({ exp: secondsNow() - 31 })],
      ['that was issued in the future', () => rig.idToken({ iat: secondsNow() + 300 })],
      ['for nobody', () => rig.idToken({ sub: undefined })],
      ['without an end', () => rig.idToken({ exp: undefined })],
      ['signed with an algorithm that was not agreed on', () => rig.idToken({}, 'ES256')],
      ['signed with a key that is not published', () => rig.idToken({}, 'RS256', 'unknown')],
      ['signed with a key of another kind', () => rig.idToken({}, 'RS256', 'ES256')],
      ['with changed claims', async () => forged(await rig.idToken())],
      [
        'that is not signed',
        async () => `${encoded({ alg: 'none' })}.${(await rig.idToken()).split('.')[1]}.`,
      ],
      ['signed with the published key as a secret', () => confused(rig.signer('RS256'))],
      ['that is none', async () => 'nonsense'],
    ])('is refused: one %s', async (_, make) => {
      const revoked = rig.serves(json({ ...grant, access_token: 'access-1', id_token: await make() }));
      expect((await rig.exchange()).error).toMatchObject({ name: 'SignInError', reason: 'id_token_invalid' });
      expect(rig.askedFor('/auth/token')).toHaveLength(1);
      expect(await revoked).toBe('refresh-2');
    });

    test.each<[string, () => Promise<object>, string]>([
      [
        'with the nonce of another request',
        async () => ({ id_token: await rig.idToken({ nonce: 'x' }) }),
        'nonce_mismatch',
      ],
      ['that is missing', async () => ({}), 'id_token_missing'],
    ])('has a reason: one %s', async (_, make, reason) => {
      const revoked = rig.serves(json({ ...grant, access_token: 'access-1', ...(await make()) }));
      expect((await rig.exchange()).error).toMatchObject({ name: 'SignInError', reason });
      expect(await revoked).toBe('refresh-2');
    });

    test('is reported after the only attempt to revoke the tokens has ended: one that is missing', async () => {
      const token = json({ ...grant, access_token: 'access-1' });
      let isAnswered = false;
      // Long after an exchange that does not wait has ended.
      const late: Answer = (response, asked) =>
        void setTimeout(() => {
          isAnswered = true;
          page(503)(response, asked);
        }, 500);
      rig.server.answers((...asked) => (asked[1].path === '/auth/token' ? token : late)(...asked));
      expect((await rig.exchange()).error).toMatchObject({ reason: 'id_token_missing' });
      expect(isAnswered).toBe(true);
      expect(rig.askedFor('/auth/revoke')).toHaveLength(1);
    });

    test.each(['', null])('is refused where the request has nonce %j: one without a nonce', async (nonce) => {
      const id_token = await rig.idToken({ nonce: undefined });
      rig.serves(json({ ...grant, access_token: 'access-1', id_token }));
      expect((await rig.exchange({ nonce })).error).toMatchObject({ reason: 'nonce_mismatch' });
    });

    test('is not shown with its error: one that has expired', async () => {
      const id_token = await rig.idToken({ email: 'ada@example.com', exp: secondsNow() - 31 });
      rig.serves(json({ ...grant, access_token: 'access-1', id_token }));
      const { error } = await rig.exchange();
      expect(error).toMatchObject({ name: 'SignInError', shown: expect.not.stringContaining('ada@') });
    });

    // Not every language checks it.
    test('is not shown with its error, if there is one: one with a claim of another type', async () => {
      const id_token = await rig.idToken({ lastLoginContext: 'ada@example.com' });
      rig.serves(json({ ...grant, access_token: 'access-1', id_token }));
      const { error } = await rig.exchange();
      expect(error ?? { shown: '' }).toMatchObject({ shown: expect.not.stringContaining('ada@') });
    });

    test.each<[string, JWTPayload]>([
      ['a day ago', { auth_time: secondsNow() - 86_400 }],
      ['at a time that it does not say', {}],
      ['at a time that is none', { auth_time: 'now' }],
    ])(
      'is refused where a maximum age was asked for: one of who entered the password %s',
      async (_, claims) => {
        rig.serves(json({ ...grant, access_token: 'access-1', id_token: await rig.idToken(claims) }));
        expect((await rig.exchange({ maxAgeSeconds: 60 })).error).toMatchObject({
          name: 'SignInError',
          reason: 'id_token_invalid',
        });
      },
    );

    test('one of who entered the password as lately as asked for is none of them', async () => {
      const claims = { auth_time: secondsNow() - 60 };
      rig.serves(json({ ...grant, access_token: 'access-1', id_token: await rig.idToken(claims) }));
      expect((await rig.exchange({ maxAgeSeconds: 60 })).value).toMatchObject({ claims: { sub: 'acc_1' } });
    });

    test('a clock that is a little off does not matter', async () => {
      const claims = { exp: secondsNow() - 5, iat: secondsNow() + 5 };
      rig.serves(json({ ...grant, access_token: 'access-1', id_token: await rig.idToken(claims) }));
      expect((await rig.exchange()).value).toMatchObject({ claims: { sub: 'acc_1' } });
    });
  });
}

/** Where a caller can end an exchange. */
export function describeEndedExchange(driver: Driven): void {
  const rig = signOnRig(driver);

  test.each([
    ['reads the keys, which another waits for', 'first', 'second'],
    ['waits for keys that another reads', 'second', 'first'],
  ])('an exchange that %s ends with its tokens when its caller says so, alone', async (_, ended, other) => {
    const id_token = await rig.idToken();
    const [keysAsked, secondHasToken, tokensEnded] = [signalled(), signalled(), signalled()];
    let answerKeys = () => {};
    let revocations = 0;
    rig.server.answers(async (response, asked) => {
      if (asked.path === '/.well-known/jwks.json') {
        answerKeys = () => rig.keySet()(response, asked);
        keysAsked.tell();
        return;
      }
      if (asked.path === '/auth/revoke' && JSON.parse(asked.body).token !== 'refresh-1') {
        // Without an answer: the caller, who has ended the exchange, does not wait for one.
        tokensEnded.tell();
        return;
      }
      if (asked.path === '/auth/revoke') {
        revocations += 1;
        if (revocations === 2) {
          answerKeys();
        }
        // By then the first exchange has asked for the keys, and the second has its tokens.
        await secondHasToken.told;
        json({})(response, asked);
        return;
      }
      const caller = asked.headers['x-request-id'];
      if (caller === 'second') {
        response.once('finish', secondHasToken.tell);
        await keysAsked.told;
      }
      json({ ...grant, access_token: 'access-1', refresh_token: `of ${caller}`, id_token })(response, asked);
    });
    const { value } = await driver.sdk.signOn(rig.options({ timeoutSeconds: 1_000 }), 'endExchange', {
      callbackUrl: rig.callback(),
      ...flow,
      ended,
      seconds: 2,
    });
    expect(value).toEqual({ [other]: null, [ended]: 'AbortError' });
    expect(rig.askedFor('/.well-known/jwks.json')).toHaveLength(1);
    await tokensEnded.told;
    const revoked = rig.askedFor('/auth/revoke').map(({ body }) => JSON.parse(body));
    expect(revoked.filter(({ token }) => token !== 'refresh-1')).toEqual([
      { token: `of ${ended}`, client_id: 'app_1', client_secret: 'cs_1' },
    ]);
  });
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function forged(token: string): string {
  const [header, payload = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return `${header}.${encoded({ ...claims, sub: 'acc_2' })}.${signature}`;
}

/** A token for who lets the token say how it is to be verified. */
function confused({ jwk }: Signer): Promise<string> {
  return new SignJWT(identity)
    .setProtectedHeader({ alg: 'HS256', kid: 'RS256' })
    .sign(new TextEncoder().encode(JSON.stringify(jwk)));
}
