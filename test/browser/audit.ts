import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const AUDIT = readFileSync(join(import.meta.dirname, 'page-audit.js'), 'utf8');

/** What would keep somebody from using the page as it is shown, in words. */
export function auditOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(AUDIT);
}
