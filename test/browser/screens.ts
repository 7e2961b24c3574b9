import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { auditOf } from './audit.js';

/** Screens and settings that people have. */
const SCREENS: Record<string, BrowserContextOptions> = {
  desk: { viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light', hasTouch: true },
  'dark phone': { viewport: { width: 320, height: 640 }, colorScheme: 'dark', hasTouch: true },
};

/** The faults of the present page by screen, where there are any. Takes pictures if asked. */
export async function faultsOnScreens(page: Page, name: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [screen, { viewport, colorScheme }] of Object.entries(SCREENS)) {
    await page.setViewportSize(viewport as NonNullable<typeof viewport>);
    await page.emulateMedia({ colorScheme: colorScheme as 'light' });
    await picture(page, `${name} ${screen}`);
    const faults = await auditOf(page);
    if (faults.length > 0) {
      found[screen] = faults;
    }
  }
  return found;
}

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder) {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${name.replaceAll(/\W+/g, '-')}.png`);
    // To hide the caret it would write a style into the page.
    await page.screenshot({ path, fullPage: true, caret: 'initial' });
  }
}
