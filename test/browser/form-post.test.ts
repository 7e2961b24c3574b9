import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { clientIds } from '../flow/sign-on/demo-environment.js';
import { describeWith } from '../support/toolchains.js';
import {
  at,
  consentReady,
  fillSignIn,
  heading,
  pressAllow,
  signOnInChromium,
} from './sign-on-in-chromium.js';

const STATE = `a "state" & 'more' <b>ü</b> 100%+`;

describeWith('chromium', 'an answer that leaves with a form', (executable) => {
  const rig = signOnInChromium(executable);
  const asked = (parameters = {}) =>
    rig.authorization({ response_mode: 'form_post', state: STATE, ...parameters });
  const answered = (answer: object) => ({ state: STATE, iss: rig.demo.url, ...answer });
  const CODE = { code: expect.stringMatching(/^[\w-]{43}$/) };

  async function toConsent(page: Page, parameters = {}): Promise<void> {
    await page.goto(asked(parameters));
    await fillSignIn(page, await rig.demo.newPerson({ worker: [clientIds.tallowfern] }));
    await at(page, /^Allow /);
  }

  test('is sent by itself, and no address of the way has the code', async () => {
    const { page, context } = await rig.visit();
    const addresses: string[] = [];
    context.on('request', (request) => addresses.push(request.url()));
    await toConsent(page);
    await pressAllow(page);
    const fields = await rig.returnedByForm(page);
    expect(fields).toEqual(answered(CODE));
    expect(addresses.join('\n')).not.toContain(fields.code);
    // Applications can allow it; of the page they learn no more.
    expect(rig.posts.at(-1)?.origin).toBe(rig.demo.url);
    expect(await page.evaluate('document.referrer')).not.toContain('interaction');
    expect(await heading(page)).toBe('Welcome back');
  });

  test('is sent once: the button rests while an application takes its time', async () => {
    const { page } = await rig.visit();
    // Stands for the application that does not answer yet: the page stays.
    await page.addInitScript('HTMLFormElement.prototype.submit = () => undefined');
    await toConsent(page);
    await pressAllow(page);
    await page.locator('#continue:disabled').waitFor();
  });

  test('is sent with a button where scripts do not run', async () => {
    const { page } = await rig.visit({ javaScriptEnabled: false });
    const before = rig.posts.length;
    await toConsent(page);
    await page.click('#approve');
    await at(page, 'Back to Rota Planner');
    expect(rig.posts).toHaveLength(before);
    await page.getByRole('button', { name: 'Continue' }).press('Enter');
    expect(await rig.returnedByForm(page)).toEqual(answered(CODE));
  });

  test.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('may be an error, of a request and of a person, in a browser %s', async (_, javaScriptEnabled) => {
    const { page } = await rig.visit({ javaScriptEnabled });
    const goOn = async () => {
      if (!javaScriptEnabled) {
        await at(page, 'Back to Rota Planner');
        await page.click('#continue');
      }
      return (await rig.returnedByForm(page)).error;
    };
    await page.goto(asked({ prompt: 'none' }));
    expect(await goOn()).toBe('login_required');
    await page.goto(asked());
    await page.click('#cancel');
    expect(await goOn()).toBe('access_denied');
    await toConsent(page);
    await consentReady(page);
    await page.click('#deny');
    expect(await goOn()).toBe('access_denied');
  });

  test('is sent in a frame of another site, for a request without the person', async () => {
    const { page } = await rig.visit();
    const before = rig.posts.length;
    await page.setContent(`<iframe src="${asked({ prompt: 'none' }).replaceAll('&', '&amp;')}"></iframe>`);
    await page.frameLocator('iframe').getByRole('heading', { name: 'Welcome back' }).waitFor();
    expect(rig.posts.slice(before)).toMatchObject([{ fields: answered({ error: 'login_required' }) }]);
  });

  test('cannot be turned to another place', async () => {
    const visit = await rig.visit({ javaScriptEnabled: false });
    await visit.page.goto(asked({ prompt: 'none' }));
    const [form, ...others] = await visit.page.locator('form').all();
    expect([await form?.getAttribute('action'), others]).toEqual([expect.stringMatching(/\/callback$/), []]);
    const response = await visit.context.request.get(asked({ prompt: 'none' }));
    const policy = response.headers()['content-security-policy'] ?? '';
    expect(policy).toMatch(/form-action 'self' https: http:\/\/localhost:\d+;/);
    expect(policy).not.toContain('unsafe');
  });
});
