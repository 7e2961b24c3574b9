import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { guidePages } from '../../src/docs/guide-pages.js';
import { guideOf, readGuides } from '../../src/docs/sources.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

const newDirectory = temporaryDirectories(afterEach);

const GUIDE = '---\ntitle: Sign users in\norder: 2\nsummary: With PKCE.\n---\n\n# Sign users in\n\nText.\n';

describe('a guide', () => {
  test('says its title, its place and what it is about before it begins', () => {
    expect(guideOf('sign-in.md', GUIDE)).toEqual({
      slug: 'sign-in',
      title: 'Sign users in',
      order: 2,
      summary: 'With PKCE.',
      markdown: '\n# Sign users in\n\nText.\n',
    });
  });

  test.each([
    ['nothing at all', 'Text.'],
    ['no title', '---\norder: 1\nsummary: s\n---\n'],
    ['no order', '---\ntitle: t\nsummary: s\n---\n'],
    ['an order that is no number', '---\ntitle: t\norder: first\nsummary: s\n---\n'],
    ['no summary', '---\ntitle: t\norder: 1\n---\n'],
  ])('that says %s stops the build', (_, text) => {
    expect(() => guideOf('sign-in.md', text)).toThrow(
      'sign-in.md has to begin with title, order and summary',
    );
  });

  test('has its title once on its page', () => {
    const nowhere = { ofName: () => undefined, ofGuide: () => undefined };
    const [page] = guidePages([guideOf('sign-in.md', GUIDE)], nowhere);
    expect(page?.body.toString().match(/<h1/g)).toHaveLength(1);
    expect(page?.markdown?.match(/^# /gm)).toHaveLength(1);
  });
});

test('guides come in their order, and the note on the folder is none of them', () => {
  const folder = newDirectory();
  const write = (name: string, order: number) =>
    writeFileSync(join(folder, name), `---\ntitle: ${name}\norder: ${order}\nsummary: s\n---\n`);
  write('webhooks.md', 3);
  write('start.md', 1);
  write('sign-in.md', 2);
  writeFileSync(join(folder, 'README.md'), '# guides');
  writeFileSync(join(folder, 'picture.svg'), '');
  expect(readGuides(folder).map(({ slug }) => slug)).toEqual(['start', 'sign-in', 'webhooks']);
});
