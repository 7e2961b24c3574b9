import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeWith } from '../support/toolchains.js';
import { pages } from './pages.js';
import { allowReady, pressAllow, signOnInChromium } from './sign-on-in-chromium.js';

/** Does it in the page, and says whether that sent a form. */
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
    await allowReady(page);
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

  test.each([
    ['when its window comes to the front', `new Event('focus')`],
    ['when it comes back from the history', `new PageTransitionEvent('pageshow', { persisted: true })`],
  ])('allows nothing %s', async (_, event) => {
    const page = await atConsent();
    const pressed = `dispatchEvent(${event}); document.getElementById('approve').click()`;
    expect(await isSentBy(page, pressed)).toBe(false);
    expect(await isAllowed(page)).toBe(true);
  });

  test('allows nothing as long as a key is held', async () => {
    const page = await atConsent();
    await page.keyboard.down('Enter');
    await page.locator('#approve').focus();
    await page.keyboard.down('Enter');
    expect(await page.getAttribute('#approve', 'aria-disabled')).toBe('true');
    await page.keyboard.up('Enter');
    expect(await isAllowed(page)).toBe(true);
  });

  test('denies at once', async () => {
    const page = await atConsent();
    const pressed = `dispatchEvent(new Event('focus')); document.getElementById('deny').click()`;
    expect(await isSentBy(page, pressed)).toBe(true);
    expect((await rig.returned(page)).error).toBe('access_denied');
  });
});
