import { expect, test } from '@jest/globals';
import { readSources } from '../../src/docs/sources.js';
import { httpOperations } from '../architecture/surface.js';
import { renderedSite } from '../support/docs-server.js';
import { pagesOf } from './markup.js';

const pages = pagesOf(renderedSite());

test('the navigation of every page leads to each operation and event', () => {
  const operations = (['gateway', 'sign-on'] as const)
    .flatMap(httpOperations)
    .map(({ operationId }) => operationId);
  const events = Object.keys(readSources().webhooks.document.components.messages ?? {});
  const described = pages.flatMap(({ path, ids }) =>
    [...operations, ...events].filter((id) => ids.includes(id)).map((id) => `${path}#${id}`),
  );
  expect(described.length).toBe(30);
  for (const { path, text } of pages) {
    const [, navigation = ''] = /<nav class="side"([\s\S]*?)<\/nav>/.exec(text) ?? [];
    expect([path, described.filter((address) => !navigation.includes(`href="${address}"`))]).toEqual([
      path,
      [],
    ]);
  }
});
