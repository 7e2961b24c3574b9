import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeWith } from '../support/toolchains.js';
import { pages } from './pages.js';
import { at, choicesReady, consentReady, pressAllow, signOnInChromium } from './sign-on-in-chromium.js';

/** Runs the action in the page, and returns whether the page sent a form. */
function isSentBy(page: Page, action: string): Promise<boolean> {
  return page.evaluate(`(() => {
    let isSent = false;
    addEventListener('submit', () => { isSent = true; });
    ${action};
    return isSent;
  })()`);
}

describeWith('chromium', 'a click or key that was meant for something else, in Chromium', (executable) => {
  const rig = signOnInChromium(executable);
  const atConsent = async () => {
    const { page } = await rig.visit();
    await pages.consent?.(page, rig);
    await consentReady(page);
    return page;
  };
  const isAllowed = async (page: Page) => {
    await pressAllow(page);
    return (await rig.returned(page)).code;
  };

  test('allows nothing as soon as the page is there', async () => {
    const { page } = await rig.visit();
    await page.addInitScript(`addEventListener('DOMContentLoaded', () => {
      document.getElementById('approve')?.click();
    })`);
    await pages.consent?.(page, rig);
    expect(await isAllowed(page)).toBe(true);
  });

  test('chooses nothing as soon as the page is there', async () => {
    const { page } = await rig.visit();
    await page.addInitScript(`addEventListener('DOMContentLoaded', () => {
      document.querySelector('[name=context]')?.click();
    })`);
    await pages['choose context']?.(page, rig);
    await choicesReady(page);
    await page.click('[name=context]');
    await at(page, /^Allow /);
  });

  test.each([
    ['when its window comes to the front', `dispatchEvent(new Event('focus'))`],
    ['when its tab does', `document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`],
    [
      'when it comes back from the history',
      `dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`,
    ],
  ])('decides nothing %s', async (_, event) => {
    const page = await atConsent();
    for (const button of ['approve', 'deny']) {
      const pressed = `${event}; document.getElementById('${button}').click()`;
      expect(await isSentBy(page, pressed)).toBe(false);
      await consentReady(page);
    }
    expect(await isAllowed(page)).toBe(true);
  });

  test('allows nothing as long as a key is held', async () => {
    const { page } = await rig.visit();
    await page.clock.install();
    await pages.consent?.(page, rig);
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.keyboard.down('Enter');
    await page.locator('#approve').focus();
    await page.keyboard.down('Enter');
    expect(await page.getAttribute('form:has(#approve)', 'data-rests')).toBe('');
    await page.keyboard.up('Enter');
    await page.clock.runFor(600);
    expect(await isAllowed(page)).toBe(true);
  });

  test('allows nothing as long as clicks follow one another', async () => {
    const { page } = await rig.visit();
    await page.clock.install();
    await pages.consent?.(page, rig);
    await page.clock.pauseAt(Date.now() + 60_000);
    const click = `document.getElementById('approve').click()`;
    expect(await isSentBy(page, `dispatchEvent(new Event('focus')); ${click}`)).toBe(false);
    await page.clock.runFor(400);
    expect(await isSentBy(page, click)).toBe(false);
    await page.clock.runFor(400);
    expect(await isSentBy(page, click)).toBe(false);
    await page.clock.runFor(600);
    expect(await isAllowed(page)).toBe(true);
  });
});
