import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { clientIds } from '../flow/sign-on/demo-environment.js';
import { describeWith } from '../support/toolchains.js';
import { firstFocus } from './audit.js';
import { at, choicesReady, consentReady, signOnInChromium } from './sign-on-in-chromium.js';

const { tallowfern, quillmere } = clientIds;

/** What has the focus, as it would be read out. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    `((element) => [element.localName, element.labels?.[0]?.innerText ?? element.innerText].join(' ').replace(/\\s+/g, ' ').trim())(document.activeElement)`,
  );
}

/** Tab after Tab to the end of the page. */
async function tabStops(page: Page): Promise<string[]> {
  const stops: string[] = [];
  await firstFocus(page);
  for (let stop = await focused(page); !stops.includes(stop); stop = await focused(page)) {
    stops.push(stop);
    await page.keyboard.press('Tab');
  }
  return stops.filter((stop) => !stop.startsWith('body'));
}

async function typeSignIn(page: Page, { email, password }: { email: string; password: string }) {
  await at(page, 'Sign in');
  await firstFocus(page);
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
}

describeWith('chromium', 'with nothing but a keyboard', (executable) => {
  const rig = signOnInChromium(executable);

  describe.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('in a browser %s', (_, javaScriptEnabled) => {
    test('a person signs in, chooses a context, allows, and is back at the application', async () => {
      const { page } = await rig.visit({ javaScriptEnabled });
      await page.goto(rig.authorization());
      await typeSignIn(page, await rig.demo.newPerson({ user: [tallowfern], worker: [quillmere] }));
      await at(page, 'Continue as');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      if (javaScriptEnabled) {
        await choicesReady(page);
      }
      await page.keyboard.press('Enter');
      await at(page, 'Allow Rota Planner to see who you are?');
      await page.keyboard.press('Tab');
      if (javaScriptEnabled) {
        await consentReady(page);
      }
      await page.keyboard.press('Enter');
      expect(await rig.returned(page)).toEqual({ state: 'a state', code: true, error: undefined });
      expect(await page.locator('h1').innerText()).toBe('Welcome back');
    });

    test('a person who does not allow is back at the application, which learns of it', async () => {
      const { page } = await rig.visit({ javaScriptEnabled });
      await page.goto(rig.authorization());
      await typeSignIn(page, await rig.demo.newPerson({ worker: [tallowfern] }));
      await at(page, /^Allow /);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      if (javaScriptEnabled) {
        await consentReady(page);
      }
      await page.keyboard.press('Enter');
      expect(await rig.returned(page)).toEqual({ state: 'a state', code: false, error: 'access_denied' });
    });

    test('a person who cancels is back at the application, which learns of it', async () => {
      const { page } = await rig.visit({ javaScriptEnabled });
      await page.goto(rig.authorization());
      await at(page, 'Sign in');
      await firstFocus(page);
      for (const _ of ['Password', ...(javaScriptEnabled ? ['Show'] : []), 'Sign in', 'Cancel']) {
        await page.keyboard.press('Tab');
      }
      await page.keyboard.press('Enter');
      expect(await rig.returned(page)).toEqual({ state: 'a state', code: false, error: 'access_denied' });
    });

    test('a person who cancels instead of choosing a context is back at the application, which learns of it', async () => {
      const { page } = await rig.visit({ javaScriptEnabled });
      await page.goto(rig.authorization());
      await typeSignIn(page, await rig.demo.newPerson({ user: [tallowfern], worker: [quillmere] }));
      await at(page, 'Continue as');
      for (const _ of ['user', 'worker', 'Cancel']) {
        await page.keyboard.press('Tab');
      }
      await page.keyboard.press('Enter');
      expect(await rig.returned(page)).toEqual({ state: 'a state', code: false, error: 'access_denied' });
    });

    test('a person without access reads why and is back at the application, which learns of it', async () => {
      const { page } = await rig.visit({ javaScriptEnabled });
      await page.goto(rig.authorization());
      await typeSignIn(page, rig.demo.demoPerson('juniper'));
      const said = await page.getByRole('alert').innerText();
      expect(said).toContain('has no access to Rota Planner on');
      await page.getByRole('button', { name: 'Back to Rota Planner' }).press('Enter');
      expect(await rig.returned(page)).toEqual({ state: 'a state', code: false, error: 'access_denied' });
    });

    test('a person signs out', async () => {
      const { page } = await rig.visit({ javaScriptEnabled });
      await page.goto(rig.authorization({ prompt: 'consent' }));
      await typeSignIn(page, await rig.demo.newPerson({ worker: [tallowfern] }));
      await at(page, /^Allow /);
      await page.goto(`${rig.demo.url}/auth/logout`);
      await at(page, 'Sign out?');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await at(page, 'You are signed out');
    });
  });

  test('the sign-in page starts in the email, and goes through it from top to bottom', async () => {
    const { page } = await rig.visit();
    await page.goto(rig.authorization());
    expect(await tabStops(page)).toEqual([
      'input Email',
      'input Password',
      'button Show',
      'button Sign in',
      'button Cancel',
    ]);
  });

  test('a password is shown and hidden again while it is typed, and is hidden where it is sent', async () => {
    const { page } = await rig.visit();
    await page.goto(rig.authorization());
    const person = await rig.demo.newPerson({ worker: [tallowfern] });
    await page.fill('#email', person.email);
    await page.fill('#password', person.password);
    const typeOf = () => page.getAttribute('#password', 'type');
    expect(await typeOf()).toBe('password');
    await page.getByRole('button', { name: 'Show password' }).press('Enter');
    expect([await typeOf(), await page.inputValue('#password')]).toEqual(['text', person.password]);
    await page.getByRole('button', { name: 'Hide password' }).press('Space');
    expect(await typeOf()).toBe('password');
    await page.getByRole('button', { name: 'Show password' }).press('Space');
    await page.evaluate(
      "document.forms[0].addEventListener('submit', () => { sessionStorage.sent = document.getElementById('password').type; })",
    );
    await page.locator('#password').press('Enter');
    await at(page, /^Allow /);
    expect(await page.evaluate('sessionStorage.sent')).toBe('password');
  });

  test('the email that the application knows is there already, and the page starts in the password', async () => {
    const { page } = await rig.visit();
    await page.goto(rig.authorization({ login_hint: 'ada@example.com' }));
    expect(await page.inputValue('#email')).toBe('ada@example.com');
    await firstFocus(page);
    expect(await focused(page)).toBe('input Password');
  });

  test('contexts come before the way to another account, and so do the answers of the consent page', async () => {
    const { page } = await rig.visit();
    await page.goto(rig.authorization());
    await typeSignIn(page, await rig.demo.newPerson({ user: [tallowfern], worker: [tallowfern] }));
    await at(page, 'Continue as');
    expect(await tabStops(page)).toEqual([
      'button Tallowfern Bakeries Dashboard user Not used yet',
      'button Tallowfern Bakeries Worker',
      'button Cancel',
      'a Use another account',
    ]);
    await page.getByRole('button', { name: 'Worker' }).focus();
    await choicesReady(page);
    await page.keyboard.press('Enter');
    await at(page, /^Allow /);
    expect(await tabStops(page)).toEqual([
      'button Allow',
      'button Do not allow',
      'a privacy policy',
      'a terms of service',
      'a Change',
      'a Use another account',
    ]);
  });

  test('what has the focus can be seen, on every control of the way', async () => {
    const { page } = await rig.visit();
    await page.goto(rig.authorization());
    await firstFocus(page);
    for (const control of ['email', 'password', 'show-password', 'sign-in', 'cancel']) {
      const seen = await page.evaluate<string>(
        `((element) => [element.id, getComputedStyle(element).outlineStyle, getComputedStyle(element).outlineWidth].join(' '))(document.activeElement)`,
      );
      expect(seen).toBe(`${control} solid 3px`);
      await page.keyboard.press('Tab');
    }
  });
});
