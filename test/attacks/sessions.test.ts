import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { serviceProcesses } from '../support/service-process.js';
import { untilAnswered } from '../support/turned-away.js';
import { AttackedService, BEHIND_PROXY, redirectUriOf } from './attacked-service.js';
import { hiddenFields, type UserAgent } from './user-agent.js';
import {
  expectErrorPage,
  expectPage,
  expectRefusal,
  expectStalePage,
  redirectOf,
  withoutOwnScripts,
} from './verdicts.js';

const COOKIE = 'integration_session_demo';
const SIGNED_OUT = 'https://portal.brightledger.example.com/signed-out';
const HOSTILE = `"'><img src=x onerror=alert(1)></title></style><script>alert(1)</script>&lt;`;

const services = serviceProcesses();
let attacked: AttackedService;

beforeAll(async () => {
  attacked = new AttackedService(await services.start(BEHIND_PROXY));
});

/** Whether an application would get a code of this browser without a question. */
async function isSignedIn(userAgent: UserAgent): Promise<boolean> {
  const target = attacked.authorizeTarget(attacked.dashboard, { prompt: 'none' });
  const answer = await eventually('an answer about the session', async () => {
    const told = await untilAnswered(() => userAgent.ask(target));
    return !told.headers.location?.includes('error=temporarily_unavailable') && told;
  });
  return answer.headers.location?.includes('code=') ?? false;
}

function withCookie(value: string, name = COOKIE): UserAgent {
  const userAgent = attacked.userAgent();
  userAgent.cookies.set(name, value);
  return userAgent;
}

describe('a session', () => {
  test('has another cookie after the sign-in than before, and the one from before is worth nothing', async () => {
    const victim = attacked.userAgent();
    await attacked.signInPage(victim);
    const before = victim.cookies.get(COOKIE) ?? '';
    const { email, password } = attacked.person('no access to Juniper');
    const hidden = await attacked.signInPage(victim);
    await victim.submit('/auth/sign-in', { ...hidden, email, password });
    expect(victim.cookies.get(COOKIE)).not.toBe(before);
    expect(await isSignedIn(victim)).toBe(true);
    expect(await isSignedIn(withCookie(before))).toBe(false);
  });

  test('that an attacker began and planted is worth nothing to them once the victim has signed in', async () => {
    const attacker = attacked.userAgent();
    await attacked.signInPage(attacker);
    const victim = withCookie(attacker.cookies.get(COOKIE) ?? '');
    await untilAnswered(() => attacked.signIn(victim, attacked.person('no access to Juniper')));
    expect([await isSignedIn(victim), await isSignedIn(attacker)]).toEqual([true, false]);
  });

  test.each([
    ['43 letters', 'A'.repeat(43)],
    ['a member of every object', '__proto__'],
    ['a piece of SQL', "' OR '1'='1"],
    ['ten thousand letters', 'A'.repeat(10_000)],
  ])('is not made from an attacker’s value: %s', async (_, value) => {
    const userAgent = withCookie(value);
    await untilAnswered(() => attacked.signIn(userAgent, attacked.person('no access to Juniper')));
    expect(await isSignedIn(withCookie(value))).toBe(false);
    expect(userAgent.cookies.get(COOKIE)).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(userAgent.cookies.get(COOKIE)).not.toBe(value);
  });

  test.each([
    ['before', (own: string, theirs: string) => `${COOKIE}=${theirs}; ${COOKIE}=${own}`],
    ['behind', (own: string, theirs: string) => `${COOKIE}=${own}; ${COOKIE}=${theirs}`],
  ])('is ignored where a neighbour has set a cookie of the same name %s it', async (_, header) => {
    const [victim, attacker] = [
      await attacked.signedIn(),
      await attacked.signedIn('worker of Tallowfern only'),
    ];
    const cookie = header(victim.cookies.get(COOKIE) ?? '', attacker.cookies.get(COOKIE) ?? '');
    const target = attacked.authorizeTarget(attacked.dashboard, { prompt: 'none' });
    const answer = await attacked.userAgent().ask(target, { headers: { cookie } });
    expect(answer.headers.location).toContain('error=login_required');
  });

  test.each(['integration_session', '__Host-integration_session', 'INTEGRATION_SESSION_DEMO', ` ${COOKIE}x`])(
    'is not taken from a cookie of another name: %j',
    async (name) => {
      const victim = await attacked.signedIn();
      expect(await isSignedIn(withCookie(victim.cookies.get(COOKIE) ?? '', name))).toBe(false);
    },
  );

  test('is kept from scripts, other sites and neighbouring hosts', async () => {
    const answer = await attacked.userAgent().ask(attacked.authorizeTarget(attacked.dashboard));
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(/^integration_session_demo=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
  });

  test('ends with the sign-out, also for copies of its cookie', async () => {
    const victim = await attacked.signedIn();
    const thief = withCookie(victim.cookies.get(COOKIE) ?? '');
    expect(await isSignedIn(thief)).toBe(true);
    await victim.submit('/auth/sign-out', hiddenFields(await attacked.open(victim, '/auth/logout')));
    expect([await isSignedIn(victim), await isSignedIn(thief)]).toEqual([false, false]);
  });

  test('is not begun in the name of an attacker by sending a victim to the attacker’s page', async () => {
    const attacker = attacked.userAgent();
    const { interaction } = await attacked.signInPage(attacker);
    const victim = attacked.userAgent();
    for (const path of ['/auth/sign-in', '/auth/consent', '/auth/choose-context', '/auth/sign-out']) {
      expectStalePage(await victim.ask(`${path}?interaction=${interaction}`));
    }
    expect(victim.cookies.size).toBe(0);
  });
});

describe('a sign-out that another site asks for', () => {
  test('asks the person first', async () => {
    const victim = await attacked.signedIn();
    const page = await attacked.open(victim, `/auth/logout?client_id=${attacked.portal.clientId}`);
    expectPage(page, 200, 'Sign out?');
    expect(await isSignedIn(victim)).toBe(true);
  });

  test('asks the person first when it has the ID token of another person', async () => {
    const attacker = await attacked.signedIn('worker of Tallowfern only');
    const { id_token } = await attacked.tokens(attacker, attacked.portal);
    const victim = await attacked.signedIn();
    expectPage(await attacked.open(victim, `/auth/logout?id_token_hint=${id_token}`), 200, 'Sign out?');
    expect(await isSignedIn(victim)).toBe(true);
  });

  test('asks the person first when the ID token is forged', async () => {
    const victim = await attacked.signedIn();
    const { id_token } = await attacked.tokens(victim, attacked.portal);
    const [, claims] = id_token.split('.');
    const forged = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${claims}.`;
    const target = `/auth/logout?client_id=${attacked.portal.clientId}&id_token_hint=${forged}`;
    expectPage(await attacked.open(victim, target), 200, 'Sign out?');
    expect(await isSignedIn(victim)).toBe(true);
  });

  const open = (uri: string) => `&post_logout_redirect_uri=${encodeURIComponent(uri)}`;

  test.each([
    ['an unregistered address', open('https://evil.example/')],
    ['the registered one with a slash behind it', open(`${SIGNED_OUT}/`)],
    ['the registered one with a query', open(`${SIGNED_OUT}?next=//evil.example`)],
    ['the registered one in capitals', open(SIGNED_OUT.toUpperCase())],
    ['the registered one over http', open(SIGNED_OUT.replace('https', 'http'))],
    ['a redirect URI of a sign-in', open('https://portal.brightledger.example.com/callback')],
    ['that of another application', open('https://app.shiftwise.example.com/signed-out')],
    ['a script', open('javascript:alert(1)')],
    ['a path with two slashes', open('//evil.example')],
    ['a path with a backslash', open('/\\evil.example')],
    ['two addresses', `${open(SIGNED_OUT)}${open('https://evil.example/')}`],
    ['an address with a NUL', open(`${SIGNED_OUT}\0`)],
  ])('does not redirect with %s', async (_, written) => {
    const answer = await attacked
      .userAgent()
      .ask(`/auth/logout?client_id=${attacked.portal.clientId}${written}`);
    expectErrorPage(answer);
    expect(answer.body).not.toContain('evil.example');
  });

  test('does not redirect with the right address and no application', async () => {
    expectErrorPage(await attacked.userAgent().ask(`/auth/logout?state=x${open(SIGNED_OUT)}`));
  });

  test('leads to the registered address with the state as a value and nothing else', async () => {
    const state = 'x\r\nLocation: https://evil.example&code=1#"';
    const query = `client_id=${attacked.portal.clientId}${open(SIGNED_OUT)}&state=${encodeURIComponent(state)}`;
    const answer = redirectOf(await attacked.userAgent().ask(`/auth/logout?${query}`));
    expect(answer).toEqual({ target: SIGNED_OUT, parameters: [['state', state]] });
  });
});

describe('user input is shown as text', () => {
  test('a login hint, in the sign-in page', async () => {
    const page = await attacked
      .userAgent()
      .open(attacked.authorizeTarget(attacked.portal, { login_hint: HOSTILE }));
    expectPage(page, 200, 'Sign in');
    expect(page.body).not.toContain('<img');
    expect(page.body).toContain('value="&quot;&#39;&gt;&lt;img src=x');
  });

  test('an email address that was refused', async () => {
    const userAgent = attacked.userAgent();
    const hidden = await attacked.signInPage(userAgent);
    const email = '"><img/src=x/onerror=alert(1)>@evil.example';
    const page = await userAgent.submit('/auth/sign-in', { ...hidden, email, password: HOSTILE });
    expectPage(page, 200, 'Sign in');
    expect(page.body).not.toContain('<img');
    expect(page.body).toContain('value="&quot;&gt;&lt;img/src=x');
  });

  test('the name of an application, in every page that names it', async () => {
    const hostile = await attacked.register({ name: HOSTILE.slice(0, 60) });
    const target = attacked.authorizeTarget(hostile);
    const victim = await attacked.signedIn();
    const pages = [await attacked.open(attacked.userAgent(), target), await attacked.open(victim, target)];
    pages.push(await attacked.open(victim, `/auth/logout?client_id=${hostile.clientId}`));
    for (const page of pages) {
      expect(page.status).toBe(200);
      expect(page.body).toContain('&quot;&#39;&gt;&lt;img src=x');
      expect(withoutOwnScripts(page.body)).not.toMatch(/<img|<script/);
    }
  });

  test.each(['interaction', 'token', 'problem', 'csrf_token'])('the parameter %s of a page', async (name) => {
    for (const path of ['sign-in', 'consent', 'set-password', 'verify-email', 'change-email', 'sign-out']) {
      const answer = await attacked
        .userAgent()
        .ask(`/auth/${path}?${new URLSearchParams({ [name]: HOSTILE })}`);
      expectErrorPage(answer);
      expect(answer.body).not.toContain('alert(1)');
    }
  });
});

test('a person other than the expected one is not signed in silently', async () => {
  const other = await attacked.signedIn('worker of Tallowfern only');
  const { id_token } = await attacked.tokens(other, attacked.portal);
  const victim = await attacked.signedIn();
  await attacked.freshCode(victim, attacked.portal);
  const answer = await victim.ask(
    attacked.authorizeTarget(attacked.portal, { prompt: 'none', id_token_hint: id_token }),
  );
  const target = redirectUriOf(attacked.portal);
  const state = 'state-of-the-application';
  expectRefusal(answer, { target, issuer: attacked.issuer, error: 'login_required', state });
});
