import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { textOf } from '../../src/docs/markdown.js';
import type { SearchEntry } from '../../src/docs/search-index.js';
import { SEARCH_PATH } from '../../src/docs/site.js';
import { renderedSite } from '../support/docs-server.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

type Find = (question: string) => (SearchEntry & { terms: string[] })[];

const newDirectory = temporaryDirectories();
const site = renderedSite();
const served = (path: string) => site.find((file) => file.path === path)?.body ?? '';
let find: Find;

/** The engine as browsers load it: its modules name each other by their addresses. */
beforeAll(async () => {
  const folder = mkdtempSync(join(newDirectory(), 'assets-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const name of ['finder.js', 'minisearch.js', 'stemmer.js']) {
    writeFileSync(join(folder, name), served(`/docs/assets/${name}`));
  }
  const { finderOf } = await import(pathToFileURL(join(folder, 'finder.js')).href);
  find = finderOf(JSON.parse(served(SEARCH_PATH)));
});

const first = (question: string) => find(question)[0]?.u;

describe('the search answers', () => {
  test.each([
    ['pagination', '/docs/reference/gateway#lists'],
    ['sandbox', '/docs/from-demo-to-live'],
    ['idempotency', '/docs/webhooks#2-receive'],
    ['duplicate events', '/docs/reference/webhooks#delivery'],
    ['replay', '/docs/webhooks#4-replay-what-you-missed'],
    ['401', '/docs/errors#401'],
    ['api_key_missing', '/docs/errors#api_key_missing'],
    ['ngrok', '/docs/webhooks#1-subscribe'],
    ['express', '/docs/webhooks-in-your-framework#express'],
    ['next.js', '/docs/webhooks-in-your-framework#next-js'],
    ['django', '/docs/webhooks-in-your-framework#django'],
    ['raw body', '/docs/webhooks-in-your-framework'],
    ['within its own limits', '/docs/errors-and-limits#limits'],
    ['rate limiting', '/docs/reference/gateway#rate-limits'],
    ['how do I rotate a key', '/docs/rotate-keys-and-secrets'],
    ['employees', '/docs/reference/gateway/workers'],
    ['offboarded', '/docs/read-and-stay-in-sync#what-is-in-a-list-and-what-is-not'],
    ['listWorkersV2', '/docs/reference/gateway/workers#listWorkersV2'],
    ['login', '/docs/sign-in'],
    ['refresh token', '/docs/reference/sign-on#refresh-tokens'],
    ['mfa', '/docs/sign-in#the-person'],
    ['consent page asks', '/docs/sign-in#the-person'],
    ['choose a role', '/docs/sign-in#the-person'],
    ['webhook_relay_lag_seconds', '/docs/operate/metrics#service'],
    ['refresh_token.reused', '/docs/operate/audit-types#sign-on'],
    ['audit verify', '/docs/operate/audit-log#verify'],
    ['OTEL_TRACES_SAMPLER', '/docs/operate/health-and-restarts#tracing-a-request'],
    ['pg_restore', '/docs/operate/back-up-and-restore#back-up'],
    ['TokenResponse', '/docs/changelog#1-4-0'],
    ['WritesRefused', '/docs/operate/runbooks#writes-refused'],
  ])('%s with %s', (question, address) => {
    expect(first(question)).toBe(address);
  });

  test.each([
    ['login_hint', '/docs/reference/sign-on/authorization#authorize'],
    ['code_challenge_method', '/docs/reference/sign-on/authorization#authorize'],
    ['wait', '/docs/reference/gateway/changes#listChanges'],
    ['unitCode', '/docs/reference/webhooks/events#organization_unit.created'],
    ['jobTitles', '/docs/reference/webhooks/events#worker.updated'],
    ['CORS', '/docs/reference/sign-on#browser-applications'],
    ['spa', '/docs/reference/sign-on#browser-applications'],
  ])('%s with what has it, among others: %s', (question, address) => {
    expect(find(question).map(({ u }) => u)).toContain(address);
  });

  test.each([
    ['another form of the word', 'verified signatures', '/docs/reference/webhooks#verifying-the-signature'],
    ['a typo', 'verfy signatrue', '/docs/reference/webhooks#verifying-the-signature'],
    ['the beginning of a word', 'down', '/docs/downloads'],
    ['capitals', 'DOWNLOADS', '/docs/downloads'],
  ])('%s', (_, question, address) => {
    expect(first(question)).toBe(address);
  });

  test('nothing to what is on no page, to signs alone, and to nothing', () => {
    expect(['zzzz qqqq', '?!', ' ', ''].map(find)).toEqual([[], [], [], []]);
  });

  test('a number with that number alone', () => {
    const terms = new Set(find('401').flatMap((entry) => entry.terms));
    expect([...terms]).toEqual(['401']);
  });

  test('a name that is on no page with what has its parts', () => {
    expect(first('webhookSecret')).toBe('/docs/rotate-keys-and-secrets');
  });

  test('a question of which only some words are on a page with those', () => {
    expect(first('zzzzzz webhook')).toBe(first('webhook'));
  });
});

test('every word of the synonyms is one of the pages', () => {
  const [, table = ''] = /const SYNONYMS = \{([\s\S]*?)\n\};/.exec(served('/docs/assets/finder.js')) ?? [];
  const words = [...table.matchAll(/'([^']+)'/g)].map(([, word = '']) => word);
  expect(words.length).toBeGreaterThan(50);
  expect([...new Set(words)].filter((word) => !find(word).some(({ terms }) => terms.includes(word)))).toEqual(
    [],
  );
});

test('every name in code of guides and pages for operators is in the index', () => {
  const entries: SearchEntry[] = JSON.parse(served(SEARCH_PATH));
  const pages = site.filter(
    ({ path }) => /^\/docs\/(?:operate\/)?[^/]+$/.test(path) && !path.endsWith('.md'),
  );
  const left = pages.flatMap(({ path, body }) => {
    const own = entries.filter(({ u }) => u.split('#')[0] === path);
    const indexed = own.map(({ t, x }) => `${t} ${x}`).join(' ');
    const content = /<main\b[\s\S]*<\/main>/.exec(body)?.[0] ?? '';
    const spans = content.replace(/<pre>[\s\S]*?<\/pre>/g, '').matchAll(/<code>([\s\S]*?)<\/code>/g);
    const names = [...spans].map(([, span = '']) => textOf(span));
    return names.filter((name) => !indexed.includes(name)).map((name) => `${path}: ${name}`);
  });
  expect(left).toEqual([]);
});

test('every parameter, header and member is in the entry of its operation or event', () => {
  const entries: SearchEntry[] = JSON.parse(served(SEARCH_PATH));
  const pages = site.filter(({ path }) => path.startsWith('/docs/reference/') && !path.endsWith('.md'));
  const shown = pages.flatMap(({ path, body }) =>
    body.split('<section class="operation">').flatMap((section) => {
      const [, id] = /^<h2 id="([^"]+)"/.exec(section) ?? [];
      const { f: fields = '' } = entries.find(({ u }) => u === `${path}#${id}`) ?? {};
      const names = [...section.matchAll(/<code class="name">([^<]+)</g)].map(([, name = '']) => name);
      return id === undefined
        ? []
        : names.map((name) => ({ id, name, isFound: fields.split(' ').includes(name) }));
    }),
  );
  expect(shown.length).toBeGreaterThan(500);
  expect(shown.filter(({ isFound }) => !isFound)).toEqual([]);
});

test('the texts hold no names of tabs, no headings of tables, and no parts of one environment', () => {
  const entries: SearchEntry[] = JSON.parse(served(SEARCH_PATH));
  expect(entries.filter(({ x }) => /Language (TypeScript|curl)/.test(x)).map(({ u }) => u)).toEqual([]);
  expect(entries.filter(({ x }) => x.includes('Code Meaning')).map(({ u }) => u)).toEqual([]);
  expect(entries.filter(({ x }) => x.includes('Try it')).map(({ u }) => u)).toEqual([]);
});

test('modules of others are served with the terms of their licence', () => {
  for (const name of ['minisearch', 'stemmer']) {
    expect(served(`/docs/assets/${name}.js`)).toMatch(/^\/\*![\s\S]*Permission is hereby granted[\s\S]*\*\//);
  }
});
