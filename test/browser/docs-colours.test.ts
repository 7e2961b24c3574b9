import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { renderedSite } from '../support/docs-server.js';
import { describeWith } from '../support/toolchains.js';
import { docsAuditOf } from './audit.js';
import { docsInChromium, WORKERS } from './docs-in-chromium.js';

describeWith('chromium', 'the colours of the documentation', (executable) => {
  const { open } = docsInChromium(executable);
  const ground = (page: Page) => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const [light, dark] = ['rgb(255, 255, 255)', 'rgb(24, 28, 41)'];

  test.each([
    ['light', light, dark],
    ['dark', dark, light],
  ] as const)(
    'of a %s system are switched, on the next page too, and back',
    async (colorScheme, own, other) => {
      const page = await open('/docs', { colorScheme });
      const button = page.getByRole('button', { name: 'Dark colours' });
      expect(await ground(page)).toBe(own);
      expect(await button.getAttribute('aria-pressed')).toBe(String(own === dark));
      await button.click();
      expect(await ground(page)).toBe(other);
      expect(await docsAuditOf(page)).toEqual([]);
      await page.goto(WORKERS);
      expect(await ground(page)).toBe(other);
      expect(await button.getAttribute('aria-pressed')).toBe(String(other === dark));
      await button.click();
      expect(await ground(page)).toBe(own);
      expect(await page.evaluate('localStorage.length')).toBe(0);
    },
  );

  test('are light on paper, where all of the code is', async () => {
    const page = await open('/docs/webhooks', { viewport: { width: 718, height: 1000 } });
    await page.getByRole('button', { name: 'Dark colours' }).click();
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(23, 27, 43)');
    const cut = `[...document.querySelectorAll('pre, .table')].filter((one) => one.scrollWidth > one.clientWidth).length`;
    expect(await page.evaluate(cut)).toBe(0);
    for (const control of await page.locator('header, .copy, .page-text, .neighbours').all()) {
      expect(await control.isVisible()).toBe(false);
    }
  });

  test('show on paper what is folded on the screen', async () => {
    const page = await open(WORKERS, { viewport: { width: 1600, height: 1000 } });
    const hidden = `[...document.querySelectorAll('main details')].filter((one) => one.checkVisibility() && !one.lastElementChild.checkVisibility()).length`;
    expect(await page.evaluate(hidden)).toBeGreaterThan(0);
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate(hidden)).toBe(0);
  });

  test('of the sign-in pages and of code are all switched', () => {
    const style = renderedSite().find(({ path }) => path.endsWith('.css'))?.body ?? '';
    const dark = [...style.matchAll(/:root\[data-theme="dark"\] \{([^}]*--[^}]*)\}/g)].map(
      ([, text]) => text,
    );
    expect(dark).toHaveLength(style.split('prefers-color-scheme: dark').length - 1);
    expect(dark.join()).toMatch(/--ground:[\s\S]*--code:/);
  });
});
