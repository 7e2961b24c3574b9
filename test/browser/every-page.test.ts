import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describeWith } from '../support/toolchains.js';
import { auditOf, focusWalkOf } from './audit.js';
import { pages } from './pages.js';
import { signOnInChromium } from './sign-on-in-chromium.js';

/** Screens and settings that people have. */
const SCREENS: Record<string, BrowserContextOptions> = {
  desk: { viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light', hasTouch: true },
  'dark phone': { viewport: { width: 320, height: 640 }, colorScheme: 'dark', hasTouch: true },
};

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder) {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${name.replaceAll(/\W+/g, '-')}.png`);
    // To hide the caret it would write a style into the page.
    await page.screenshot({ path, fullPage: true, caret: 'initial' });
  }
}

describeWith('chromium', 'every page in Chromium', (executable) => {
  const rig = signOnInChromium(executable);

  describe.each(Object.keys(pages))('%s', (name) => {
    test('is accessible, on every screen, light and dark', async () => {
      const { page } = await rig.visit();
      await pages[name]?.(page, rig);
      expect((await focusWalkOf(page)).faults).toEqual([]);
      for (const [screen, { viewport, colorScheme }] of Object.entries(SCREENS)) {
        await page.setViewportSize(viewport as NonNullable<typeof viewport>);
        await page.emulateMedia({ colorScheme: colorScheme as 'light' });
        await picture(page, `${name} ${screen}`);
        expect({ screen, faults: await auditOf(page) }).toEqual({ screen, faults: [] });
      }
      expect(await page.getByRole('note').innerText()).toContain('Demo environment');
    });
  });
});
