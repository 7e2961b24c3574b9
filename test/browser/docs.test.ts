import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { chromiumVisits } from '../support/chromium.js';
import { renderedSite } from '../support/docs-server.js';
import { describeWith } from '../support/toolchains.js';
import { docsAuditOf, focusWalkOf } from './audit.js';
import { docsInChromium } from './docs-in-chromium.js';

/** Screens and settings that people have. */
const SCREENS: Record<string, BrowserContextOptions> = {
  wide: { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  dark: { viewport: { width: 1024, height: 768 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light' },
  'dark phone': { viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
};

const paths = renderedSite()
  .filter(({ type }) => type.startsWith('text/html'))
  .map(({ path }) => path);

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder) {
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `${name.replaceAll(/\W+/g, '-')}.png`), caret: 'initial' });
  }
}

describeWith('chromium', 'every page of the documentation in Chromium', (executable) => {
  const { open } = docsInChromium(executable);

  test.each(paths)('%s is accessible, on every screen, light and dark', async (path) => {
    const page = await open(path, SCREENS.wide);
    const { faults, stops } = await focusWalkOf(page);
    expect(faults).toEqual([]);
    expect(stops[0]).toContain('class="skip"');
    for (const [screen, { viewport, colorScheme }] of Object.entries(SCREENS)) {
      await page.setViewportSize(viewport as NonNullable<typeof viewport>);
      await page.emulateMedia({ colorScheme: colorScheme as 'light' });
      await picture(page, `${path} ${screen}`);
      expect({ screen, faults: await docsAuditOf(page) }).toEqual({ screen, faults: [] });
    }
  });
});

describeWith('chromium', 'the audit itself', (executable) => {
  const { visit } = chromiumVisits(executable);

  test.each([
    ['<h1>One</h1><h3>Three</h3>', 'a level is left out before'],
    ['<p style="color:#999">pale</p>', 'text has a contrast of 2.'],
    ['<div style="width:3000px">wide</div>', 'pixels stand beyond the edge'],
    ['<input id="x">', 'no label'],
    ['<a href="#"></a>', 'no name'],
    ['<p id="a"></p><p id="a"></p>', 'an id occurs twice'],
    ['<nav>one</nav>', 'navigations cannot be told apart'],
  ])('reports %s', async (markup, fault) => {
    const { page } = await visit();
    await page.setContent(`<!doctype html><html lang="en"><title>t</title><body>${markup}</body></html>`);
    expect((await docsAuditOf(page)).join('\n')).toContain(fault);
  });
});
