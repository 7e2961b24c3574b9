import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { SEND_FORM } from '../../src/edge/pages/endings.js';
import type { Exchange } from '../support/http-exchange.js';
import { serviceProcesses } from '../support/service-process.js';
import { untilAnswered } from '../support/turned-away.js';
import { AttackedService, BEHIND_PROXY, redirectUriOf } from './attacked-service.js';
import { encoded, FORM, hiddenFields, newPkce, type UserAgent } from './user-agent.js';
import { expectErrorPage, expectStalePage } from './verdicts.js';

const services = serviceProcesses();
let attacked: AttackedService;

/** A form as a person has it before them, filled in. */
interface OpenForm {
  victim: UserAgent;
  path: string;
  /** The page of the form, where it is elsewhere. */
  page?: string;
  heading: string;
  fields: Record<string, string>;
}

beforeAll(async () => {
  attacked = new AttackedService(await services.start(BEHIND_PROXY));
});

async function openForm(
  page: Exchange,
  { victim, ...form }: Omit<OpenForm, 'fields'>,
  filledIn: Record<string, string>,
): Promise<OpenForm> {
  expect(page.body).toContain(`<h1>${form.heading}`);
  return { ...form, victim, fields: { ...hiddenFields(page), ...filledIn } };
}

async function openSignIn(): Promise<OpenForm> {
  const victim = attacked.userAgent();
  const page = await attacked.open(victim, attacked.authorizeTarget(attacked.dashboard));
  const { email, password } = attacked.person('no access to Juniper');
  return openForm(page, { victim, path: '/auth/sign-in', heading: 'Sign in' }, { email, password });
}

async function openCancel(): Promise<OpenForm> {
  const victim = attacked.userAgent();
  const page = await attacked.open(victim, attacked.authorizeTarget(attacked.dashboard));
  const form = { victim, path: '/auth/cancel', page: '/auth/sign-in', heading: 'Sign in' };
  return openForm(page, form, {});
}

/** Of a person who is signed in, and may not enter. */
async function openWayBack(): Promise<OpenForm> {
  const victim = await attacked.signedIn();
  const redirect_uri = redirectUriOf(attacked.dashboard, 1);
  const page = await attacked.open(victim, attacked.authorizeTarget(attacked.dashboard, { redirect_uri }));
  expect(page.body).toContain('has no access to');
  const form = { victim, path: '/auth/cancel', page: '/auth/sign-in', heading: 'Sign in' };
  return openForm(page, form, {});
}

async function openChoice(): Promise<OpenForm> {
  const victim = attacked.userAgent();
  const person = attacked.person('chooses one of four');
  const page = await untilAnswered(() => attacked.signIn(victim, person));
  const context = /name="context" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  return openForm(page, { victim, path: '/auth/choose-context', heading: 'Continue as' }, { context });
}

async function openConsent(): Promise<OpenForm> {
  const victim = await attacked.signedIn();
  const page = await attacked.open(victim, attacked.authorizeTarget(attacked.portal, { prompt: 'consent' }));
  const form = { victim, path: '/auth/consent', heading: 'Allow <bdi>Brightledger Portal</bdi>' };
  return openForm(page, form, { decision: 'approve' });
}

async function openSignOut(): Promise<OpenForm> {
  const victim = await attacked.signedIn();
  const page = await attacked.open(victim, '/auth/logout');
  return openForm(page, { victim, path: '/auth/sign-out', heading: 'Sign out?' }, {});
}

const OPENERS: readonly [name: string, open: () => Promise<OpenForm>][] = [
  ['the sign-in form', openSignIn],
  ['the cancellation of a sign-in', openCancel],
  ['the way back without access', openWayBack],
  ['the choice of a context', openChoice],
  ['the consent form', openConsent],
  ['the sign-out form', openSignOut],
];

const without = (fields: Record<string, string>, name: string) =>
  Object.fromEntries(Object.entries(fields).filter(([field]) => field !== name));

/** The same kind of form, open in another browser. */
type Other = OpenForm;

const ATTACKS: readonly [title: string, attack: (form: OpenForm, other: Other) => Promise<Exchange>][] = [
  ['has no token', ({ victim, path, fields }) => victim.post(path, without(fields, 'csrf_token'))],
  ['has an empty token', ({ victim, path, fields }) => victim.post(path, { ...fields, csrf_token: '' })],
  [
    'has a made-up token',
    ({ victim, path, fields }) => victim.post(path, { ...fields, csrf_token: 'A'.repeat(43) }),
  ],
  [
    'has its token in the other case',
    ({ victim, path, fields }) => victim.post(path, { ...fields, csrf_token: swapped(fields.csrf_token) }),
  ],
  [
    'has its token twice',
    ({ victim, path, fields }) =>
      victim.post(path, [...Object.entries(fields), ['csrf_token', fields.csrf_token ?? '']]),
  ],
  [
    'has the token of another browser',
    ({ victim, path, fields }, other) =>
      victim.post(path, { ...fields, csrf_token: other.fields.csrf_token ?? '' }),
  ],
  [
    'has token and interaction of another browser',
    ({ victim, path, fields }, other) => victim.post(path, { ...fields, ...hidden(other) }),
  ],
  [
    'comes from a browser that knows token and interaction, and has no cookie',
    ({ path, fields }) => attacked.userAgent().post(path, fields),
  ],
  [
    'comes from another browser that knows token and interaction',
    ({ path, fields }, other) => other.victim.post(path, fields),
  ],
  [
    'was sent by another site',
    ({ victim, path, fields }) => victim.post(path, fields, { origin: 'https://evil.example' }),
  ],
  [
    'was sent by a site with our name in its own',
    ({ victim, path, fields }) => victim.post(path, fields, { origin: `${attacked.issuer}.evil.example` }),
  ],
  [
    'was sent by another port of our host',
    ({ victim, path, fields }) => victim.post(path, fields, { origin: 'http://localhost:8400' }),
  ],
  [
    'was sent by another site, as browsers tell',
    ({ victim, path, fields }) => victim.post(path, fields, { 'sec-fetch-site': 'cross-site' }),
  ],
  [
    'was sent by a neighbouring site, as browsers tell',
    ({ victim, path, fields }) => victim.post(path, fields, { 'sec-fetch-site': 'same-site' }),
  ],
  [
    'comes as JSON',
    ({ victim, path, fields }) =>
      victim.ask(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(fields),
      }),
  ],
  [
    'comes as plain text, which scripts may send anywhere',
    ({ victim, path, fields }) =>
      victim.ask(path, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: encoded(fields) }),
  ],
  ['comes in the address', ({ victim, path, fields }) => victim.ask(`${path}?${encoded(fields)}`)],
  [
    'comes in the address of a POST',
    ({ victim, path, fields }) =>
      victim.ask(`${path}?${encoded(fields)}`, {
        method: 'POST',
        headers: { 'content-type': FORM },
        body: '',
      }),
  ],
  [
    'names a member of every object as its interaction',
    ({ victim, path, fields }) => victim.post(path, { ...fields, interaction: '__proto__________' }),
  ],
  [
    'has a NUL in its interaction',
    ({ victim, path, fields }) => victim.post(path, { ...fields, interaction: `${fields.interaction}\0` }),
  ],
];

function hidden({ fields: { interaction = '', csrf_token = '' } }: OpenForm) {
  return { interaction, csrf_token };
}

function swapped(text = ''): string {
  return text.replace(/[a-zA-Z]/g, (letter) =>
    /[a-z]/.test(letter) ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

describe.each(OPENERS)('%s', (_, open) => {
  let form: OpenForm;
  let other: OpenForm;

  beforeAll(async () => {
    [form, other] = [await open(), await open()];
  });

  test.each(ATTACKS)('does nothing when it %s', async (__, attack) => {
    const cookies = [form.victim.cookieHeader, other.victim.cookieHeader];
    const answer = await attack(form, other);
    expect([200, 303, 400, 405, 415]).toContain(answer.status);
    expect(answer.headers.location ?? form.path).toMatch(/^\/auth\/[a-z-]+(\?|$)/);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect([form.victim.cookieHeader, other.victim.cookieHeader]).toEqual(cookies);
    for (const { victim, path, page = path, heading, fields } of [form, other]) {
      const still = await victim.ask(`${page}?interaction=${fields.interaction}`);
      expect([still.status, still.body.includes(`<h1>${heading}`)]).toEqual([200, true]);
      expect(hiddenFields(still)).toEqual(hidden({ victim, path, heading, fields }));
    }
  });

  test('works when it is sent in order, and only once', async () => {
    const { victim, path, fields } = form;
    const answer = await victim.post(path, fields, {
      origin: attacked.issuer,
      'sec-fetch-site': 'same-origin',
    });
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toMatch(/[?&]code=|[?&]error=access_denied&|^\/auth\/signed-out$/);
    const again = await victim.post(path, fields);
    expect(again.headers.location ?? '').not.toContain('code=');
  });
});

describe('a form that was shown to one person', () => {
  test('approves nothing in the name of the next one who signs in in the same browser', async () => {
    const { victim, path, fields } = await openConsent();
    const hiddenNow = hiddenFields(
      await attacked.open(victim, attacked.authorizeTarget(attacked.dashboard, { prompt: 'login' })),
    );
    const { email, password } = attacked.person('worker of Tallowfern only');
    await victim.submit('/auth/sign-in', { ...hiddenNow, email, password });
    const answer = await victim.post(path, fields);
    expect([answer.status, answer.headers.location]).toEqual([
      303,
      expect.stringMatching(/^\/auth\/sign-in\?/),
    ]);
  });

  test('is not accepted as the form of another page: that of a sign-out approves nothing', async () => {
    const { victim, fields } = await openSignOut();
    const answer = await victim.post('/auth/consent', { ...fields, decision: 'approve' });
    expect(answer.headers.location).toMatch(/^\/auth\/sign-out\?/);
    const target = attacked.authorizeTarget(attacked.dashboard, { prompt: 'none' });
    expect((await victim.ask(target)).headers.location).toContain('code=');
  });
});

test.each([
  'USER:cli_AAAAAAAAAAAAAAAAAAAAAA',
  'ADMIN:cli_AAAAAAAAAAAAAAAAAAAAAA',
  'USER:__proto__',
  'constructor',
])('a context that was not offered is not taken: %s', async (context) => {
  const { victim, path, fields } = await openChoice();
  const answer = await victim.post(path, { ...fields, context });
  expect(answer.headers.location ?? '').not.toContain('code=');
  expect([303, 400]).toContain(answer.status);
});

test.each(['Approve', 'approve deny', 'toString', ''])(
  'a decision other than approve and deny is refused: %j',
  async (decision) => {
    const { victim, path, fields } = await openConsent();
    const answer = await victim.post(path, { ...fields, decision });
    expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
  },
);

const posted = (changes: Record<string, string | undefined> = {}, application = attacked.dashboard) =>
  attacked.authorizeTarget(application, { response_mode: 'form_post', ...changes });

/** The page's only form with its fields; fails for any other page. */
function formOf(page: Exchange): { action: string; fields: Record<string, string> } {
  expect([page.status, page.headers.location]).toEqual([200, undefined]);
  const forms = [...page.body.matchAll(/<form method="post" action="([^"]*)">/g)];
  expect(forms).toHaveLength(1);
  return { action: forms[0]?.[1]?.replaceAll('&amp;', '&') ?? '', fields: hiddenFields(page) };
}

/** At the consent page of the portal. */
async function atConsent(response_mode?: string): Promise<{ victim: UserAgent; page: Exchange }> {
  const victim = await attacked.signedIn();
  const target = attacked.authorizeTarget(attacked.portal, { response_mode, prompt: 'consent' });
  return { victim, page: await attacked.open(victim, target) };
}

describe('a code that leaves with a form', () => {
  test('is in no address, no header and no cache, and for the registered address alone', async () => {
    const victim = await attacked.signedIn();
    const page = await attacked.open(victim, posted());
    const { action, fields } = formOf(page);
    expect(action).toBe(redirectUriOf(attacked.dashboard));
    expect(Object.keys(fields)).toEqual(['code', 'state', 'iss']);
    expect(JSON.stringify([page.target, page.headers])).not.toContain(fields.code);
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'strict-origin',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    });
    await attacked.service.logged();
    expect(attacked.service.output.text()).not.toContain(fields.code);
  });

  test('is redeemed like any other, and once', async () => {
    const victim = await attacked.signedIn();
    const { verifier, challenge } = newPkce();
    const { fields } = formOf(await attacked.open(victim, posted({ code_challenge: challenge })));
    const application = attacked.dashboard;
    const redirectUri = redirectUriOf(application);
    const fresh = { application, code: fields.code ?? '', redirectUri, verifier };
    expect((await attacked.redeem(fresh)).status).toBe(200);
    expect((await attacked.redeem(fresh)).status).toBe(400);
  });

  test('is not shown again when the earlier form is sent once more, or after going back', async () => {
    const { victim, page } = await atConsent('form_post');
    const form: Record<string, string> = { ...hiddenFields(page), decision: 'approve' };
    const { code } = formOf(await victim.post('/auth/consent', form)).fields;
    const again = await victim.post('/auth/consent', form);
    expectStalePage(again);
    expectStalePage(await victim.ask(`/auth/consent?interaction=${form.interaction}`));
    expect(again.body).not.toContain(code);
  });
});

describe('the mode of the answer', () => {
  const changes = { response_mode: 'query' };

  test.each(['in the form of the page', 'in the address of the page', 'in the address of its form'])(
    'is not changed by the browser %s',
    async (where) => {
      const { victim, page } = await atConsent('form_post');
      const form: Record<string, string> = { ...hiddenFields(page), decision: 'approve' };
      if (where === 'in the address of the page') {
        const shown = await victim.ask(`/auth/consent?interaction=${form.interaction}&response_mode=query`);
        expect(shown.body).toContain('id="approve"');
      }
      const path =
        where === 'in the address of its form' ? '/auth/consent?response_mode=query' : '/auth/consent';
      const sent = where === 'in the form of the page' ? { ...form, ...changes } : form;
      expect(formOf(await victim.post(path, sent)).fields).toHaveProperty('code');
    },
  );

  test('is not made a form by the browser either', async () => {
    const { victim, page } = await atConsent();
    const form = { ...hiddenFields(page), decision: 'approve', response_mode: 'form_post' };
    const answer = await victim.post('/auth/consent?response_mode=form_post', form);
    expect([answer.status, answer.headers.location]).toEqual([303, expect.stringContaining('?code=')]);
  });

  test('is sealed: a changed interaction is none', async () => {
    const { victim, page } = await atConsent('form_post');
    const { interaction = '', ...rest } = hiddenFields(page);
    for (const at of [4, Math.floor(interaction.length / 2), interaction.length - 4]) {
      const other = interaction[at] === 'A' ? 'B' : 'A';
      const spoiled = interaction.slice(0, at) + other + interaction.slice(at + 1);
      expectStalePage(
        await victim.post('/auth/consent', { ...rest, interaction: spoiled, decision: 'approve' }),
      );
    }
  });

  test('sent twice is refused, in the address', async () => {
    const victim = await attacked.signedIn();
    const answer = await victim.ask(`${posted()}&response_mode=query`);
    expect(answer.headers.location).toMatch(/[?&]error=invalid_request&/);
    expect(answer.headers.location).not.toContain('code=');
  });

  test.each(['fragment', 'FORM_POST', 'form_post ', 'web_message', 'jwt', 'form_post.jwt', '__proto__'])(
    'is refused where it is not known: %j',
    async (response_mode) => {
      const victim = await attacked.signedIn();
      const answer = await victim.ask(posted({ response_mode }));
      expect([answer.status, answer.headers.location]).toEqual([
        303,
        expect.stringMatching(/[?&]error=invalid_request&/),
      ]);
    },
  );
});

describe('a form sends nothing', () => {
  test.each([
    ['another host', 'https://evil.example/callback'],
    ['another path', '/other'],
    ['a script', 'javascript:alert(1)'],
    ['markup', '"><script>alert(1)</script>'],
  ])('to an address that is not registered: %s', async (_, redirect_uri) => {
    const victim = await attacked.signedIn();
    for (const prompt of ['none', undefined]) {
      const answer = await victim.ask(posted({ redirect_uri, prompt }));
      expectErrorPage(answer);
      expect(answer.body).not.toMatch(/<form|<script/);
    }
  });

  test('to such an address, not even an error', async () => {
    const answer = await attacked
      .userAgent()
      .ask(posted({ redirect_uri: 'https://evil.example/', scope: 'x' }));
    expectErrorPage(answer);
    expect(answer.body).not.toContain('<form');
  });
});

test('what the application sends is text in the form, and changes neither fields nor script', async () => {
  const state = `"><input name="code" value="forged"></form><script>alert(1)</script>'`;
  const page = await attacked.userAgent().ask(posted({ state, prompt: 'none' }));
  const { fields } = formOf(page);
  expect(Object.keys(fields)).toEqual(['error', 'error_description', 'state', 'iss']);
  const scripts = [...page.body.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script = '']) => script);
  expect(scripts).toEqual([SEND_FORM]);
  const hash = createHash('sha256').update(String(scripts[0])).digest('base64');
  expect(page.headers['content-security-policy']).toContain(`script-src 'sha256-${hash}';`);
});

test('a form of another site brings no code of the person: it comes without the session', async () => {
  const victim = await attacked.signedIn();
  const fields = Object.fromEntries(new URLSearchParams(posted().split('?')[1]));
  const answer = await attacked.userAgent().post('/auth/authorize', fields, {
    origin: 'https://evil.example',
    'sec-fetch-site': 'cross-site',
  });
  expect([answer.status, answer.headers.location]).toEqual([
    303,
    expect.stringMatching(/^\/auth\/authorize\?/),
  ]);
  expect(formOf(await victim.ask(answer.headers.location ?? '')).action).toBe(
    redirectUriOf(attacked.dashboard),
  );
});
