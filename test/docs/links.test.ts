import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type DocsServer, startDocs } from '../support/docs-server.js';
import { type Markup, pagesOf } from './markup.js';

/** Other people's pages that ours name; a new one is to be looked at. */
const OTHERS = ['www.standardwebhooks.com', 'github.com'];

let docs: DocsServer;
let pages: Markup[];

beforeAll(async () => {
  docs = await startDocs();
  pages = pagesOf(docs.site);
});
afterAll(() => docs.stop());

/** Why a link is broken, if it is. */
function fault(from: Markup, href: string): string | undefined {
  if (href.startsWith('data:') || href.startsWith('mailto:')) {
    return undefined;
  }
  const own = href.replace(/^\{\{(?:gatewayUrl|demoGatewayUrl)\}\}/, '');
  if (/^https?:/.test(own)) {
    return OTHERS.includes(new URL(own).hostname) ? undefined : 'leads to another server';
  }
  if (own.startsWith('{{signOnUrl}}')) {
    return undefined;
  }
  const [beforeFragment = '', fragment] = own.split('#');
  const path = beforeFragment.split('?')[0] || from.path;
  const target = pages.find((page) => page.path === path.replace(/\.md$/, ''));
  if (!docs.library(path)) {
    return 'there is nothing at that address';
  }
  return fragment !== undefined && !target?.ids.includes(fragment)
    ? 'the page has no such section'
    : undefined;
}

describe('the site', () => {
  test('has no broken link, on any page', () => {
    const broken = pages.flatMap((page) =>
      page.links.flatMap((href) => {
        const why = fault(page, href);
        return why === undefined ? [] : [`${page.path} -> ${href}: ${why}`];
      }),
    );
    expect([...new Set(broken)]).toEqual([]);
    expect(pages.flatMap(({ links }) => links).length).toBeGreaterThan(500);
  });

  test('has no broken link in its pages as Markdown', () => {
    const texts = docs.site.filter(({ path }) => path.endsWith('.md'));
    const links = texts.flatMap(({ path, body }) => {
      const from = pages.find((page) => `${page.path}.md` === path) as Markup;
      const prose = body.replace(/^ *```[\s\S]*?^ *```$/gm, '').replace(/`[^`\n]*`/g, '');
      return [...prose.matchAll(/\]\(([^()\s]*)\)/g)].map(([, href = '']) => ({ from, href }));
    });
    const broken = links.flatMap(({ from, href }) => {
      const why = fault(from, href);
      return why === undefined ? [] : [`${from.path}.md -> ${href}: ${why}`];
    });
    expect([...new Set(broken)]).toEqual([]);
    expect(links.length).toBeGreaterThan(500);
  });

  test.each([
    ['/docs/nowhere', 'there is nothing at that address'],
    ['/docs#nowhere', 'the page has no such section'],
    ['#nowhere', 'the page has no such section'],
    ['https://cdn.example.org/x.js', 'leads to another server'],
    ['/docs/downloads#sdks', undefined],
    ['/sdk/go', undefined],
  ])('a link to %s would be told: %s', (href, why) => {
    expect(fault(pages[0] as Markup, href)).toBe(why);
  });

  test('has no page that no other page leads to, but for the one of what does not exist', () => {
    const linked = new Set(pages.flatMap(({ links }) => links.map((href) => href.split('#')[0])));
    expect(pages.map(({ path }) => path).filter((path) => !linked.has(path))).toEqual(['/docs/not-found']);
  });

  test('leads from its search to sections that are there', async () => {
    const response = await fetch(`${docs.url}/docs/assets/search.json`);
    const entries = (await response.json()) as { u: string }[];
    expect(entries.length).toBeGreaterThan(100);
    expect(entries.map(({ u }) => u).filter((u) => fault(pages[0] as Markup, u) !== undefined)).toEqual([]);
  });

  test('is listed in llms.txt whole, at addresses that are there', async () => {
    const text = await (await fetch(`${docs.url}/llms.txt`)).text();
    const addresses = [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, address = '']) => address);
    expect(addresses.filter((address) => !docs.library(address.replace(docs.url, '')))).toEqual([]);
    const listed = new Set(addresses.map((address) => address.replace(docs.url, '').replace(/\.md$/, '')));
    const left = pages.map(({ path }) => path).filter((path) => !listed.has(path));
    expect(left).toEqual(['/docs', '/docs/not-found']);
  });
});
