import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { CODE_LIFETIME_MS } from '../../../src/domain/sign-on/authorization/codes.js';
import { INTERACTION_LIFETIME_MS } from '../../../src/domain/sign-on/interaction/interactions.js';
import { createDemoApp, type DemoAppAccess } from '../../../src/edge/demo-app/demo-app.js';
import type { DispatchedAnswer } from '../../../src/edge/http/exchange.js';

const URL_OF_APP = 'http://localhost:4004';
const ACCESS: DemoAppAccess = {
  clientId: 'app_demo',
  clientSecret: 'cs_demo_secret',
  people: [{ email: 'maya@example.com', password: 'correct-horse-demo', note: 'user of <Tallowfern>' }],
};

interface Asked {
  url: string | undefined;
  authorization: string | undefined;
  body: URLSearchParams;
}

/** A sign-on server that answers as told, and records what it was asked. */
class SignOn {
  readonly asked: Asked[] = [];
  claims: Record<string, unknown> = {};
  /** The claims, unless it is set. */
  userinfo: object | undefined;
  refusal: object | undefined;
  readonly #server = createServer(async (request, response) => {
    const body = new URLSearchParams(await textOf(request));
    this.asked.push({ url: request.url, authorization: request.headers.authorization, body });
    response.statusCode = this.refusal ? 400 : 200;
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(
        this.refusal ?? (request.method === 'POST' ? this.#tokens() : (this.userinfo ?? this.claims)),
      ),
    );
  });

  #tokens() {
    const payload = Buffer.from(JSON.stringify(this.claims)).toString('base64url');
    return {
      access_token: 'an-access-token',
      id_token: `e30.${payload}.sig`,
      refresh_token: 'rt',
      expires_in: 3600,
    };
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  start = () => new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
  }
  return text;
}

describe('the application of the demo', () => {
  const signOn = new SignOn();
  let access: DemoAppAccess | undefined;
  beforeAll(signOn.start);
  afterAll(() => signOn.stop());
  beforeEach(() => {
    access = ACCESS;
    signOn.asked.length = 0;
    signOn.refusal = undefined;
    signOn.userinfo = undefined;
  });

  function ask(target: string, { method = 'GET', ...headers }: Record<string, string> = {}) {
    const { pathname: path, searchParams: query } = new URL(target, URL_OF_APP);
    const app = createDemoApp({
      url: URL_OF_APP,
      signOnUrl: signOn.url,
      docsUrl: 'http://localhost:4001/docs',
      instances: [
        { id: 'ins_1', name: 'Harborlight Payroll', callbackPath: '/callback' },
        { id: 'ins_2', name: 'Juniper People', callbackPath: '/juniper/callback' },
      ],
      access: () => access,
    });
    return app({
      method,
      path,
      query,
      rawQuery: query.toString(),
      headers: { host: 'localhost:4004', ...headers },
      requestId: 'r',
      clientAddress: '127.0.0.1',
      network: '127.0.0.1',
      readBody: async () => Buffer.alloc(0),
      giveUpBody: () => undefined,
      left: new AbortController().signal,
      wait: () => undefined,
      holds: () => true,
    });
  }

  const cookieOf = ({ headers }: DispatchedAnswer) => String(headers['set-cookie']).split(';')[0] ?? '';
  const textIn = ({ body }: DispatchedAnswer) => String(body);

  /** Begins a sign-in, and gives what the sign-on server was sent and the cookie. */
  async function begun(target = '/sign-in', before = '') {
    const answer = await ask(target, { cookie: before });
    const sent = Object.fromEntries(new URL(String(answer.headers.location)).searchParams);
    signOn.claims = {
      iss: signOn.url,
      sub: 'acc_1',
      aud: ACCESS.clientId,
      exp: Math.floor(Date.now() / 1_000) + 3_600,
      nonce: sent.nonce,
      name: 'Maya <b>Okafor</b>',
    };
    return { answer, sent, cookie: cookieOf(answer) };
  }

  const returned = (parameters: Record<string, string | undefined>) =>
    `/callback?${new URLSearchParams(JSON.parse(JSON.stringify({ code: 'a-code', iss: signOn.url, ...parameters })))}`;

  test('begins a sign-in to which its own sign-on server leads, on the instance that is named', async () => {
    const { sent } = await begun(`/sign-in?iss=${encodeURIComponent(signOn.url)}&instance_id=ins_2`);
    expect(sent.redirect_uri).toBe(`${URL_OF_APP}/juniper/callback`);
    const { status, headers } = await ask('/sign-in?iss=https://evil.example');
    expect([status, headers.location]).toEqual([400, undefined]);
  });

  test('shows the ways in, and everyone to sign in as, escaped', async () => {
    const { status, body } = await ask('/');
    expect(status).toBe(200);
    for (const words of [
      'maya@example.com',
      'correct-horse-demo',
      'user of &lt;Tallowfern&gt;',
      'Juniper People',
      'sign in to Harborlight Payroll with that address; for Juniper People, use the button above',
    ]) {
      expect(body).toContain(words);
    }
  });

  test('sends a browser away with state, nonce and PKCE, all kept in one cookie', async () => {
    const { answer, sent, cookie } = await begun();
    expect([answer.status, new URL(String(answer.headers.location)).origin]).toEqual([302, signOn.url]);
    const [, state, nonce, verifier] = /^demo_app_attempt=([^.]+)\.([^.]+)\.([^.]+)$/.exec(cookie) ?? [];
    expect(sent).toEqual({
      response_type: 'code',
      client_id: ACCESS.clientId,
      redirect_uri: `${URL_OF_APP}/callback`,
      scope: 'openid profile email',
      state,
      nonce,
      code_challenge: createHash('sha256').update(String(verifier)).digest('base64url'),
      code_challenge_method: 'S256',
    });
    expect(answer.headers['set-cookie']).toMatch(/; HttpOnly; SameSite=Lax$/);
    expect((await begun()).sent.state).not.toBe(state);
  });

  test.each([
    ['/sign-in?email=maya%40example.com', { login_hint: 'maya@example.com', prompt: 'login' }],
    ['/sign-in?another', { prompt: 'login' }],
    ['/sign-in?callback=/juniper/callback', { redirect_uri: `${URL_OF_APP}/juniper/callback` }],
    ['/sign-in?callback=https://attacker.example.com', { redirect_uri: `${URL_OF_APP}/callback` }],
  ])('%s asks the sign-on server for that', async (target, expected) => {
    expect((await begun(target)).sent).toMatchObject(expected);
  });

  test('exchanges the code with its secret and the verifier, and shows what it got and the calls that use it', async () => {
    const { sent, cookie } = await begun();
    const page = await ask(returned({ state: sent.state }), { cookie });
    expect(page.status).toBe(200);
    expect(page.headers['set-cookie']).toContain('demo_app_attempt=; Path=/; Max-Age=0');
    const [exchange, userinfo] = signOn.asked;
    expect(exchange).toMatchObject({
      url: '/auth/token',
      authorization: `Basic ${Buffer.from('app_demo:cs_demo_secret').toString('base64')}`,
    });
    expect(Object.fromEntries(exchange?.body ?? [])).toEqual({
      grant_type: 'authorization_code',
      redirect_uri: sent.redirect_uri,
      code_verifier: cookie.split('.')[2],
      code: 'a-code',
    });
    expect(userinfo).toMatchObject({ url: '/auth/userinfo', authorization: 'Bearer an-access-token' });
    for (const words of [
      'Signed in as <bdi>Maya &lt;b&gt;Okafor&lt;/b&gt;</bdi>',
      '-H &#39;Authorization: Bearer an-access-token&#39;',
      '-d refresh_token=rt',
      '-u &#39;app_demo:cs_demo_secret&#39;',
      'post_logout_redirect_uri=http%3A%2F%2Flocalhost%3A4004%2Fsigned-out&amp;state=%2Fcallback',
      '<textarea class="code" readonly spellcheck="false" rows="1" aria-label="Refresh token">rt</textarea>',
    ]) {
      expect(textIn(page)).toContain(words);
    }
  });

  test.each<[string, { state?: string; iss?: string; cookie?: string }, RegExp]>([
    ['without the cookie', { cookie: '' }, /opened before, or its sign-in began in another browser/],
    ['with another state', { state: 'other' }, /began in another browser/],
    ['of another issuer', { iss: 'https://attacker.example.com' }, /not from the sign-on server/],
  ])('sends no code %s', async (_, { cookie, ...changed }, words) => {
    const attempt = await begun();
    const page = await ask(returned({ state: attempt.sent.state, ...changed }), {
      cookie: cookie ?? attempt.cookie,
    });
    expect(page.status).toBe(400);
    expect(textIn(page)).toMatch(words);
    expect(signOn.asked).toEqual([]);
  });

  test('signs in in two tabs, in any order, and once in each', async () => {
    const first = await begun();
    const second = await begun('/sign-in', first.cookie);
    const back = (tab: typeof first, cookie: string) => ask(returned({ state: tab.sent.state }), { cookie });
    signOn.claims.nonce = first.sent.nonce;
    const one = await back(first, second.cookie);
    signOn.claims.nonce = second.sent.nonce;
    const other = await back(second, cookieOf(one));
    const again = await back(first, cookieOf(one));
    expect([one.status, other.status, again.status]).toEqual([200, 200, 400]);
    expect(other.headers['set-cookie']).toContain('demo_app_attempt=; Path=/; Max-Age=0');
  });

  test('keeps five sign-ins, because every server of the machine gets the cookie', async () => {
    const oldest = await begun();
    let { cookie } = oldest;
    for (const _ of [2, 3, 4, 5]) {
      ({ cookie } = await begun('/sign-in', cookie));
    }
    expect(cookie.split('~')).toHaveLength(5);
    const { cookie: later } = await begun('/sign-in', cookie);
    expect(later.split('~')).toHaveLength(5);
    const { status } = await ask(returned({ state: oldest.sent.state }), { cookie: later });
    expect(status).toBe(400);
  });

  test('says why the sign-on server refused the sign-in', async () => {
    const { sent, cookie } = await begun();
    const target = returned({
      state: sent.state,
      code: undefined,
      error: 'access_denied',
      error_description: '<i>No',
    });
    const page = await ask(target, { cookie });
    expect(page.status).toBe(400);
    expect(textIn(page)).toMatch(/&lt;i&gt;No[\s\S]*access_denied/);
    expect(signOn.asked).toEqual([]);
  });

  test('begins the next sign-in on the instance of the one that failed or ended', async () => {
    const juniper = /href="\/sign-in\?callback=%2Fjuniper%2Fcallback"/;
    const { sent, cookie } = await begun('/sign-in?callback=/juniper/callback');
    const target = `/juniper${returned({ state: sent.state, code: undefined, error: 'access_denied' })}`;
    expect(textIn(await ask(target, { cookie }))).toMatch(juniper);
    expect(textIn(await ask(target))).toMatch(juniper);
    expect(textIn(await ask('/signed-out?state=%2Fjuniper%2Fcallback'))).toMatch(juniper);
    access = undefined;
    expect(textIn(await ask('/sign-in?instance_id=ins_2'))).toMatch(juniper);
  });

  test('shows nothing of userinfo that is about another person than the ID token', async () => {
    const { sent, cookie } = await begun();
    signOn.userinfo = { sub: 'acc_2' };
    const page = await ask(returned({ state: sent.state }), { cookie });
    expect(page.status).toBe(400);
    expect(textIn(page)).toContain('another person');
    expect(textIn(page)).not.toContain('acc_2');
  });

  test('takes the answer of a sign-in page that was open for an hour', async () => {
    const { answer } = await begun();
    const [, expires = ''] = /; Expires=([^;]+)/.exec(String(answer.headers['set-cookie'])) ?? [];
    expect(Date.parse(expires)).toBeGreaterThan(Date.now() + INTERACTION_LIFETIME_MS + CODE_LIFETIME_MS);
  });

  test('after a sign-out says that the tokens stay', async () => {
    expect(textIn(await ask('/signed-out'))).toMatch(
      /work until they expire[\s\S]*\/docs\/sign-in">the guide</,
    );
  });

  test('says why there are no tokens for a code', async () => {
    const { sent, cookie } = await begun();
    signOn.refusal = { error: 'invalid_grant', error_description: 'The code has expired.' };
    const page = await ask(returned({ state: sent.state }), { cookie });
    expect(page.status).toBe(400);
    expect(textIn(page)).toMatch(/The code has expired\.[\s\S]*invalid_grant/);
    expect(page.headers['set-cookie']).toContain('Max-Age=0');
  });

  test.each([
    ['nonce', 'of another sign-in'],
    ['aud', 'app_other'],
    ['iss', 'https://attacker.example.com'],
    ['exp', 1],
  ])('shows no tokens beside an ID token with another %s', async (claim, value) => {
    const { sent, cookie } = await begun();
    signOn.claims[claim] = value;
    const page = await ask(returned({ state: sent.state }), { cookie });
    expect(page.status).toBe(400);
    expect(textIn(page)).not.toContain('an-access-token');
  });

  test('without credentials says how to get them', async () => {
    access = undefined;
    expect(await ask('/sign-in')).toMatchObject({ status: 503, body: expect.stringContaining('make run') });
    const start = await ask('/');
    expect([start.status, textIn(start)]).toEqual([200, expect.stringContaining('make run')]);
    expect(textIn(start)).not.toContain('the password');
  });

  test('has a logo, a privacy policy and terms, which its registration names', async () => {
    const logo = await ask('/logo.svg');
    expect([logo.status, logo.headers['content-type'], textIn(logo)]).toEqual([
      200,
      'image/svg+xml',
      expect.stringMatching(/^<svg /),
    ]);
    expect(textIn(await ask('/privacy'))).toContain('<h1>Privacy policy</h1>');
    expect(textIn(await ask('/terms'))).toContain('<h1>Terms of service</h1>');
  });

  test('says that a page is missing, and leads back to the start', async () => {
    const page = await ask('/missing');
    expect(page.status).toBe(404);
    expect(textIn(page)).toMatch(/<h1>Page not found<\/h1>[\s\S]*href="\/">Back to the start</);
    expect(textIn(page)).not.toContain('not signed in');
  });

  test.each(['attacker.example.com', 'attacker.example.com:4004', 'localhost.attacker.example.com', ''])(
    'answers nothing at the host %j',
    async (host) => {
      expect(await ask('/', { host })).toMatchObject({
        status: 421,
        headers: { 'cache-control': 'no-store' },
      });
    },
  );

  test.each([
    ['127.0.0.1:4004', '/', '/'],
    ['127.0.0.1', '/sign-in?email=maya%40example.com', '/sign-in?email=maya%40example.com'],
    ['[::1]:4004', '/callback?state=a%26b', '/callback?state=a%26b'],
  ])(
    'at %s, where the cookie would not come back, leads %s to its own address',
    async (host, target, path) => {
      const { status, headers, body } = await ask(target, { host });
      expect({ status, headers, body }).toEqual({
        status: 302,
        headers: { location: `${URL_OF_APP}${path}`, 'cache-control': 'no-store' },
        body: undefined,
      });
    },
  );

  test('says at every address of its own that a page is missing', async () => {
    expect(await ask('/missing', { host: '127.0.0.1:4004' })).toMatchObject({ status: 404 });
  });

  test('begins no sign-in at another address than the one to which it returns', async () => {
    const { headers } = await ask('/sign-in', { host: '127.0.0.1:4004' });
    expect(headers).not.toHaveProperty('set-cookie');
    expect(await ask(String(headers.location).slice(URL_OF_APP.length))).toMatchObject({
      headers: { 'set-cookie': expect.stringContaining('demo_app_attempt=') },
    });
  });

  test.each(['HEAD', 'POST', 'DELETE'])('a %s of the callback exchanges no code', async (method) => {
    const { sent, cookie } = await begun();
    const answer = await ask(returned({ state: sent.state }), { method, cookie });
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'GET' } });
    expect(signOn.asked).toEqual([]);
  });

  test('no page runs scripts, is framed, stored or told to others', async () => {
    const { sent, cookie } = await begun();
    const pages = [
      await ask('/'),
      await ask('/signed-out'),
      await ask('/missing'),
      await ask(returned({ state: sent.state }), { cookie }),
      await ask('/callback'),
    ];
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 404, 200, 400]);
    for (const { headers } of pages) {
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'$/,
        ),
      });
    }
  });
});
