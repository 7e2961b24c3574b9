import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeWith } from '../support/toolchains.js';
import { docsInChromium, PHONE, WORKERS } from './docs-in-chromium.js';

const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };

describeWith('chromium', 'copying from the documentation', (executable) => {
  const { visit, open } = docsInChromium(executable);
  const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()');

  test('the button for code is in sight on every screen, in a row above the code', async () => {
    for (const options of [PHONE, { viewport: { width: 1440, height: 900 } }]) {
      const page = await open('/docs/start', options);
      const opacities = `[...document.querySelectorAll('.copy')].map((one) => getComputedStyle(one).opacity)`;
      expect([...new Set(await page.evaluate<string[]>(opacities))]).toEqual(['1']);
      const figures = page.locator('.code:visible');
      expect(await figures.count()).toBeGreaterThan(3);
      for (const figure of await figures.all()) {
        const button = figure.getByRole('button', { name: 'Copy' });
        const [above, below] = [await button.boundingBox(), await figure.locator('code').boundingBox()];
        const end = above ? above.y + above.height : Number.NaN;
        expect(end).toBeLessThanOrEqual(below?.y ?? Number.NaN);
      }
    }
  });

  test('code is copied unchanged', async () => {
    const page = await open('/docs/reference/gateway', CLIPBOARD);
    const figure = page.locator('.code').first();
    await figure.getByRole('button', { name: 'Copy' }).click();
    await figure.getByRole('button', { name: 'Copied' }).waitFor();
    await page.getByRole('status').getByText('Copied').waitFor();
    expect(await copied(page)).toBe(await figure.locator('code').innerText());
  });

  test.each(['with', 'without'])('the page is copied as Markdown %s ClipboardItem', async (support) => {
    const { page } = await visit(CLIPBOARD);
    if (support === 'without') {
      await page.addInitScript('delete window.ClipboardItem');
    }
    await page.goto(WORKERS);
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const link = page.getByRole('link', { name: 'View as Markdown' });
    const served = await page.request.get((await link.getAttribute('href')) ?? '');
    expect(await copied(page)).toBe(await served.text());
    expect(await copied(page)).toMatch(/^Gateway API\n\n# Workers\n/);
  });

  test.each(['text of the page', 'own code'])('a failed copy of %s is told', async (what) => {
    const { page, complaints } = await visit(CLIPBOARD);
    await page.route(`**${WORKERS}.md`, (route) => route.fulfill({ status: 503, body: 'not the page' }));
    await page.goto(WORKERS);
    await page.evaluate("navigator.clipboard.writeText('before')");
    if (what === 'own code') {
      await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error())');
      await page.locator('.code:visible').first().getByRole('button', { name: 'Copy' }).click();
    } else {
      await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    }
    await page.getByRole('button', { name: 'Not copied' }).waitFor();
    await page.getByRole('status').getByText('Not copied').waitFor();
    expect(await copied(page)).toBe('before');
    expect(complaints.splice(0)).toHaveLength(what === 'own code' ? 0 : 1);
  });
});
