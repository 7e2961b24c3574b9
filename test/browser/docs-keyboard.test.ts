import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { chromiumVisits } from '../support/chromium.js';
import { type DocsServer, startDocs } from '../support/docs-server.js';
import { describeWith } from '../support/toolchains.js';

const MAX_STOPS = 400;

/** Marks what has the focus, and says whether that can be seen and whether it comes after the stop before. */
const STOP = `((element) => {
  if (element === document.body) return undefined;
  const before = document.querySelector('[data-stop]');
  const again = element.hasAttribute('data-was-stop');
  const follows = !before || Boolean(before.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
  before?.removeAttribute('data-stop');
  element.setAttribute('data-stop', '');
  element.setAttribute('data-was-stop', '');
  const drawn = element.type === 'radio' ? element.nextElementSibling : element;
  const { outlineStyle, outlineWidth } = getComputedStyle(drawn);
  const { width, height, bottom, right } = drawn.getBoundingClientRect();
  return {
    what: drawn.outerHTML.slice(0, 80),
    again,
    follows,
    seen: outlineStyle === 'solid' && outlineWidth === '3px' && width > 0 && height > 0 && bottom > 0 && right > 0,
  };
})(document.activeElement)`;

interface Stop {
  what: string;
  again: boolean;
  follows: boolean;
  seen: boolean;
}

async function tabStops(page: Page): Promise<Stop[]> {
  const stops: Stop[] = [];
  while (stops.length < MAX_STOPS) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate<Stop | undefined>(STOP);
    if (!stop || stop.again) {
      break;
    }
    stops.push(stop);
  }
  return stops;
}

describeWith('chromium', 'the documentation with nothing but a keyboard', (executable) => {
  const { visit } = chromiumVisits(executable);
  let docs: DocsServer;

  beforeAll(async () => {
    docs = await startDocs();
  });
  afterAll(() => docs.stop());

  describe.each([
    ['/docs', 1440],
    ['/docs/downloads', 1440],
    ['/docs/reference/gateway/job-titles', 1440],
    ['/docs/reference/gateway/job-titles', 360],
    ['/docs/reference/webhooks', 1024],
  ])('%s, %i pixels wide', (path, width) => {
    test('is gone through from top to bottom, and what has the focus can be seen', async () => {
      const { page } = await visit({ viewport: { width, height: 800 } });
      await page.goto(`${docs.url}${path}`);
      const stops = await tabStops(page);
      expect(stops.length).toBeGreaterThan(15);
      expect(stops[0]?.what).toContain('class="skip"');
      expect(stops.filter(({ follows, seen }) => !follows || !seen)).toEqual([]);
    });
  });

  test('the first stop leads past everything to the content', async () => {
    const { page } = await visit();
    await page.goto(`${docs.url}/docs/downloads`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    const inContent = await page.evaluate<boolean>(`Boolean(document.activeElement.closest('main'))`);
    expect([new URL(page.url()).hash, inContent]).toEqual(['#content', true]);
  });

  test('a language is chosen with the arrows', async () => {
    const { page } = await visit();
    await page.goto(`${docs.url}/docs/reference/gateway/job-titles`);
    await page.locator('.choices input').first().focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('.panel:visible code').first().innerText()).toContain(
      '@integration-service/sdk',
    );
  });
});
