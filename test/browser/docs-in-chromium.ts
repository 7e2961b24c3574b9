import { afterAll, beforeAll } from '@jest/globals';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { chromiumVisits, type Visit } from '../support/chromium.js';
import { type DocsServer, startDocs } from '../support/docs-server.js';

export const WORKERS = '/docs/reference/gateway/workers';
export const PHONE = { viewport: { width: 360, height: 740 } };

/** The documentation in Chromium, for a describe block. Pages are opened by their paths. */
export function docsInChromium(executable: string, start: () => Promise<DocsServer> = startDocs) {
  const chromium = chromiumVisits(executable);
  let docs: DocsServer;
  beforeAll(async () => {
    docs = await start();
  });
  afterAll(() => docs.stop());
  const visit = (options: BrowserContextOptions = {}): Promise<Visit> =>
    chromium.visit({ baseURL: docs.url, ...options });
  return {
    url: () => docs.url,
    visit,
    lastingVisit: (): Promise<Visit> => chromium.lastingVisit({ baseURL: docs.url }),
    open: async (path: string, options?: BrowserContextOptions): Promise<Page> => {
      const { page } = await visit(options);
      await page.goto(path);
      return page;
    },
  };
}

/** The form that tries an operation. */
export function formOf(page: Page, operationId: string): Locator {
  return page.locator(`section:has(#${operationId}) details.try`);
}

export async function unfoldedForm(page: Page, operationId: string): Promise<Locator> {
  const form = formOf(page, operationId);
  await form.locator('summary').click();
  return form;
}
