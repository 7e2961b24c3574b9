import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { html } from '../../../src/edge/pages/html.js';

const REFERENCES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** What a browser makes of escaped text. */
const read = (text: string) =>
  text.replace(/&(?:amp|lt|gt|quot|#39);/g, (reference) => REFERENCES[reference] ?? '');

describe('what is put into a template', () => {
  test('is text, whatever it is made of, in an element as in an attribute', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'<>&"\'/=!- ;abxl#39') }), (text) => {
        const page = String(html`<p title="${text}">${text}</p>`);
        const [, attribute = '', element = ''] = /^<p title="([^"<>]*)">([^<>]*)<\/p>$/s.exec(page) ?? [];
        expect([read(attribute), read(element)]).toEqual([text, text]);
      }),
    );
  });

  test.each([
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['" onmouseover="alert(1)', '&quot; onmouseover=&quot;alert(1)'],
    ["' onmouseover='alert(1)", '&#39; onmouseover=&#39;alert(1)'],
    ['&lt;b&gt;', '&amp;lt;b&amp;gt;'],
    ['</style><b>', '&lt;/style&gt;&lt;b&gt;'],
  ])('%s is shown, and does nothing', (text, written) => {
    expect(String(html`${text}`)).toBe(written);
  });

  test('is a piece of page where it was made by a template, in lists too', () => {
    const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
    expect(String(html`<ul>${items}</ul>${html``}`)).toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>');
  });

  test('is nothing where there is nothing to say', () => {
    expect(String(html`[${undefined}${false}${''}${[]}]${0}`)).toBe('[]0');
  });

  test('is text too where it only looks like a piece of page', () => {
    const forged = { text: '<b>', toString: () => '<b>' } as unknown as string;
    expect(String(html`${forged}`)).toBe('&lt;b&gt;');
  });
});
