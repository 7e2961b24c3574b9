import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeFormText, MAX_PAIRS, parseForm } from '../../../src/edge/http/parsers.js';

const entriesOf = (text: string) => {
  const fields = parseForm(text);
  return fields && [...fields].flatMap(([name, values]) => values.map((value) => [name, value]));
};

/** Any text that UTF-8 can say. */
const anyText = fc.string({ unit: 'grapheme' });
const anyPairs = fc.array(fc.tuple(anyText, anyText), { maxLength: 8 });

describe('a form', () => {
  test.each<[string, string[][]]>([
    ['', []],
    ['&&', []],
    ['a', [['a', '']]],
    ['a=', [['a', '']]],
    ['=a', [['', 'a']]],
    ['=', [['', '']]],
    ['a=b=c', [['a', 'b=c']]],
    [
      'a=1&a=2&a',
      [
        ['a', '1'],
        ['a', '2'],
        ['a', ''],
      ],
    ],
    ['a+b=c+d%2B', [['a b', 'c d+']]],
    ['a%3Db=%26', [['a=b', '&']]],
    ['%C3%BC=%F0%9F%8C%BF', [['ü', '🌿']]],
    ['ü=🌿', [['ü', '🌿']]],
    ['a=%00', [['a', '\0']]],
    [
      '__proto__=1&constructor=2',
      [
        ['__proto__', '1'],
        ['constructor', '2'],
      ],
    ],
    ['a;b=1', [['a;b', '1']]],
  ])('%j is read as %j', (text, pairs) => {
    expect(entriesOf(text)).toEqual(pairs);
  });

  test.each([
    '%',
    'a=%',
    'a=%1',
    '%zz=1',
    'a=%u0041',
    'a=%ff',
    'a=%C3',
    'a=%C0%80',
    'a=%ED%A0%80',
    'a=\ud800',
    'a=1&%',
  ])('%j is none', (text) => {
    expect(parseForm(text)).toBeUndefined();
  });

  test('with more fields than any request has is none', () => {
    const fields = (count: number) => Array<string>(count).fill('a').join('&');
    expect(parseForm(fields(MAX_PAIRS))?.get('a')).toHaveLength(MAX_PAIRS);
    expect(parseForm(fields(MAX_PAIRS + 1))).toBeUndefined();
  });

  test('what a browser writes is read back, in its order', () => {
    fc.assert(
      fc.property(anyPairs, (pairs) => {
        const grouped = [...new Set(pairs.map(([name]) => name))].flatMap((name) =>
          pairs.filter(([other]) => other === name),
        );
        expect(entriesOf(String(new URLSearchParams(pairs)))).toEqual(grouped);
      }),
    );
  });

  test('where it reads anything at all, it reads what a browser would', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab=&+%0Cc3B9fF'), maxLength: 30 });
    fc.assert(
      fc.property(text, (written) => {
        const read = entriesOf(written);
        const lenient = [...new URLSearchParams(written)];
        expect(read === undefined || read.length === lenient.length).toBe(true);
        expect(read?.toSorted() ?? lenient.toSorted()).toEqual(lenient.toSorted());
      }),
    );
  });

  test('a name of every object is a name like any other', () => {
    expect(parseForm('a=1')?.get('constructor')).toBeUndefined();
  });
});

test('one text is read as within a form', () => {
  fc.assert(fc.property(anyText, (text) => expect(decodeFormText(encodeURIComponent(text))).toBe(text)));
  expect(decodeFormText('a+b')).toBe('a b');
  expect(decodeFormText('%')).toBeUndefined();
});
