import { expect, test } from '@jest/globals';
import { readSources } from '../../src/docs/sources.js';
import { httpOperations } from '../architecture/surface.js';
import { renderedSite } from '../support/docs-server.js';
import { pagesOf } from './markup.js';

const pages = pagesOf(renderedSite());
const textAt = (path: string) => pages.find((page) => page.path === path)?.text ?? '';

test('the navigation of every page leads to each operation and event', () => {
  const operations = (['gateway', 'sign-on'] as const)
    .flatMap(httpOperations)
    .map(({ operationId }) => operationId);
  const events = Object.keys(readSources().webhooks.document.components.messages ?? {});
  const described = pages.flatMap(({ path, ids }) =>
    [...operations, ...events].filter((id) => ids.includes(id)).map((id) => `${path}#${id}`),
  );
  expect(described.length).toBe(32);
  for (const { path, text } of pages) {
    const [, navigation = ''] = /<nav class="side"([\s\S]*?)<\/nav>/.exec(text) ?? [];
    expect([path, described.filter((address) => !navigation.includes(`href="${address}"`))]).toEqual([
      path,
      [],
    ]);
  }
});

test('the navigation lists the sections of a page in their order', () => {
  const [, navigation = ''] = /<nav class="side"([\s\S]*?)<\/nav>/.exec(pages[0]?.text ?? '') ?? [];
  const listed = [...navigation.matchAll(/href="([^"#]+)#([^"]+)"/g)].map(([, path, id = '']) => ({
    path,
    id,
  }));
  for (const { path, ids } of pages) {
    const own = listed.filter((entry) => entry.path === path).map(({ id }) => id);
    expect([path, own]).toEqual([path, ids.filter((id) => own.includes(id))]);
  }
});

test('among the sections of a page, a long name may continue on the next line after each of its words', () => {
  const [, sections = ''] = /<nav class="toc"([\s\S]*?)<\/nav>/.exec(textAt('/docs/errors')) ?? [];
  expect(sections).toContain('>api_<wbr>key_<wbr>wrong_<wbr>environment</a>');
  const [, schemas = ''] =
    /<nav class="toc"([\s\S]*?)<\/nav>/.exec(textAt('/docs/reference/gateway/schemas')) ?? [];
  expect(schemas).toContain('>Organization<wbr>Structure</a>');
});

test('previous and next lead through all pages, in the order of the navigation', () => {
  const linkIn = (text: string, kind: string) =>
    new RegExp(`<a class="${kind}" href="([^"]+)"`).exec(text)?.[1];
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const way = ['/docs/start'];
  for (let next: string | undefined = '/docs/start'; next !== undefined; ) {
    const here = byPath.get(next);
    expect(linkIn(here?.text ?? '', 'before')).toBe(way.at(-2));
    next = linkIn(here?.text ?? '', 'after');
    way.push(...(next === undefined ? [] : [next]));
  }
  const [, navigation = ''] = /<nav class="side"([\s\S]*?)<\/nav>/.exec(pages[0]?.text ?? '') ?? [];
  const listed = [...navigation.matchAll(/href="(\/[^"#]+)"/g)].map(([, path]) => path);
  expect(way).toEqual(listed);
  expect(way).toHaveLength(pages.length - 2);
});
