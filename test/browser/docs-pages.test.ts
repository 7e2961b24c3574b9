import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeWith } from '../support/toolchains.js';
import { docsInChromium, PHONE, unfoldedForm, WORKERS } from './docs-in-chromium.js';

describeWith('chromium', 'the pages of the documentation', (executable) => {
  const { open } = docsInChromium(executable);
  const choose = (page: Page, language: string) =>
    page.locator('.choices').first().getByLabel(language, { exact: true }).check();

  test('the present section is marked among the sections of the page', async () => {
    const page = await open(`${WORKERS}#getWorkerV2`, { viewport: { width: 1300, height: 900 } });
    const present = page.getByRole('navigation', { name: 'On this page' }).locator('[aria-current]');
    await present.getByText('Get a worker, version 2').waitFor();
    expect(await present.count()).toBe(1);
    const among = page.getByRole('navigation', { name: 'All pages' }).locator('li li [aria-current]');
    expect(await among.innerText()).toBe('Get a worker, version 2');
  });

  test.each([
    [`${WORKERS}#getWorkerV2`, '#getWorkerV2', '#getWorkerV2-parameters'],
    ['/docs/reference/webhooks/events#user.updated', '#user\\.updated', '#user\\.updated-body'],
  ])(
    'examples stand beside the fields of %s where there is room, and otherwise above',
    async (path, id, fields) => {
      const places = async (width: number) => {
        const page = await open(path, { viewport: { width, height: 900 } });
        const examples = page.locator(`section:has(${id}) .examples`);
        expect(await examples.locator('pre:visible').count()).toBeGreaterThan(0);
        return [await examples.boundingBox(), await page.locator(fields).boundingBox()].map((box) => ({
          left: box?.x ?? 0,
          right: (box?.x ?? 0) + (box?.width ?? 0),
          top: box?.y ?? 0,
          bottom: (box?.y ?? 0) + (box?.height ?? 0),
        }));
      };
      const [wide, beside] = await places(1440);
      expect(wide?.left).toBeGreaterThan(beside?.right ?? Number.NaN);
      expect(wide?.top).toBeLessThanOrEqual(beside?.top ?? Number.NaN);
      const [narrow, below] = await places(1200);
      expect(narrow?.bottom).toBeLessThanOrEqual(below?.top ?? Number.NaN);
    },
  );

  test('an address with a stray percent sign leaves the scripts of the page running', async () => {
    const page = await open(`${WORKERS}#100%`);
    expect(await page.getByRole('button', { name: 'Copy as Markdown' }).isVisible()).toBe(true);
    expect(await page.locator('.search').isVisible()).toBe(true);
  });

  test('code stays in the language that was chosen, on this page and the next', async () => {
    const page = await open(WORKERS);
    await choose(page, 'Python');
    const inPython = page.locator('.panel:visible code').filter({ hasText: 'from integration_service' });
    expect(await inPython.count()).toBe(3);
    await page.goto('/docs/reference/gateway/users');
    expect(await inPython.count()).toBe(2);
  });

  test('an example that was chosen does not take the place of the chosen language', async () => {
    const page = await open('/docs/reference/webhooks');
    await choose(page, 'Python');
    await page.goto(WORKERS);
    await page.locator('.choices:not(.languages) input:not(:checked)').first().check();
    await page.reload();
    expect(await page.evaluate('localStorage.getItem("docs-language")')).toBe('Python');
  });

  describe('without scripts', () => {
    test('everything can be read, and controls that need a script are hidden', async () => {
      const page = await open(WORKERS, { javaScriptEnabled: false });
      expect(await page.locator('.search').isVisible()).toBe(false);
      expect(await page.locator('.theme').isVisible()).toBe(false);
      await choose(page, 'Go');
      expect(await page.locator('.panel:visible code').first().innerText()).toContain('package main');
      const form = await unfoldedForm(page, 'listWorkers');
      expect(await form.innerText()).toContain('needs JavaScript');
      // Sent by the browser itself, the key would stand in the address.
      expect(await form.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    });

    test('the menu of a phone opens, leads on and closes', async () => {
      const page = await open('/docs', { ...PHONE, javaScriptEnabled: false });
      const menu = page.getByRole('navigation', { name: 'All pages' });
      expect(await menu.isVisible()).toBe(false);
      await page.getByRole('link', { name: 'Menu', exact: true }).click();
      expect(await menu.isVisible()).toBe(true);
      await page.getByRole('link', { name: 'Close the menu' }).click();
      expect(await menu.isVisible()).toBe(false);
      await page.getByRole('link', { name: 'Menu', exact: true }).click();
      await menu.getByRole('link', { name: 'Workers', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor();
      expect(await menu.isVisible()).toBe(false);
    });
  });
});
