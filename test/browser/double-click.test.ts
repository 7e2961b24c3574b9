import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeWith } from '../support/toolchains.js';
import { emailChangeLink, pages, passwordLink } from './pages.js';
import { at, choicesReady, signOnInChromium } from './sign-on-in-chromium.js';

const PASSWORD = 'plum harbour lighthouse';

/** Sends the form of the button twice before any answer; which of them the page held back. */
function sendTwice(page: Page, button: string): Promise<boolean[]> {
  return page.evaluate(`(() => {
    const button = document.getElementById('${button}');
    const heldBack = [];
    addEventListener('submit', (event) => heldBack.push(event.defaultPrevented));
    button.form.requestSubmit(button);
    button.form.requestSubmit(button);
    return heldBack;
  })()`);
}

describeWith('chromium', 'a double click in Chromium', (executable) => {
  const rig = signOnInChromium(executable);

  test('sets a password once, and the page says that it is set', async () => {
    const { page } = await rig.visit();
    await page.goto(await passwordLink(rig));
    await page.fill('#password', PASSWORD);
    expect(await sendTwice(page, 'set-password')).toEqual([false, true]);
    await at(page, 'Your password is set');
  });

  test('signs in once, and Cancel stays of use', async () => {
    const { page } = await rig.visit();
    await page.goto(rig.authorization());
    await at(page, 'Sign in');
    await page.fill('#email', 'nobody@example.com');
    await page.fill('#password', PASSWORD);
    expect(await sendTwice(page, 'sign-in')).toEqual([false, true]);
    await page.getByText('The email address or the password is wrong.').waitFor();
    await page.fill('#password', PASSWORD);
    // The page shows this text before the second answer too.
    const answered = page.waitForEvent('domcontentloaded');
    expect(await sendTwice(page, 'sign-in')).toEqual([false, true]);
    await answered;
    await page.getByText('The email address or the password is wrong.').waitFor();
    await page.click('#cancel');
    await at(page, 'Welcome back');
  });

  test('chooses a role once, allows access once, and leads back with a code', async () => {
    const { page } = await rig.visit();
    await pages['choose context']?.(page, rig);
    await page
      .locator('button[name=context]')
      .first()
      .evaluate((button) => {
        button.id = 'choice';
      });
    await choicesReady(page);
    expect(await sendTwice(page, 'choice')).toEqual([false, true]);
    await at(page, /^Allow /);
    expect(await sendTwice(page, 'approve')).toEqual([false, true]);
    expect(await rig.returned(page)).toMatchObject({ code: true, error: undefined });
  });

  test('signs out once', async () => {
    const { page } = await rig.visit();
    await pages['sign out']?.(page, rig);
    expect(await sendTwice(page, 'sign-out')).toEqual([false, true]);
    await at(page, 'You are signed out');
  });

  test('verifies an address once', async () => {
    const { page } = await rig.visit();
    await pages['verify email']?.(page, rig);
    expect(await sendTwice(page, 'verify')).toEqual([false, true]);
    await at(page, 'Your email address is verified');
  });

  test('changes an email once', async () => {
    const { page } = await rig.visit();
    await page.goto(await emailChangeLink(rig));
    await page.fill('#password', PASSWORD);
    expect(await sendTwice(page, 'change-email')).toEqual([false, true]);
    await page.getByText('This is not the password of the account.').waitFor();
  });
});
