import type { Page, TestBrowser } from '../../support/test-browser.js';

export interface Credentials {
  email: string;
  password: string;
}

export interface Choices extends Partial<Credentials> {
  /** `USER:cli_…`; the first one offered unless it is said. */
  context?: string;
  decision?: 'approve' | 'deny';
}

export interface Walk {
  /** Headings of the pages on the way, each as often as it came. */
  pages: string[];
  /** Where it ended: outside, or at a page at which this person knows nothing to do. */
  end: Page;
}

const MOST_PAGES = 5;

/** Goes from page to page as a person would, until the browser leaves the server. */
export async function walk(browser: TestBrowser, start: Page, choices: Choices = {}): Promise<Walk> {
  const pages: string[] = [];
  let page = start;
  while (!page.hasLeft && pages.length < MOST_PAGES) {
    pages.push(page.heading.replace(/^Allow .*$/, 'Allow'));
    const next = await onward(browser, page, choices);
    if (!next) {
      break;
    }
    page = next;
  }
  return { pages, end: page };
}

function onward(browser: TestBrowser, page: Page, choices: Choices): Promise<Page> | undefined {
  const { email, password, context, decision = 'approve' } = choices;
  if (page.heading === 'Sign in' && email !== undefined && password !== undefined) {
    return browser.press(page, 'sign-in', { email, password });
  }
  if (page.heading === 'Continue as') {
    return browser.press(page, context ?? page.choices('context')[0] ?? '');
  }
  return page.heading.startsWith('Allow ') ? browser.press(page, decision) : undefined;
}
