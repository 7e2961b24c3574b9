import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeWith } from '../support/toolchains.js';
import { docsAuditOf } from './audit.js';
import { docsInChromium, PHONE, unfoldedForm, WORKERS } from './docs-in-chromium.js';

describeWith('chromium', 'the search of the documentation', (executable) => {
  const { visit, open } = docsInChromium(executable);
  const type = (page: Page, words: string) => page.getByRole('combobox').fill(words);
  const found = (page: Page) => page.getByRole('option').first().waitFor();

  test('is reached by Control+k, finds as one types, and leads to the section', async () => {
    const page = await open('/docs');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('list workers, version 2');
    await found(page);
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('combobox').getAttribute('aria-activedescendant')).toBe('search-result-0');
    expect(await page.locator('#search-status').textContent()).toMatch(/^\d+ shown$/);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${WORKERS}#listWorkersV2`);
    expect(await page.locator('#listWorkersV2').isVisible()).toBe(true);
  });

  test('says that it found nothing, and is empty again after Escape', async () => {
    const page = await open('/docs');
    await type(page, 'zzzz qqqq');
    const message = page.getByText('Nothing found for “zzzz qqqq”');
    await message.waitFor();
    expect(await docsAuditOf(page)).toEqual([]);
    expect(await page.getByRole('listbox').isVisible()).toBe(false);
    await page.getByRole('combobox').press('Escape');
    expect(await page.getByRole('combobox').inputValue()).toBe('');
    expect(await message.count()).toBe(0);
  });

  test.each(['Control+k', 'Meta+k'])('is reached by %s, from another field too', async (keys) => {
    const page = await open(WORKERS);
    const form = await unfoldedForm(page, 'listWorkersV2');
    await form.getByLabel('x-api-key').focus();
    await page.keyboard.press(keys);
    await page.keyboard.type('sandbox');
    await found(page);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/from-demo-to-live');
  });

  test.each(['/', 'k', 'Control+Shift+K', 'Alt+k'])(
    'leaves %s to the browser and its reader',
    async (keys) => {
      const page = await open(WORKERS);
      await page.keyboard.press(keys);
      expect(await page.evaluate<string>('document.activeElement.localName')).toBe('body');
    },
  );

  test('shows found text in whole words, without the names of tabs', async () => {
    const page = await open('/docs');
    const index = await page.request.get('/docs/assets/search.json');
    const entries: { x: string }[] = await index.json();
    const texts = entries.map(({ x }) => x.replace(/\s+/g, ' '));
    const isWhole = ([before, after]: string[]) =>
      after !== undefined && !/\w$/.test(before ?? '') && !/^\w/.test(after);
    for (const question of ['sandbox', 'signature', 'retry', 'worker']) {
      await type(page, question);
      await found(page);
      const excerpts = await page.locator('.results span:last-child').allInnerTexts();
      for (const excerpt of excerpts) {
        const shown = excerpt.replace(/^… | …$/g, '');
        const whole = texts.some((text) => isWhole(text.split(shown, 2)));
        expect([shown, whole]).toEqual([shown, true]);
        expect(shown).not.toMatch(/Language TypeScript/);
      }
    }
  });

  test('leaves the button that empties its field at the edge of the field', async () => {
    const page = await open('/docs');
    const field = page.getByRole('combobox');
    const room = () =>
      page.evaluate<string>("getComputedStyle(document.getElementById('search')).paddingRight");
    expect(await room()).toBe('64px');
    await field.fill('sandbox');
    expect(await room()).toBe('12px');
    await page.keyboard.press('Tab');
    expect(await room()).toBe('12px');
    expect(await page.locator('.search kbd').isVisible()).toBe(false);
  });

  test('shows its results whole on a phone', async () => {
    const page = await open('/docs', PHONE);
    await type(page, 'duplicate events');
    await found(page);
    const { x, width } = (await page.getByRole('listbox').boundingBox()) ?? { x: -1, width: 0 };
    expect({ x, right: x + width }).toEqual({ x: 16, right: PHONE.viewport.width - 16 });
    expect((await page.getByRole('combobox').boundingBox())?.width).toBe(width);
  });

  test('can be read in forced colours, and shows which result is chosen', async () => {
    const page = await open('/docs', { forcedColors: 'active', colorScheme: 'dark' });
    await type(page, 'signature');
    await page.locator('.results mark').first().waitFor();
    expect(await docsAuditOf(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    const outlines = `[...document.querySelectorAll('.results a')].map((one) => getComputedStyle(one).outlineStyle)`;
    expect((await page.evaluate<string[]>(outlines)).slice(0, 2)).toEqual(['solid', 'none']);
  });

  test('closes its results when the focus goes on, but not when a result gets it', async () => {
    const page = await open('/docs');
    await type(page, 'worker');
    await found(page);
    await page.getByRole('option').first().locator('a').focus();
    expect(await page.getByRole('listbox').isVisible()).toBe(true);
    await page.getByRole('link', { name: 'Start in five minutes' }).focus();
    await page.getByRole('listbox').waitFor({ state: 'hidden' });
  });

  test('Tab leaves it for what comes next, and Escape closes the results before it empties the field', async () => {
    const page = await open('/docs');
    await type(page, 'worker');
    await found(page);
    const field = page.getByRole('combobox');
    await field.press('Escape');
    expect([await page.getByRole('listbox').isVisible(), await field.inputValue()]).toEqual([
      false,
      'worker',
    ]);
    await field.press('Escape');
    expect(await field.inputValue()).toBe('');
    await type(page, 'worker');
    await found(page);
    await field.press('Tab');
    await page.getByRole('listbox').waitFor({ state: 'hidden' });
    expect(await page.evaluate<string>('document.activeElement.className')).toBe('theme');
  });

  test.each([503, 'aborted'])(
    'says that its index could not be loaded (%s), and loads it at the next use',
    async (answer) => {
      const { page, complaints } = await visit();
      await page.route('**/docs/assets/search.json', (route) =>
        typeof answer === 'number' ? route.fulfill({ status: answer, body: '[]' }) : route.abort(),
      );
      await page.goto('/docs');
      await type(page, 'sandbox');
      await page.getByText('The search could not be loaded.').waitFor();
      await page.unroute('**/docs/assets/search.json');
      await type(page, 'sandboxes');
      await found(page);
      expect(await page.getByText('The search could not be loaded.').count()).toBe(0);
      expect(complaints.splice(0)).toEqual([expect.stringContaining('Failed to load resource')]);
    },
  );

  test.each(['finder.js', 'minisearch.js'])(
    'says that its engine (%s) could not be loaded, and works once the page is loaded again',
    async (name) => {
      const { page, complaints } = await visit();
      await page.route(`**/docs/assets/${name}`, (route) => route.abort());
      await page.goto('/docs');
      await type(page, 'sandbox');
      await page
        .getByText('The search could not be loaded. Type again to retry, or load the page again.')
        .waitFor();
      await page.unroute(`**/docs/assets/${name}`);
      await page.reload();
      await type(page, 'sandbox');
      await found(page);
      expect(complaints.splice(0)).toContainEqual(expect.stringContaining('Failed to load resource'));
    },
  );

  test('takes what is typed for words and not for markup or patterns', async () => {
    const page = await open('/docs');
    for (const typed of ['<zzzz>', '(', 'zzzz\\', '[', '$&']) {
      await type(page, typed);
      await page.getByText(`Nothing found for “${typed}”`).waitFor();
    }
    await type(page, '<b>worker (');
    await found(page);
    expect(await page.locator('.results b b').count()).toBe(0);
  });
});
