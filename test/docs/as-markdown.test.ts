import { describe, expect, test } from '@jest/globals';
import { markdownOf } from '../../src/docs/as-markdown.js';
import { Tabs } from '../../src/docs/code.js';
import { renderedSite } from '../support/docs-server.js';
import { pagesOf } from './markup.js';

const site = renderedSite();
const texts = new Map(site.filter(({ path }) => path.endsWith('.md')).map(({ path, body }) => [path, body]));
const listed = pagesOf(site).filter(({ path }) => !['/docs', '/docs/not-found'].includes(path));

const FENCE = /^ *```.*\n[\s\S]*?^ *```$/gm;

describe.each(listed.map((page) => [page.path, page] as const))('%s as Markdown', (path, page) => {
  const text = texts.get(`${path}.md`) ?? '';
  const prose = text.replace(FENCE, '');

  test('has every heading of the first two levels, in order', () => {
    const headings = [...prose.matchAll(/^(#{1,2}) (.+)$/gm)].map(([, , title = '']) =>
      title.replaceAll('`', ''),
    );
    const expected = page.headings.filter(({ level }) => level <= 2).map(({ text: title }) => title.trim());
    expect(headings.map((title) => title.replace(/\[(.*?)\]\(.*?\)/g, '$1'))).toEqual(
      expected.map((title) =>
        title.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&'),
      ),
    );
  });

  test('closes each fence, and has no markup and no form outside of them', () => {
    expect((text.match(/^ *```/gm)?.length ?? 0) % 2).toBe(0);
    expect(
      prose.replace(/`[^`\n]*`/g, '').match(/<\/?(?:p|li|div|span|code|a)\b|Send it to the demo|xPLACEx/g),
    ).toBeNull();
  });
});

test.each([
  ['a list in a list', '<ul><li>One<ul><li>Two</li></ul></li></ul>', '- One\n  - Two\n'],
  [
    'a list with numbers, in which lists and code stand below the text',
    '<ol start="9"><li>One<ul><li>Two</li></ul></li><li><p>Three</p><pre><code>a</code></pre></li></ol>',
    '9. One\n   - Two\n10. Three\n\n    ```\n    a\n    ```\n',
  ],
  ['text below a list', '<ul><li>One</li></ul><p>Two</p>', '- One\n\nTwo\n'],
  ['text on a line of its own in a cell', '<p>One<small>Two</small></p>', 'One: Two\n'],
  ['marks', '<p>A <code>b</code>, <strong>c</strong>.</p>', 'A `b`, **c**.\n'],
  [
    'a space after a mark, and none within',
    '<p>A <code> b</code> c <b>d</b> <a href="#e">e</a></p>',
    'A `b` c **d** [e](#e)\n',
  ],
  ['code with a backtick', '<p>A <code>^[a`]+$</code>.</p>', 'A `` ^[a`]+$ ``.\n'],
  ['a link of this server', '<p><a href="/docs/x">X</a></p>', '[X]({{gatewayUrl}}/docs/x)\n'],
  [
    'code, unchanged',
    '<figure class="code" data-language="go"><pre><code>a &lt;\n\n\n\tb</code></pre></figure>',
    '```go\na <\n\n\n\tb\n```\n',
  ],
  [
    'examples to choose from, each with its name',
    new Tabs()
      .of(
        [
          { code: '1', language: 'json', label: 'An <exchange>' },
          { code: '2', language: 'json', label: 'A refresh' },
        ],
        'Example',
      )
      .toString(),
    'An <exchange>:\n\n```json\n1\n```\n\nA refresh:\n\n```json\n2\n```\n',
  ],
  [
    'a table',
    '<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>',
    '| A | B |\n|---|---|\n| 1 | 2 |\n',
  ],
  ['terms', '<dl><div><dt>A</dt><dd>b</dd></div></dl>', '**A**: b\n'],
])('%s becomes Markdown', (_, markup, markdown) => {
  expect(markdownOf(markup)).toBe(markdown);
});
