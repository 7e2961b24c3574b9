import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { exchange } from '../support/http-exchange.js';
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
import { GRANT_CASES } from './grant-cases.js';
import { encoded, newAddress, newPkce, type UserAgent } from './user-agent.js';
import { expectOAuthError } from './verdicts.js';

const HINTS: [string, string][] = [
  ['token_type_hint', 'access_token'],
  ['token_type_hint', 'refresh_token'],
];

const services = serviceProcesses();
let attacked: AttackedService;
let victim: UserAgent;

beforeAll(async () => {
  attacked = new AttackedService(await services.start(BEHIND_PROXY));
  victim = await attacked.signedIn();
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
    expectOAuthError(await ask(), 400, error);
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
  await attacked.call(`/auth/token?code=${fresh.code}`, redemptionOf(fresh), {
    'x-request-id': 'the-last-one',
  });
  const { output } = attacked.service;
  await eventually('the line of the last request', () =>
    output.lines().find(({ msg, requestId }) => msg === 'request' && requestId === 'the-last-one'),
  );
  const logged = output.lines().map((line) => JSON.stringify(line));
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
