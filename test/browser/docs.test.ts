import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { Page, ViewportSize } from 'playwright-core';
import { NOT_FOUND_PATH } from '../../src/edge/docs/site-file.js';
import { renderedSite } from '../support/docs-server.js';
import { describeWith } from '../support/toolchains.js';
import { docsAuditOf, focusWalkOf } from './audit.js';
import { docsInChromium, WORKERS } from './docs-in-chromium.js';

interface Screen {
  viewport: ViewportSize;
  colorScheme: 'light' | 'dark';
}

/** Screens and settings that people have. */
const SCREENS: Record<string, Screen> = {
  wide: { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  dark: { viewport: { width: 1024, height: 768 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light' },
  'dark phone': { viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
};

const paths = renderedSite()
  .filter(({ type }) => type.startsWith('text/html'))
  .map(({ path }) => path);

/** One page of each kind, where the walk begins at the top; on the others it begins at the content. */
const WALKED_FROM_THE_TOP = [
  '/docs',
  '/docs/read-and-stay-in-sync',
  WORKERS,
  '/docs/reference/webhooks',
  '/docs/operate/runbooks',
];

/** The controls that precede the content and are shown: those of the header and the navigation. */
const CONTROLS_BEFORE_CONTENT = `[...document.querySelectorAll('a, button, input')]
  .filter((control) => control.checkVisibility({ visibilityProperty: true }))
  .filter((control) => control.compareDocumentPosition(document.querySelector('main')) & Node.DOCUMENT_POSITION_FOLLOWING)
  .map((control) => control.getAttribute('href') ?? control.outerHTML)`;

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder) {
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `${name.replaceAll(/\W+/g, '-')}.png`), caret: 'initial' });
  }
}

async function showOn(page: Page, { viewport, colorScheme }: Screen): Promise<void> {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
}

describeWith('chromium', 'every page of the documentation in Chromium', (executable) => {
  const { visit, lastingVisit } = docsInChromium(executable);
  let controlsBeforeContent: string[];

  async function openWide(path: string): Promise<Page> {
    const { page } = await lastingVisit();
    await showOn(page, SCREENS.wide as Screen);
    await page.goto(path);
    return page;
  }

  beforeAll(async () => {
    controlsBeforeContent = await (await openWide('/docs')).evaluate(CONTROLS_BEFORE_CONTENT);
  });

  test.each(paths)('%s is accessible, on every screen, light and dark', async (path) => {
    const page = await openWide(path);
    expect(await page.evaluate(CONTROLS_BEFORE_CONTENT)).toEqual(controlsBeforeContent);
    const isFromTheTop = WALKED_FROM_THE_TOP.includes(path);
    const { faults, stops } = await focusWalkOf(page, isFromTheTop ? 'body' : 'main');
    expect(faults).toEqual([]);
    expect(stops).not.toEqual([]);
    if (isFromTheTop) {
      expect(stops[0]).toContain('class="skip"');
    }
    for (const [screen, settings] of Object.entries(SCREENS)) {
      await showOn(page, settings);
      await picture(page, `${path} ${screen}`);
      expect({ screen, faults: await docsAuditOf(page) }).toEqual({ screen, faults: [] });
    }
    if (path === NOT_FOUND_PATH) {
      // Chromium's own message.
      const { complaints } = await lastingVisit();
      expect(complaints.splice(0)).toEqual([expect.stringContaining('status of 404')]);
    }
  });

  test('of each kind a page is walked from the top', () => {
    expect(paths).toEqual(expect.arrayContaining(WALKED_FROM_THE_TOP));
  });

  test.each([
    ['<h1>One</h1><h3>Three</h3>', 'a level is left out before'],
    ['<p style="color:#999">pale</p>', 'text has a contrast of 2.'],
    ['<div style="width:3000px">wide</div>', 'pixels stand beyond the edge'],
    ['<input id="x">', 'no label'],
    ['<a href="#"></a>', 'no name'],
    ['<p id="a"></p><p id="a"></p>', 'an id occurs twice'],
    ['<nav>one</nav>', 'navigations cannot be told apart'],
  ])('that has %s is found at fault', async (markup, fault) => {
    const { page } = await visit();
    await page.setContent(`<!doctype html><html lang="en"><title>t</title><body>${markup}</body></html>`);
    expect((await docsAuditOf(page)).join('\n')).toContain(fault);
  });
});
