import { describe, expect, test } from '@jest/globals';
import { type Destinations, Prose } from '../../src/docs/markdown.js';

const destinations: Destinations = {
  ofName: (name) => ({ listWorkersV2: '/docs/reference/gateway/workers#listWorkersV2' })[name],
  ofGuide: (slug) => (slug === 'webhooks' ? '/docs/webhooks' : undefined),
};

const rendered = (markdown: string) => new Prose(destinations).block(markdown).toString();
const textOf = (markup: string) =>
  markup
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

const PROGRAM = `import { a } from 'b';

if (1 < 2 && "x" > 'y') {
  print(\`{{gatewayUrl}}/v1 <b>&amp;</b>\`);
}`;

describe('code', () => {
  test.each(['ts', 'python', 'go', 'bash', 'json', 'http', 'text', 'a-language-of-nobody'])(
    'in %s is shown with colours and is, as text, what was written',
    (language) => {
      const markup = rendered(`\`\`\`${language}\n${PROGRAM}\n\`\`\``);
      const [, code = ''] = /<pre><code>([\s\S]*)<\/code><\/pre>/.exec(markup) ?? [];
      expect(textOf(code)).toBe(PROGRAM);
    },
  );

  test('that is a whole program has its name above it and in its markup', () => {
    const markup = rendered('```ts file=list-workers.ts\nconst a = 1;\n```');
    expect(markup).toContain('<figure class="code" data-language="ts" data-file="list-workers.ts">');
    expect(markup).toContain('<figcaption>list-workers.ts</figcaption>');
  });

  test('keeps placeholders of addresses in one piece', () => {
    for (const language of ['bash', 'ts', 'http', 'yaml', 'json']) {
      expect(rendered(`\`\`\`${language}\nX: {{gatewayUrl}}/v1 "{{signOnUrl}}"\n\`\`\``)).toMatch(
        /\{\{gatewayUrl\}\}\/v1[\s\S]*\{\{signOnUrl\}\}/,
      );
    }
  });

  test.each([
    ['each in another language', ['ts', 'python', 'go'], 3],
    ['two of them in one language', ['ts', 'ts'], 0],
    ['one of them no program', ['ts', 'json'], 0],
    ['one alone', ['ts'], 0],
  ])('blocks that follow each other, %s: %j gives %i tabs', (_, languages, count) => {
    const markup = rendered(languages.map((language) => `\`\`\`${language}\nx\n\`\`\``).join('\n\n'));
    expect(markup.match(/type="radio"/g)?.length ?? 0).toBe(count);
    expect(markup.match(/<figure/g)).toHaveLength(languages.length);
    expect(markup.includes('class="choices languages"')).toBe(count > 0);
  });

  test('blocks with words between them are no tabs', () => {
    expect(rendered('```ts\nx\n```\n\nand\n\n```go\nx\n```')).not.toContain('type="radio"');
  });
});

describe('links', () => {
  test.each([
    ['webhooks', '/docs/webhooks'],
    ['webhooks.md', '/docs/webhooks'],
    ['./webhooks.md#verify', '/docs/webhooks#verify'],
    ['/docs/webhooks#verify', '/docs/webhooks#verify'],
    ['#here', '#here'],
    ['/docs/reference/gateway', '/docs/reference/gateway'],
    ['{{gatewayUrl}}/openapi/gateway.yaml', '{{gatewayUrl}}/openapi/gateway.yaml'],
    ['https://www.standardwebhooks.com', 'https://www.standardwebhooks.com'],
  ])('to %s lead to %s', (href, target) => {
    expect(rendered(`[there](${href})`)).toContain(`<a href="${target}">there</a>`);
  });

  test('are made of names that are described somewhere, but not within links and headings', () => {
    const linked = '<a href="/docs/reference/gateway/workers#listWorkersV2"><code>listWorkersV2</code></a>';
    expect(rendered('Call `listWorkersV2`, not `another`.')).toContain(`${linked}, not <code>another</code>`);
    expect(rendered('[`listWorkersV2`](#x)')).toContain('<a href="#x"><code>listWorkersV2</code></a>');
    expect(rendered('## Of `listWorkersV2`').match(/<a /g)).toHaveLength(1);
  });
});

describe('headings', () => {
  test('have ids that one can say, each once on a page', () => {
    const prose = new Prose(destinations);
    const markup = prose.block('## Sign in\n\n## Sign in\n\n### What’s `next`?').toString();
    expect([...markup.matchAll(/id="([^"]*)"/g)].map(([, id]) => id)).toEqual([
      'sign-in',
      'sign-in-2',
      'what-s-next',
    ]);
    expect(prose.block('## Sign in').toString()).toContain('id="sign-in-3"');
  });
});

test('what looks like markup is shown, not obeyed', () => {
  expect(rendered('`<script>alert(1)</script>` & a < b')).toContain(
    '<code>&lt;script&gt;alert(1)&lt;/script&gt;</code> &amp; a &lt; b',
  );
});

test('tables can be wider than a phone', () => {
  const markup = rendered('| a | b |\n|---|---|\n| `x|y` | 2 |');
  expect(markup).toContain('<div class="table"><table><thead><tr><th scope="col">a</th>');
});
