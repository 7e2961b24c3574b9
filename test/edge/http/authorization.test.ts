import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseAuthorization } from '../../../src/edge/http/parsers.js';

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
const basic = (text: string | Buffer) => parseAuthorization(`Basic ${base64(text)}`);

describe('Basic', () => {
  test.each<[string, string, string]>([
    ['app:secret', 'app', 'secret'],
    ['app:', 'app', ''],
    [':secret', '', 'secret'],
    ['app:a:b', 'app', 'a:b'],
    ['a%3Ab:c', 'a:b', 'c'],
    ['a+b:c%2Bd', 'a b', 'c+d'],
    ['ü:%C3%BC', 'ü', 'ü'],
  ])('%j has its halves form-decoded', (text, username, password) => {
    expect(basic(text)).toEqual({ scheme: 'basic', username, password });
  });

  test.each(['Basic YTpi', 'basic YTpi', 'BASIC   YTpi', 'Basic YTo', 'Basic YTo='])(
    '%s is read',
    (header) => {
      expect(parseAuthorization(header)).toMatchObject({ scheme: 'basic', username: 'a' });
    },
  );

  test.each([
    ['nothing', 'Basic'],
    ['no credentials', 'Basic '],
    ['no colon', `Basic ${base64('app')}`],
    ['another alphabet', 'Basic YTpi-_'],
    ['a space within', 'Basic YT pi'],
    ['a tab in front', 'Basic \tYTpi'],
    ['a space at its end', 'Basic YTpi '],
    ['a length that base64 has not', 'Basic YTpiY'],
    ['too much padding', 'Basic YTpi='],
    ['padding within', 'Basic YT==pi'],
    ['two of it', 'Basic YTpi, Basic YTpi'],
    ['bytes that are not UTF-8', `Basic ${base64(Buffer.from([0x61, 0x3a, 0xff]))}`],
    ['a broken escape', `Basic ${base64('a:%zz')}`],
    ['an escape that is not UTF-8', `Basic ${base64('a:%ff')}`],
    ['a NUL', `Basic ${base64('a:b\0')}`],
    ['an escaped NUL', `Basic ${base64('a:%00')}`],
    ['a line break', `Basic ${base64('a:b\n')}`],
  ])('with %s is malformed', (_, header) => {
    expect(parseAuthorization(header)).toEqual({ scheme: 'malformed', wanted: 'basic' });
  });

  // Control characters alone cannot be said in it.
  const sayable = fc.string({ unit: 'grapheme' }).filter((text) => !/\p{Cc}/u.test(text));

  test('what a client encodes by the book is read back', () => {
    const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
    fc.assert(
      fc.property(sayable, sayable, (username, password) => {
        const header = basic(`${encode(username)}:${encode(password)}`);
        expect(header).toEqual({ scheme: 'basic', username, password });
      }),
    );
  });

  test('each half is read by itself, whatever it is written with', () => {
    const tokens = {
      a: 'a',
      '%41': 'A',
      '+': ' ',
      '%20': ' ',
      '%2b': '+',
      '%3A': ':',
      ü: 'ü',
      '%C3%BC': 'ü',
    };
    const half = fc.array(fc.constantFrom(...(Object.keys(tokens) as (keyof typeof tokens)[])));
    const decoded = (parts: (keyof typeof tokens)[]) => parts.map((part) => tokens[part]).join('');
    fc.assert(
      fc.property(half, half, (one, other) => {
        const read = basic(`${one.join('')}:${other.join('')}`);
        expect(read).toEqual({ scheme: 'basic', username: decoded(one), password: decoded(other) });
      }),
    );
  });
});

describe('Bearer', () => {
  test.each(['a', 'a.b.c', 'A-z0_9~+/.', 'a==', 'eyJh.eyJi.c2ln'])('the token %s is read', (token) => {
    expect(parseAuthorization(`Bearer ${token}`)).toEqual({ scheme: 'bearer', token });
    expect(parseAuthorization(`bEARER  ${token}`)).toEqual({ scheme: 'bearer', token });
  });

  test.each(['', ' ', 'a b', 'a,b', '"a"', 'a=b', '=', 'a\t', 'é', 'a, Bearer b', 'a '])(
    '%j is no token',
    (token) => {
      expect(parseAuthorization(`Bearer ${token}`)).toEqual({ scheme: 'malformed', wanted: 'bearer' });
    },
  );
});

describe('anything else', () => {
  test.each(['', ' ', 'Digest a="b"', 'DPoP abc', 'Basically YTpi', 'Bearer2 a', ' Basic YTpi', '=', '\0'])(
    '%j is another scheme',
    (header) => {
      expect(parseAuthorization(header)).toEqual({ scheme: 'other' });
    },
  );

  test('no text at all makes it throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (header) => void parseAuthorization(header)),
    );
  });
});
