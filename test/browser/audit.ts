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

/** What would keep somebody from using the page of sign-on as it is shown, in words. */
export function auditOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(${AUDIT})(${COLOURS})`);
}

/** The same of a page of the documentation, with all that is folded unfolded, once its scripts know of the size of the window. */
export async function docsAuditOf(page: Page): Promise<string[]> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  return page.evaluate<string[]>(`(${DOCS_AUDIT})(${COLOURS})`);
}
