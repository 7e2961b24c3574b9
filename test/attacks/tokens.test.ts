import { beforeAll, describe, expect, test } from '@jest/globals';
import { SigningAlgorithm } from '../../generated/proto/integration/operator/v1/signing_keys.js';
import { type Exchange, exchange } from '../support/http-exchange.js';
import { serviceProcesses } from '../support/service-process.js';
import {
  AttackedService,
  BEHIND_PROXY,
  basicOf,
  credentialsOf,
  type FreshCode,
  redemptionOf,
  type Tokens,
} from './attacked-service.js';
import { BODY_CASES } from './body-cases.js';
import { CLIENT_CASES } from './client-cases.js';
import { FORGED_TOKENS, type Forge, newForge } from './forged-tokens.js';
import { GRANT_CASES } from './grant-cases.js';
import { encoded, newAddress, newPkce, type UserAgent } from './user-agent.js';
import { expectOAuthError } from './verdicts.js';

const HINTS: [string, string][] = [
  ['token_type_hint', 'access_token'],
  ['token_type_hint', 'refresh_token'],
];

const SIGNED_OUT = 'https://portal.brightledger.example.com/signed-out';

const services = serviceProcesses();
let attacked: AttackedService;
let victim: UserAgent;
let forge: Forge;

beforeAll(async () => {
  attacked = new AttackedService(await services.start(BEHIND_PROXY));
  victim = await attacked.signedIn();
  const { access_token: access, id_token: id } = await attacked.tokens(victim, attacked.portal);
  const alike = await attacked.register({ name: 'Alike', idTokenAlgorithm: SigningAlgorithm.ES256 });
  const { id_token: idSignedAlike } = await attacked.tokens(victim, alike);
  const { body } = await exchange(attacked.port, '/.well-known/jwks.json');
  forge = await newForge({ access, id, idSignedAlike }, JSON.parse(body).keys);
});

function expectInvalidToken(answer: Exchange): void {
  expectOAuthError(answer, 401, 'invalid_token');
  expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="sign-on", error="invalid_token"/);
}

describe('an access token', () => {
  test.each(FORGED_TOKENS)('%s is refused everywhere', async (_, forged) => {
    const token = forged(forge);
    const answer = await attacked.userinfo(token);
    expectInvalidToken(answer);
    expect(await attacked.introspect(attacked.portal, token)).toEqual({ active: false });
    const hint = { id_token_hint: token, post_logout_redirect_uri: SIGNED_OUT };
    if (token !== forge.id.text && token !== forge.idSignedAlike.text) {
      const signOut = await attacked.userAgent().ask(`/auth/logout?${new URLSearchParams(hint)}`);
      expect([signOut.status, signOut.headers.location]).toEqual([400, undefined]);
    }
  });

  test('revokes nothing when it is forged', async () => {
    for (const [, forged] of FORGED_TOKENS) {
      const fields = { ...credentialsOf(attacked.portal), token: forged(forge) };
      const answer = await attacked.call('/auth/revoke', fields);
      expect([200, 400]).toContain(answer.status);
    }
    expect((await attacked.userinfo(forge.access.text)).status).toBe(200);
  });
});

describe('userinfo', () => {
  const ask = (target: string, headers: Record<string, string | string[]>) =>
    exchange(attacked.port, target, { headers });

  test.each([
    ['in the address', (token: string) => ask(`/auth/userinfo?access_token=${token}`, {}), 400],
    [
      'in header and address',
      (token: string) => ask(`/auth/userinfo?access_token=${token}`, { authorization: `Bearer ${token}` }),
      400,
    ],
    [
      'in two headers',
      (token: string) => ask('/auth/userinfo', { authorization: [`Bearer ${token}`, `Bearer ${token}`] }),
      400,
    ],
    [
      'under the scheme DPoP',
      (token: string) => ask('/auth/userinfo', { authorization: `DPoP ${token}` }),
      401,
    ],
    [
      'under the scheme Basic',
      (token: string) => ask('/auth/userinfo', { authorization: `Basic ${token}` }),
      401,
    ],
    ['without a scheme', (token: string) => ask('/auth/userinfo', { authorization: token }), 401],
    ['as a cookie', (token: string) => ask('/auth/userinfo', { cookie: `access_token=${token}` }), 401],
    [
      'in header and form',
      (token: string) =>
        attacked.call('/auth/userinfo', { access_token: token }, { authorization: `Bearer ${token}` }),
      400,
    ],
    [
      'twice in a form',
      (token: string) =>
        attacked.call('/auth/userinfo', [
          ['access_token', token],
          ['access_token', token],
        ]),
      400,
    ],
  ])('does not take a token %s', async (_, present, status) => {
    const answer = await present(forge.access.text);
    expect(answer.status).toBe(status);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="sign-on"/);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).not.toContain('sub');
  });

  test('does not take a session for a token', async () => {
    const answer = await victim.ask('/auth/userinfo');
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer realm="sign-on"']);
  });

  test('says nothing to a token without the scope openid', async () => {
    const fresh = await attacked.freshCode(victim, attacked.portal, { scope: 'email' });
    const tokens: Tokens = JSON.parse((await attacked.redeem(fresh)).body);
    expect(tokens.id_token).toBeUndefined();
    const answer = await attacked.userinfo(tokens.access_token);
    expectOAuthError(answer, 403, 'insufficient_scope');
    expect(answer.headers['www-authenticate']).toMatch(/error="insufficient_scope".*scope="openid"/);
  });
});

describe('a code that is redeemed again', () => {
  test('gives nothing, and ends what the first one gave', async () => {
    const fresh = await attacked.freshCode(victim, attacked.portal);
    const first: Tokens = JSON.parse((await attacked.redeem(fresh)).body);
    expect((await attacked.userinfo(first.access_token)).status).toBe(200);
    expectOAuthError(await attacked.redeem(fresh), 400, 'invalid_grant');
    expectInvalidToken(await attacked.userinfo(first.access_token));
    expect(await attacked.introspect(attacked.portal, first.access_token)).toEqual({ active: false });
    expectOAuthError(await attacked.refresh(attacked.portal, first.refresh_token), 400, 'invalid_grant');
  });

  test('and refreshed in between gives nothing, and ends the successors', async () => {
    const fresh = await attacked.freshCode(victim, attacked.mobile);
    const first: Tokens = JSON.parse((await attacked.redeem(fresh)).body);
    const second: Tokens = JSON.parse((await attacked.refresh(attacked.mobile, first.refresh_token)).body);
    expectOAuthError(await attacked.redeem(fresh), 400, 'invalid_grant');
    expectInvalidToken(await attacked.userinfo(second.access_token));
    expectOAuthError(await attacked.refresh(attacked.mobile, second.refresh_token), 400, 'invalid_grant');
  });

  test('by an eavesdropper gives nothing, and ends nothing', async () => {
    const fresh = await attacked.freshCode(victim, attacked.mobile);
    const first: Tokens = JSON.parse((await attacked.redeem(fresh)).body);
    expectOAuthError(await attacked.redeem({ ...fresh, verifier: 'a'.repeat(43) }), 400, 'invalid_grant');
    expect((await attacked.userinfo(first.access_token)).status).toBe(200);
  });
});

describe('a refresh token', () => {
  test('that was used before its successor was ends the family when it comes again', async () => {
    const first = await attacked.tokens(victim, attacked.mobile);
    const second: Tokens = JSON.parse((await attacked.refresh(attacked.mobile, first.refresh_token)).body);
    const third: Tokens = JSON.parse((await attacked.refresh(attacked.mobile, second.refresh_token)).body);
    expectOAuthError(await attacked.refresh(attacked.mobile, first.refresh_token), 400, 'invalid_grant');
    expectOAuthError(await attacked.refresh(attacked.mobile, third.refresh_token), 400, 'invalid_grant');
    for (const { access_token } of [first, second, third]) {
      expectInvalidToken(await attacked.userinfo(access_token));
    }
  });

  test.each([
    [
      'changed in its last letter',
      (token: string) => `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
    ],
    ['of a later generation', (token: string) => laterGeneration(token)],
    ['with padding', (token: string) => `${token}==`],
    ['in the other alphabet of base64', (token: string) => `${token.slice(0, 68)}++`],
    ['with a space behind it', (token: string) => `${token} `],
    ['ten thousand letters long', () => 'A'.repeat(10_000)],
    ['that is an access token', () => forge.access.text],
  ])('%s gives nothing, and ends nothing', async (_, change) => {
    const { refresh_token } = await attacked.tokens(victim, attacked.mobile);
    expectOAuthError(await attacked.refresh(attacked.mobile, change(refresh_token)), 400, 'invalid_grant');
    expect((await attacked.refresh(attacked.mobile, refresh_token)).status).toBe(200);
  });

  test('does not get more scopes than were granted', async () => {
    const fresh = await attacked.freshCode(victim, attacked.portal, { scope: 'openid' });
    const { refresh_token }: Tokens = JSON.parse((await attacked.redeem(fresh)).body);
    const fields = { ...credentialsOf(attacked.portal), grant_type: 'refresh_token', refresh_token };
    expectOAuthError(
      await attacked.call('/auth/token', { ...fields, scope: 'openid email' }),
      400,
      'invalid_scope',
    );
    expect((await attacked.call('/auth/token', fields)).status).toBe(200);
  });
});

function laterGeneration(token: string): string {
  const bytes = Buffer.from(token, 'base64url');
  bytes.writeUInt32BE(2, 16);
  return bytes.toString('base64url');
}

describe('the tokens of one application in the hands of another', () => {
  let tokens: Tokens;

  beforeAll(async () => {
    tokens = await attacked.tokens(victim, attacked.portal);
  });

  test.each(['shiftwise', 'mobile'] as const)('are not refreshed for the %s', async (name) => {
    expectOAuthError(await attacked.refresh(attacked[name], tokens.refresh_token), 400, 'invalid_grant');
  });

  test.each(['access_token', 'refresh_token'] as const)('are not in force for it: %s', async (kind) => {
    expect(await attacked.introspect(attacked.shiftwise, tokens[kind])).toEqual({ active: false });
  });

  test.each(['access_token', 'refresh_token'] as const)('are not ended by it: %s', async (kind) => {
    for (const application of [attacked.shiftwise, attacked.mobile]) {
      const answer = await attacked.call('/auth/revoke', {
        ...credentialsOf(application),
        token: tokens[kind],
      });
      expect(answer.body).not.toContain(tokens[kind]);
    }
    expect(await attacked.introspect(attacked.portal, tokens[kind])).toMatchObject({ active: true });
  });

  test.each([
    ['a public application', () => credentialsOf(attacked.mobile), 400, 'unauthorized_client'],
    [
      'one that does not prove itself',
      () => ({ client_id: attacked.portal.clientId }),
      401,
      'invalid_client',
    ],
    ['an application that is not named', () => ({}), 400, 'invalid_request'],
  ])('are not looked up for %s', async (_, credentials, status, error) => {
    const answer = await attacked.call('/auth/introspect', { ...credentials(), token: tokens.access_token });
    expectOAuthError(answer, status, error);
  });

  test('and their wrong hints change nothing of that', async () => {
    const fields = {
      ...credentialsOf(attacked.shiftwise),
      token: tokens.refresh_token,
      token_type_hint: 'access_token',
    };
    await attacked.call('/auth/revoke', fields, { 'x-forwarded-for': newAddress() });
    expect(await attacked.introspect(attacked.portal, tokens.refresh_token)).toMatchObject({ active: true });
  });
});

describe.each([
  ['by an application that does not prove itself', CLIENT_CASES],
  ['in a form that could be read in two ways, or in none', BODY_CASES],
  ['for a code that is not good for it', GRANT_CASES],
])('tokens are not given %s', (_, cases) => {
  let fresh: FreshCode;

  beforeAll(async () => {
    fresh = await attacked.freshCode(victim, attacked.portal);
  });

  test.each(cases)('$title', async ({ ask, status, error }) => {
    const { query = '', headers, ...question } = ask(fresh);
    const answer = await exchange(attacked.port, `/auth/token${query}`, {
      method: 'POST',
      ...question,
      headers: { 'x-forwarded-for': newAddress(), ...headers },
    });
    expectOAuthError(answer, status, error);
    expect(answer.headers['www-authenticate']).toEqual(
      status === 401 ? expect.stringMatching(/^Basic /) : undefined,
    );
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test('and all of it has used up nothing: asked for in order, they come', async () => {
    expect((await attacked.redeem(fresh)).status).toBe(200);
  });
});

describe('tokens are not given to', () => {
  test('another confidential application that got hold of the code', async () => {
    const fresh = await attacked.freshCode(victim, attacked.portal);
    expectOAuthError(await attacked.redeem(fresh, credentialsOf(attacked.shiftwise)), 400, 'invalid_grant');
    expect((await attacked.redeem(fresh)).status).toBe(200);
  });

  test('a public application that got hold of the code and all that goes with it', async () => {
    const fresh = await attacked.freshCode(victim, attacked.portal);
    const { client_secret, ...stolen } = redemptionOf(fresh);
    const answer = await attacked.call('/auth/token', { ...stolen, ...credentialsOf(attacked.mobile) });
    expectOAuthError(answer, 400, 'invalid_grant');
  });

  test('a public application that says it has a secret', async () => {
    const fresh = await attacked.freshCode(victim, attacked.mobile);
    const client_secret = attacked.portal.clientSecret ?? '';
    expectOAuthError(await attacked.redeem(fresh, { client_secret }), 400, 'invalid_client');
  });

  test('a public application that sends the empty password of HTTP Basic for another’s code', async () => {
    const fresh = await attacked.freshCode(victim, attacked.portal);
    const { client_secret, client_id, ...stolen } = redemptionOf(fresh);
    const authorization = `Basic ${Buffer.from(`${attacked.mobile.clientId}:`).toString('base64')}`;
    expectOAuthError(await attacked.call('/auth/token', stolen, { authorization }), 400, 'invalid_grant');
    const own = await attacked.freshCode(victim, attacked.mobile);
    const { client_id: named, ...redemption } = redemptionOf(own);
    expect((await attacked.call('/auth/token', redemption, { authorization })).status).toBe(200);
  });

  test('the injection of a code into a sign-in with another verifier', async () => {
    const stolen = await attacked.freshCode(victim, attacked.mobile);
    const own = newPkce();
    expectOAuthError(await attacked.redeem(stolen, { code_verifier: own.verifier }), 400, 'invalid_grant');
  });

  test('a verifier for a code that was requested without a challenge', async () => {
    const changes = { code_challenge: undefined, code_challenge_method: undefined };
    const fresh = await attacked.freshCode(victim, attacked.portal, changes);
    expectOAuthError(await attacked.redeem(fresh), 400, 'invalid_grant');
    const { code_verifier, ...without } = redemptionOf(fresh);
    expect((await attacked.call('/auth/token', without)).status).toBe(200);
  });

  test('the challenge as the verifier, as in the plain method', async () => {
    const { challenge } = newPkce();
    const fresh = await attacked.freshCode(victim, attacked.mobile, { code_challenge: challenge });
    expectOAuthError(await attacked.redeem({ ...fresh, verifier: challenge }), 400, 'invalid_grant');
  });
});

describe.each(['/auth/revoke', '/auth/introspect'])('%s', (path) => {
  const asked = () => ({ ...credentialsOf(attacked.portal), token: 'x' });
  const basic = () => basicOf(attacked.portal);

  test.each([
    [
      'its token twice',
      () => attacked.call(path, [...Object.entries(asked()), ['token', 'y']]),
      'invalid_request',
    ],
    ['no token', () => attacked.call(path, { ...asked(), token: '' }), 'invalid_request'],
    ['its secret twice', () => attacked.call(path, asked(), { authorization: basic() }), 'invalid_request'],
    ['its hint twice', () => attacked.call(path, [...Object.entries(asked()), ...HINTS]), 'invalid_request'],
    ['its token in the address', () => attacked.call(`${path}?token=x`, asked()), 'invalid_request'],
    ['its secret in the address', () => attacked.call(`${path}?client_secret=x`, asked()), 'invalid_request'],
    ['a NUL in its token', () => attacked.call(path, { ...asked(), token: 'x\0' }), 'invalid_request'],
    ['a wrong secret', () => attacked.call(path, { ...asked(), client_secret: 'x' }), 'invalid_client'],
    ['no application', () => attacked.call(path, { token: 'x' }), 'invalid_request'],
  ])('is not answered with %s', async (_, ask, error) => {
    const isUnproven = path === '/auth/introspect' && error === 'invalid_client';
    expectOAuthError(await ask(), isUnproven ? 401 : 400, error);
  });
});

describe.each(['/auth/token', '/auth/revoke', '/auth/introspect'])('%s', (path) => {
  test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'TRACE'])(
    'takes no %s, with whatever address',
    async (method) => {
      const query = encoded({ ...credentialsOf(attacked.portal), token: 'x' });
      const answer = await exchange(attacked.port, `${path}?${query}`, { method });
      expect([answer.status, answer.headers.allow]).toEqual([
        405,
        expect.stringMatching(/^POST(, OPTIONS)?$/),
      ]);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.body).not.toContain(attacked.portal.clientSecret);
    },
  );

  test.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])(
    'is not talked into another method by %s',
    async (header) => {
      const answer = await exchange(attacked.port, path, { headers: { [header]: 'POST' } });
      expect(answer.status).toBe(405);
    },
  );
});

test('nothing that opens anything is in the log, which says everything else', async () => {
  const fresh = await attacked.freshCode(victim, attacked.portal);
  const tokens: Tokens = JSON.parse((await attacked.redeem(fresh)).body);
  await attacked.userinfo(tokens.access_token);
  await attacked.introspect(attacked.portal, tokens.refresh_token);
  await attacked.userAgent().ask(`/auth/logout?id_token_hint=${tokens.id_token}`);
  await attacked.call(`/auth/token?code=${fresh.code}`, redemptionOf(fresh));
  await attacked.service.logged();
  const logged = attacked.service.output.lines().map((line) => JSON.stringify(line));
  const [session = ''] = victim.cookies.values();
  const { password } = attacked.person('no access to Juniper');
  const { access_token, refresh_token, id_token } = tokens;
  const { code, verifier } = fresh;
  const secrets = { access_token, refresh_token, id_token, session, password, code, verifier };
  for (const [name, secret] of Object.entries({ ...secrets, client: attacked.portal.clientSecret ?? '' })) {
    // Codes and tokens are random throughout, so that a piece of one is found too.
    const piece = name === 'password' ? secret : String(secret).slice(-20);
    expect([name, logged.filter((line) => line.includes(piece))]).toEqual([name, []]);
  }
});
