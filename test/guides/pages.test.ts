import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/config/package.js';
import { slugOf } from '../../src/docs/contract.js';
import { downloadsPage } from '../../src/docs/downloads.js';
import { blocksOf, examplesOf, isCode, patternOf } from './guide-page.js';
import { FRAMEWORK_GUIDE, guideSlugs, guideSource, languageGuides } from './guides.js';
import { stories } from './stories.js';
import { tables } from './typed-blocks.js';

/** For people, not for programs. */
const WITHOUT_PROGRAMS = ['changelog', 'versions-and-deprecation'];
const LINK = /\]\(([a-z][a-z-]*)\.md(?:#([\w-]+))?\)/g;
const sdk = (path: string) => readFileSync(join(packageRoot, 'src/sdk', path), 'utf8');

test('the guides are these, in this order', () => {
  expect(guideSlugs).toEqual([
    'start',
    'sign-in',
    'read-and-stay-in-sync',
    'webhooks',
    'webhooks-in-your-framework',
    'rotate-keys-and-secrets',
    'errors-and-limits',
    'mock-in-your-tests',
    'from-demo-to-live',
    'changelog',
    'versions-and-deprecation',
  ]);
});

test('every guide with programs is run', () => {
  expect([...Object.keys(stories), ...WITHOUT_PROGRAMS].sort()).toEqual([...languageGuides].sort());
});

test.each(Object.entries(tables))('each line of the table %s reports one block', (_, table) => {
  for (const [slug, begins] of table) {
    const told = blocksOf(guideSource(slug)).filter(
      ({ language, code }) => language === 'sh' && code.startsWith(begins),
    );
    expect([slug, begins, told.length]).toEqual([slug, begins, 1]);
  }
});

describe.each(guideSlugs)('%s', (slug) => {
  const source = guideSource(slug);

  test('has whole programs only, so that all of its code runs', () => {
    const fragments = blocksOf(source).filter((block) => isCode(block) && !block.info.startsWith('file='));
    expect(fragments).toEqual([]);
  });

  const inAllLanguages = slug === FRAMEWORK_GUIDE ? test.skip : test;
  inAllLanguages('has each program in the three languages, under names that are usual there', () => {
    for (const { programs } of examplesOf(source)) {
      expect(programs.map(({ language }) => language)).toEqual(['ts', 'python', 'go']);
      const [typescript, python, go] = programs.map(({ file }) => file);
      expect(typescript).toMatch(/^[a-z-]+(\.test)?\.ts$/);
      expect(python).toMatch(/^[a-z_]+\.py$/);
      expect(go).toMatch(/^[a-z_]+\.go$/);
    }
  });

  test('waits for no answer without an end', () => {
    expect(source).not.toMatch(/\bhttp\.(Get|Post|DefaultClient)\b/);
    for (const [call] of source.matchAll(/\bfetch\((.*\)|[\s\S]*?\n\s*\))/g)) {
      expect(call).toMatch(/\bsignal:/);
    }
    for (const [call] of source.matchAll(/\b(urlopen|requests\.\w+)\((.*\)|[\s\S]*?\n\s*\))/g)) {
      expect(call).toMatch(/\btimeout=/);
    }
    for (const [client] of source.matchAll(/\bhttp\.Client\{(.*\}|[\s\S]*?\n\s*\})/g)) {
      expect(client).toMatch(/\bTimeout:/);
    }
  });

  test('names no address that another environment would not have', () => {
    expect(source.replaceAll('https://sign-on.example.com', '')).not.toMatch(
      /gateway\.example\.com|localhost:400[0-9]/,
    );
  });

  test('leads to guides that are there', () => {
    for (const [, target = '', fragment] of source.matchAll(LINK)) {
      expect(guideSlugs).toContain(target);
      expect(fragment === undefined || headingIds(target).includes(fragment)).toBe(true);
    }
  });
});

test('says what is needed as the packages, their READMEs and the downloads page do', () => {
  const told = (text: string, pattern: RegExp) => pattern.exec(text)?.slice(1);
  const [node, python, go, goForLists] =
    told(
      guideSource('start'),
      /Node\.js (\S+), Python (\S+) or Go (\S+); .* range over lists, which needs Go ([\d.]+\d)/,
    ) ?? [];
  const downloads = String(downloadsPage('1.4.0').body);

  expect(told(downloads, /Node (\S+) or newer[\s\S]*Python (\S+) or newer/)).toEqual([node, python]);
  expect(told(downloads, /Go (\S+) or newer, and (\S+) to range over lists/)).toEqual([go, goForLists]);
  expect(told(sdk('typescript/README.md'), /for Node\.js (\S+) or newer/)).toEqual([node]);
  expect(told(sdk('python/README.md'), /For Python (\S+) or newer/)).toEqual([python]);
  expect(told(sdk('python/pyproject.toml'), /requires-python = ">=(\S+)"/)).toEqual([python]);
  expect(told(sdk('go/README.md'), /For Go (\S+) or newer[\s\S]*for `range` from Go (\S+) on/)).toEqual([
    go,
    goForLists,
  ]);
  expect(told(sdk('go/go.mod'), /^go (\S+)$/m)).toEqual([go]);
});

test.each(['typescript', 'python', 'go'])(
  'the sign-out in the README of %s revokes the refresh token: an expired access token may end nothing',
  (language) => {
    const revoked = sdk(`${language}/README.md`).match(/\.revoke\(.*/gi) ?? [];
    expect(revoked).toEqual([expect.stringMatching(/refresh_?token/i)]);
  },
);

test('what to write for a Node.js without SQLite replaces a call of the program', () => {
  const source = guideSource('read-and-stay-in-sync');
  const [, replaced = ''] = /instead of `([^`]+)`/.exec(source) ?? [];
  const program = blocksOf(source).find(({ info }) => info === 'file=keep-copy.ts');
  expect(program?.code.split(replaced)).toHaveLength(2);
});

test.each([
  ['a\nb', 'a\nb\n', true],
  ['a\nb', 'a\n', false],
  ['a…\nb', 'a and more\nb\n', true],
  ['a\n…\nz', 'a\nb\nc\nz\n', true],
  ['a\n…', 'a\n', true],
  ['a.b', 'a-b\n', false],
])('what a page says is printed, %j, is compared with %j: %p', (prints, output, fits) => {
  expect(patternOf(prints).test(output)).toBe(fits);
});

function headingIds(slug: string): string[] {
  return [...guideSource(slug).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => slugOf(heading));
}
