import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { SEND_FORM } from '../../src/edge/pages/form-post.js';
import type { Exchange } from '../support/http-exchange.js';
import { serviceProcesses } from '../support/service-process.js';
import { AttackedService, BEHIND_PROXY, redirectUriOf } from './attacked-service.js';
import { hiddenFields, newPkce, type UserAgent } from './user-agent.js';
import { expectErrorPage } from './verdicts.js';

const services = serviceProcesses();
let attacked: AttackedService;

beforeAll(async () => {
  attacked = new AttackedService(await services.start(BEHIND_PROXY));
});

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
  return { victim, page: await victim.open(target) };
}

describe('a code that leaves with a form', () => {
  test('is in no address, no header and no cache, and for the registered address alone', async () => {
    const victim = await attacked.signedIn();
    const page = await victim.open(posted());
    const { action, fields } = formOf(page);
    expect(action).toBe(redirectUriOf(attacked.dashboard));
    expect(Object.keys(fields)).toEqual(['code', 'state', 'iss']);
    expect(JSON.stringify([page.target, page.headers])).not.toContain(fields.code);
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    });
    expect(attacked.service.output.text()).not.toContain(fields.code);
  });

  test('is redeemed like any other, and once', async () => {
    const victim = await attacked.signedIn();
    const { verifier, challenge } = newPkce();
    const { fields } = formOf(await victim.open(posted({ code_challenge: challenge })));
    const application = attacked.dashboard;
    const redirectUri = redirectUriOf(application);
    const fresh = { application, code: fields.code ?? '', redirectUri, verifier };
    expect((await attacked.redeem(fresh)).status).toBe(200);
    expect((await attacked.redeem(fresh)).status).toBe(400);
  });

  test('is not shown again to who sends the form before it once more, or goes back', async () => {
    const { victim, page } = await atConsent('form_post');
    const form: Record<string, string> = { ...hiddenFields(page), decision: 'approve' };
    const { code } = formOf(await victim.post('/auth/consent', form)).fields;
    const again = await victim.post('/auth/consent', form);
    expectErrorPage(again);
    expectErrorPage(await victim.ask(`/auth/consent?interaction=${form.interaction}`));
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
      expectErrorPage(
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

describe('a form leads nowhere', () => {
  test.each([
    ['another host', 'https://evil.example/callback'],
    ['another path', '/other'],
    ['a script', 'javascript:alert(1)'],
    ['markup', '"><script>alert(1)</script>'],
  ])('to %s that is not registered', async (_, redirect_uri) => {
    const victim = await attacked.signedIn();
    for (const prompt of ['none', undefined]) {
      const answer = await victim.ask(posted({ redirect_uri, prompt }));
      expectErrorPage(answer);
      expect(answer.body).not.toMatch(/<form|<script/);
    }
  });

  test('with an error either', async () => {
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
