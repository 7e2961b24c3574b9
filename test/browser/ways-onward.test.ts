import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { clientIds } from '../flow/sign-on/demo-environment.js';
import { describeWith } from '../support/toolchains.js';
import {
  at,
  fillSignIn,
  heading,
  pressAllow,
  saidOfPassword,
  signOnInChromium,
} from './sign-on-in-chromium.js';

const { tallowfern, quillmere } = clientIds;
const GOT_CODE = { state: 'a state', code: true, error: undefined };

/**
 * As the Back and Forward buttons do; a page may come from the memory of the browser. It begins after the
 * answer to this evaluation, which the end of the page would lose.
 */
async function go(page: Page, steps: number): Promise<void> {
  await page.evaluate<void>(`void setTimeout(() => history.go(${steps}))`);
}

describeWith('chromium', 'there is always a way onward', (executable) => {
  const rig = signOnInChromium(executable);
  const worker = () => rig.demo.newPerson({ worker: [tallowfern] });
  const choosy = () => rig.demo.newPerson({ user: [tallowfern], worker: [quillmere] });

  async function atConsent(page: Page): Promise<void> {
    await page.goto(rig.authorization());
    await fillSignIn(page, await worker());
    await at(page, /^Allow /);
  }

  async function allow(page: Page) {
    await at(page, /^Allow /);
    await pressAllow(page);
    return rig.returned(page);
  }

  test('after a wrong password it is said beside the field, the email is kept, and typing continues there', async () => {
    const person = await worker();
    const { page } = await rig.visit();
    await page.goto(rig.authorization());
    await fillSignIn(page, { ...person, password: 'wrong' });
    const field = page.getByRole('textbox', { name: 'Password' });
    expect(await saidOfPassword(page)).toBe('The email address or the password is wrong.');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await field.getAttribute('aria-describedby')).toBe('password-error');
    expect(await page.inputValue('#email')).toBe(person.email);
    expect(await field.inputValue()).toBe('');
    await page.keyboard.type(person.password);
    await page.keyboard.press('Enter');
    expect(await allow(page)).toEqual(GOT_CODE);
  });

  test('a person without access sees their address, and another one signs in at the same page', async () => {
    const { page } = await rig.visit();
    const stranger = rig.demo.demoPerson('juniper');
    await page.goto(rig.authorization());
    await fillSignIn(page, stranger);
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toMatch(
      new RegExp(`^${stranger.email} has no access to Rota Planner on Harborlight Payroll`),
    );
    await fillSignIn(page, await worker());
    expect(await allow(page)).toEqual(GOT_CODE);
  });

  test('Back from the consent page shows the sign-in page, from which one goes on or forward', async () => {
    const { page } = await rig.visit();
    await atConsent(page);
    await go(page, -1);
    await at(page, 'Sign in');
    await go(page, +1);
    await at(page, /^Allow /);
    await go(page, -1);
    await at(page, 'Sign in');
    const second = await worker();
    await fillSignIn(page, second);
    await page.getByText(second.email).waitFor();
    expect(await allow(page)).toEqual(GOT_CODE);
  });

  test('Back from the application to a page that was answered says so when it is answered again, and starts again', async () => {
    const { page } = await rig.visit();
    await atConsent(page);
    await allow(page);
    await go(page, -1);
    await at(page, /^Allow /);
    await pressAllow(page);
    await at(page, 'This page is no longer open');
    expect(await page.locator('main').innerText()).toContain(
      'This page was answered already, and that answer counts. Go to your application',
    );
    await page.click('#continue');
    // Signed in and allowed already, so nothing is left to ask.
    expect(await rig.returned(page)).toEqual(GOT_CODE);
  });

  test('Back after signing out shows nothing of the person', async () => {
    const { page } = await rig.visit();
    const person = await worker();
    await page.goto(rig.authorization());
    await fillSignIn(page, person);
    await at(page, /^Allow /);
    expect(await page.locator('main').innerText()).toContain(person.email);
    await page.goto(`${rig.demo.url}/auth/logout`);
    await page.click('#sign-out');
    await at(page, 'You are signed out');
    await go(page, -2);
    await at(page, 'This page is no longer open');
    expect(await page.content()).not.toContain(person.email);
    await page.click('#continue');
    await at(page, 'Sign in');
  });

  test.each([
    ['after the sign-in form', 'Allow', worker],
    ['after a choice', 'Continue as', choosy],
  ])('a reload %s sends no form again', async (_, title, person) => {
    const { page, context } = await rig.visit();
    await page.goto(rig.authorization());
    await fillSignIn(page, await person());
    await at(page, new RegExp(`^${title}`));
    const methods: string[] = [];
    context.on('request', (request) => {
      if (request.isNavigationRequest()) {
        methods.push(request.method());
      }
    });
    await page.reload();
    expect(await heading(page)).toMatch(new RegExp(`^${title}`));
    expect(methods).toEqual(['GET']);
  });

  test('two tabs sign in at once, each for itself, and both come home', async () => {
    const visit = await rig.visit();
    const other = await visit.newTab();
    await visit.page.goto(rig.authorization({ state: 'first' }));
    await other.goto(rig.authorization({ state: 'second' }));
    const person = await worker();
    await fillSignIn(visit.page, person);
    await at(visit.page, /^Allow /);
    // The second tab still shows a form from before the sign-in.
    await fillSignIn(other, person);
    expect([await allow(other), await allow(visit.page)]).toEqual([
      { ...GOT_CODE, state: 'second' },
      { ...GOT_CODE, state: 'first' },
    ]);
  });

  test.each(['has come home', 'is asked for consent'])(
    'a sign-in in a tab from before that of a person who %s says why it has to be repeated',
    async (first) => {
      const visit = await rig.visit();
      const other = await visit.newTab();
      const second = await worker();
      await visit.page.goto(rig.authorization({ state: 'first' }));
      await other.goto(rig.authorization({ state: 'second' }));
      await fillSignIn(visit.page, await worker());
      await at(visit.page, /^Allow /);
      if (first === 'has come home') {
        expect(await allow(visit.page)).toEqual({ ...GOT_CODE, state: 'first' });
      }
      await fillSignIn(other, second);
      await other.getByText('Someone has signed in with this browser since this page was opened.').waitFor();
      await fillSignIn(other, second);
      await other.getByText(second.email).waitFor();
      expect(await allow(other)).toEqual({ ...GOT_CODE, state: 'second' });
    },
  );

  test('a tab that asks for the consent of one person asks for the sign-in after that of another', async () => {
    const visit = await rig.visit();
    await atConsent(visit.page);
    const other = await visit.newTab();
    const second = await worker();
    await other.goto(rig.authorization({ prompt: 'login' }));
    await fillSignIn(other, second);
    await at(other, /^Allow /);
    await pressAllow(visit.page);
    await visit.page.getByText('Someone has signed in with this browser since').waitFor();
    await fillSignIn(visit.page, second);
    await visit.page.getByText(second.email).waitFor();
    expect(await allow(visit.page)).toEqual(GOT_CODE);
  });

  test('another account can be used from the consent page', async () => {
    const { page } = await rig.visit();
    await atConsent(page);
    await page.getByRole('link', { name: 'Use another account' }).click();
    await at(page, 'Sign in');
    const second = await worker();
    await fillSignIn(page, second);
    await page.getByText(second.email).waitFor();
    expect(await allow(page)).toEqual(GOT_CODE);
  });

  test('a page without its session says so and starts again', async () => {
    const { page, context } = await rig.visit();
    await page.goto(rig.authorization());
    await context.clearCookies();
    await fillSignIn(page, await worker());
    await at(page, 'This page is no longer open');
    await page.click('#continue');
    await at(page, 'Sign in');
    await fillSignIn(page, await worker());
    expect(await allow(page)).toEqual(GOT_CODE);
  });

  test('a browser that blocks cookies shows that they are needed', async () => {
    const { page } = await rig.visitWithoutCookies();
    await page.goto(rig.authorization());
    await at(page, 'This page is no longer open');
    expect(await page.locator('main').innerText()).toContain('cookies, which are needed to sign in');
    await page.click('#continue');
    await at(page, 'This page is no longer open');
  });
});
