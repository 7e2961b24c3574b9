import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Application } from '../../../../src/domain/operator/rows/applications.js';
import {
  formActionSource,
  registeredRedirect,
  withAnswer,
} from '../../../../src/domain/sign-on/authorization/redirect-target.js';

const REGISTERED = 'https://app.example.com/callback';

function applicationWith(...uris: string[]): Application {
  return { redirectUris: uris.map((uri) => ({ uri, instanceId: 'ins_1' })) } as Application;
}

describe('a redirect URI', () => {
  test.each([
    `${REGISTERED}/`,
    `${REGISTERED}/../callback`,
    `${REGISTERED}?`,
    `${REGISTERED}?x=1`,
    `${REGISTERED}#`,
    `${REGISTERED}%20`,
    `${REGISTERED}\u0000`,
    ` ${REGISTERED}`,
    `${REGISTERED}\n`,
    'https://app.example.com/Callback',
    'https://app.example.com/%63allback',
    'https://APP.example.com/callback',
    'HTTPS://app.example.com/callback',
    'https://app.example.com:443/callback',
    'https://app.example.com./callback',
    'https://app.example.com/callback/evil',
    'https://app.example.com/',
    'https://app.example.com',
    'https://app.example.com.evil.example/callback',
    'https://app.example.com@evil.example/callback',
    'https://user@app.example.com/callback',
    'https://evil.example/https://app.example.com/callback',
    'https://app.example.com\\@evil.example/callback',
    'https:\\\\app.example.com\\callback',
    'http://app.example.com/callback',
    '//app.example.com/callback',
    '/callback',
    'callback',
    '*',
    '__proto__',
    'javascript:alert(1)',
  ])('is not the registered one: %j', (uri) => {
    expect(registeredRedirect(applicationWith(REGISTERED), uri)).toBeUndefined();
  });

  test('is the registered one if it is the same text, and only then', () => {
    const uri = fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.string());
    fc.assert(
      fc.property(uri, fc.array(uri, { maxLength: 5 }), (asked, registered) => {
        const found = registeredRedirect(applicationWith(...registered), asked);
        expect(found?.uri).toBe(registered.includes(asked) ? asked : undefined);
      }),
    );
  });
});

describe('the answer', () => {
  test.each([
    ['https://a.example/cb', 'https://a.example/cb?code=c'],
    ['https://a.example/cb?', 'https://a.example/cb?code=c'],
    ['https://a.example/cb?x=1', 'https://a.example/cb?x=1&code=c'],
    ['https://a.example/cb?x=1&', 'https://a.example/cb?x=1&code=c'],
    ['https://a.example', 'https://a.example?code=c'],
    ['com.example.app:/cb', 'com.example.app:/cb?code=c'],
  ])('is added to %s', (uri, location) => {
    expect(withAnswer(uri, { code: 'c', state: null })).toBe(location);
  });

  test('is nothing where there is nothing to say', () => {
    expect(withAnswer('https://a.example/bye', { state: null })).toBe('https://a.example/bye');
  });

  test('is returned unchanged whatever the state says, and changes neither target nor query', () => {
    const target = fc.constantFrom('https://a.example/cb', 'https://a.example/cb?x=1');
    fc.assert(
      fc.property(target, fc.string({ unit: 'grapheme', minLength: 1 }), (uri, state) => {
        const location = withAnswer(uri, { code: 'c', state, iss: 'https://i.example' });
        const { origin, pathname, hash, searchParams } = new URL(location);
        expect([origin, pathname, hash]).toEqual(['https://a.example', '/cb', '']);
        expect(searchParams.getAll('state')).toEqual([state]);
        expect(location.startsWith(uri)).toBe(true);
        expect(location).toMatch(/^[!-~]+$/);
      }),
    );
  });
});

test.each([
  ['https://app.example.com/callback?x=1', 'https://app.example.com'],
  ['https://app.example.com:8443/callback', 'https://app.example.com:8443'],
  ['http://127.0.0.1:4000/cb', 'http://127.0.0.1:4000'],
  ['http://[::1]:4000/cb', 'http://[::1]:4000'],
  ['com.example.app:/callback', 'com.example.app:'],
  ['com.example.app://callback', 'com.example.app:'],
])('forms that lead to %s may lead to %s', (uri, source) => {
  expect(formActionSource(uri)).toBe(source);
});
