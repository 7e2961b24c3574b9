import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const expressionIn = (name: string) =>
  readFileSync(join(import.meta.dirname, name), 'utf8')
    .trimEnd()
    .replace(/;$/, '');

const COLOURS = expressionIn('colours.js');
const AUDIT = expressionIn('page-audit.js');
const DOCS_AUDIT = expressionIn('docs-audit.js');
const FOCUS_ORDER = expressionIn('focus-order.js');
const TAB = { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 };
/** Beyond what should be there, to find what should not. */
const MORE_STOPS = 5;

/** Accessibility faults of the present page, in words. */
export function auditOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(${AUDIT})(${COLOURS})`);
}

/** The same for a page of the documentation with everything unfolded, once its scripts have run. */
export async function docsAuditOf(page: Page): Promise<string[]> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  return page.evaluate<string[]>(`(${DOCS_AUDIT})(${COLOURS})`);
}

export interface FocusWalk {
  /** What is wrong, in words. */
  faults: string[];
  /** Where the focus was, one after the other, as markup. */
  stops: string[];
}

/** The browser sets the focus of `autofocus` when it draws the page, perhaps after it has loaded. */
export async function firstFocus(page: Page): Promise<void> {
  if ((await page.locator('[autofocus]').count()) > 0) {
    await page.locator('[autofocus]:focus').waitFor();
  }
}

/** Walks through the page by the Tab key, from an element to the bottom, as fast as possible. */
export async function focusWalkOf(page: Page, start = 'body'): Promise<FocusWalk> {
  await firstFocus(page);
  const expected = await page.evaluate<number>(`(${FOCUS_ORDER})(document.querySelector('${start}'))`);
  const keys = await page.context().newCDPSession(page);
  const presses = Array.from({ length: expected + MORE_STOPS }, () => [
    keys.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...TAB }),
    keys.send('Input.dispatchKeyEvent', { type: 'keyUp', ...TAB }),
  ]);
  await Promise.all(presses.flat());
  const walk = await page.evaluate<FocusWalk>('focusWalk.seen()');
  await keys.detach();
  return walk;
}
