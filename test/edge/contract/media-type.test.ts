import { expect, test } from '@jest/globals';
import { mediaTypeOf } from '../../../src/edge/contract/request-body.js';

test.each([
  ['application/json', 'application/json'],
  [' Application/JSON ', 'application/json'],
  ['application/json;charset=utf-8', 'application/json'],
  ['application/json; charset=UTF-8', 'application/json'],
  ['application/json ; charset="utf-8"', 'application/json'],
  ['application/json; charset=utf8;', 'application/json'],
  ['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded'],
  ['application/x-www-form-urlencoded; charset=ISO-8859-1', 'application/x-www-form-urlencoded'],
  ['Application/X-WWW-Form-Urlencoded;charset="us-ascii"', 'application/x-www-form-urlencoded'],
  ['text/plain', 'text/plain'],
])('%j is %s', (header, mediaType) => {
  expect(mediaTypeOf(header)).toBe(mediaType);
});

test.each([
  '',
  'json',
  'application/',
  '/json',
  'application/json, text/plain',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded; charset=utf-16',
  'application/x-www-form-urlencoded; charset=ibm037',
  'application/json; charset="utf-8',
  'application/json; charset=utf-8; charset=utf-16',
  'application/json; boundary=x',
  'application/x-www-form-urlencoded; boundary=x',
  'text/plain; charset=iso-8859-1',
  'application/json charset=utf-8',
])('%j is none that could be read', (header) => {
  expect(mediaTypeOf(header)).toBeUndefined();
});

test('none of 40,000 characters takes long to read', () => {
  expect(mediaTypeOf(`application/${'x/'.repeat(20_000)}`)).toBeUndefined();
  expect(mediaTypeOf(`a/b${' '.repeat(40_000)}x`)).toBeUndefined();
});
