import { createServer } from 'node:http';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { exchange } from '../support/http-exchange.js';
import { listenOnLoopback } from '../support/loopback.js';
import { serviceProcesses } from '../support/service-process.js';
import { AttackedService, BEHIND_PROXY, redirectUriOf } from './attacked-service.js';
import { AUTHORIZATION_CASES, CLIENT_ID_CASES, REFLECTED_STATES, REPEATED } from './authorization-cases.js';
import { REDIRECT_URI_CASES, WRITTEN_REDIRECT_URI_CASES } from './redirect-uri-cases.js';
import { newAddress, type UserAgent } from './user-agent.js';
import { expectErrorPage, expectRefusal, redirectOf } from './verdicts.js';

const REGISTERED = 'https://portal.brightledger.example.com/callback';
const STATE = 'state-of-the-application';

const services = serviceProcesses();
let attacked: AttackedService;
/** A signed-in person who has given the portal consent: a valid request gets a code at once. */
let victim: UserAgent;

beforeAll(async () => {
  attacked = new AttackedService(await services.start(BEHIND_PROXY));
  victim = await attacked.signedIn();
  await attacked.freshCode(victim, attacked.portal, { redirect_uri: REGISTERED });
});

describe('a redirect URI', () => {
  test.each(REDIRECT_URI_CASES)('%s causes no redirect', async (_, change) => {
    const uri = change(REGISTERED);
    expect(uri).not.toBe(REGISTERED);
    const answer = await victim.ask(attacked.authorizeTarget(attacked.portal, { redirect_uri: uri }));
    expectErrorPage(answer);
    expect(answer.body).not.toContain(uri);
    expect(answer.body).not.toContain('evil.example');
  });

  test.each(WRITTEN_REDIRECT_URI_CASES)('%s causes no redirect', async (_, write) => {
    const target = attacked.authorizeTarget(attacked.portal, { redirect_uri: undefined });
    expectErrorPage(await victim.ask(`${target}${write(encodeURIComponent(REGISTERED))}`));
  });

  test.each(['token', 'none'])(
    'that is wrong is not told that the response type %s is wrong too',
    async (type) => {
      const changes = { redirect_uri: 'https://evil.example/', response_type: type, prompt: 'none' };
      expectErrorPage(await victim.ask(attacked.authorizeTarget(attacked.portal, changes)));
    },
  );

  test('that is right gets a code at once, so that the refusals mean something', async () => {
    const fresh = await attacked.freshCode(victim, attacked.portal, { redirect_uri: REGISTERED });
    expect(fresh.code).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  test.each(REDIRECT_URI_CASES.filter(([title]) => /evil|script|another application/.test(title)))(
    '%s causes no redirect when it is posted',
    async (_, change) => {
      const [path = '', query = ''] = attacked
        .authorizeTarget(attacked.portal, { redirect_uri: change(REGISTERED) })
        .split('?');
      expectErrorPage(await victim.post(path, [...new URLSearchParams(query)]));
    },
  );
});

test.each(CLIENT_ID_CASES)('a client_id that %s causes no redirect and is not repeated', async (_, write) => {
  const written = write(attacked.portal.clientId);
  const target = attacked.authorizeTarget(attacked.portal, { client_id: undefined });
  const answer = await victim.ask(`${target}&${written}`);
  expectErrorPage(answer);
  expect(answer.body).not.toMatch(/<img|onerror|evil\.example|AAAAAA/);
});

describe('a proven application hears, at its own address, that it cannot have', () => {
  test.each(AUTHORIZATION_CASES)('$title', async ({ application = 'portal', changes, error }) => {
    const asking = attacked[application];
    const target = redirectUriOf(asking);
    const answer = await victim.ask(attacked.authorizeTarget(asking, changes));
    expectRefusal(answer, { target, issuer: attacked.issuer, error, state: STATE });
  });

  test.each(REPEATED)('%s twice', async (name) => {
    const given = attacked.authorizeTarget(attacked.portal, { prompt: 'none' });
    const twice = new URLSearchParams(given.split('?')[1]).has(name) ? `&${name}=x` : `&${name}=1&${name}=2`;
    const target = redirectUriOf(attacked.portal);
    const answer = await victim.ask(`${given}${twice}`);
    expectRefusal(answer, { target, issuer: attacked.issuer, error: 'invalid_request', state: STATE });
  });

  test.each([
    ['that comes twice', '&state=one&state=two'],
    ['with a NUL', '&state=a%00b'],
    ['longer than any', `&state=${'x'.repeat(4_097)}`],
  ])('a state %s, and does not get it back', async (_, written) => {
    const target = redirectUriOf(attacked.portal);
    const answer = await victim.ask(
      `${attacked.authorizeTarget(attacked.portal, { state: undefined })}${written}`,
    );
    expectRefusal(answer, { target, issuer: attacked.issuer, error: 'invalid_request' });
  });

  test('an ID token of another application as a hint', async () => {
    const { id_token } = await attacked.tokens(victim, attacked.shiftwise);
    const target = redirectUriOf(attacked.portal);
    const answer = await victim.ask(attacked.authorizeTarget(attacked.portal, { id_token_hint: id_token }));
    expectRefusal(answer, { target, issuer: attacked.issuer, error: 'invalid_request', state: STATE });
  });

  test('an access token as a hint', async () => {
    const { access_token } = await attacked.tokens(victim, attacked.portal);
    const target = redirectUriOf(attacked.portal);
    const changes = { id_token_hint: access_token, prompt: 'none' };
    const answer = await victim.ask(attacked.authorizeTarget(attacked.portal, changes));
    expectRefusal(answer, { target, issuer: attacked.issuer, error: 'login_required', state: STATE });
  });

  test('a hint with a changed person', async () => {
    const { id_token } = await attacked.tokens(victim, attacked.portal);
    const [header, payload = '', signature] = id_token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'acc_AAAAAAAAAAAAAAAAAAAAAA' })).toString(
      'base64url',
    );
    const target = redirectUriOf(attacked.portal);
    const changes = { id_token_hint: `${header}.${changed}.${signature}`, prompt: 'none' };
    const answer = await victim.ask(attacked.authorizeTarget(attacked.portal, changes));
    expectRefusal(answer, { target, issuer: attacked.issuer, error: 'login_required', state: STATE });
  });
});

describe('a state that', () => {
  test.each(REFLECTED_STATES)('%s comes back as a value and as nothing else', async (_, state) => {
    const stranger = attacked.userAgent();
    const refused = await stranger.ask(attacked.authorizeTarget(attacked.portal, { state, prompt: 'none' }));
    const target = redirectUriOf(attacked.portal);
    expectRefusal(refused, { target, issuer: attacked.issuer, error: 'login_required', state });
    expect(Object.keys(refused.headers)).not.toContain('stolen');
    expect(refused.headers['set-cookie'] ?? []).not.toContainEqual(expect.stringContaining('stolen'));
    const accepted = redirectOf(await victim.ask(attacked.authorizeTarget(attacked.portal, { state })));
    expect(accepted).toEqual({
      target,
      parameters: [
        ['code', expect.stringMatching(/^[A-Za-z0-9_-]{43}$/)],
        ['state', state],
        ['iss', attacked.issuer],
      ],
    });
  });
});

test('members that every object has mean nothing as parameters', async () => {
  const target = attacked.authorizeTarget(attacked.portal);
  const polluting =
    '&__proto__=x&__proto__[firstParty]=true&constructor=x&toString=x&hasOwnProperty=x&__proto__=y';
  expect(redirectOf(await victim.ask(`${target}${polluting}`)).target).toBe(redirectUriOf(attacked.portal));
});

test('the request object that an address names is not fetched', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.end('{}');
  });
  const port = await listenOnLoopback(server);
  await victim.ask(
    attacked.authorizeTarget(attacked.portal, { request_uri: `http://127.0.0.1:${port}/object` }),
  );
  // Whatever the first might have set going, the second has been waited for too.
  await victim.ask(attacked.authorizeTarget(attacked.portal));
  await new Promise((resolve) => server.close(resolve));
  expect(asked).toEqual([]);
});

test.each(['/auth/authorize', '/auth/logout'])(
  'a query of bytes that no address has is refused at %s',
  async (path) => {
    const answer = await exchange(attacked.port, `${path}?client_id=%zz&state=%`);
    expectErrorPage(answer);
  },
);

test.each(['image', 'empty', 'iframe'])(
  'a page of another site that loads a request as %s, 700 times, keeps nobody in the network from signing in',
  async (destination) => {
    const target = attacked.authorizeTarget(attacked.dashboard);
    const inOffice = { 'x-forwarded-for': newAddress() };
    const load = () =>
      exchange(attacked.port, target, {
        headers: { ...inOffice, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': destination },
      });
    for (let round = 0; round < 35; round += 1) {
      for (const answer of await Promise.all(Array.from({ length: 20 }, load))) {
        expectErrorPage(answer);
      }
    }
    const colleague = await exchange(attacked.port, target, { headers: inOffice });
    expect([colleague.status, colleague.headers.location]).toEqual([
      303,
      expect.stringMatching('/auth/sign-in?'),
    ]);
  },
);
