import { describe, expect, test } from '@jest/globals';
import {
  AFTER_LOGOUT,
  faultOfLink,
  faultOfLogo,
  faultOfRedirectUri,
} from '../../../src/domain/operator/application-uris.js';

describe('people may be sent to', () => {
  test.each([
    ['https://app.example.com/callback', 'confidential'],
    ['https://app.example.com', 'public'],
    ['https://app.example.com:8443/cb?tenant=1&x=%20', 'confidential'],
    ['https://xn--bcher-kva.example/cb', 'confidential'],
    ['http://localhost:3000/cb', 'confidential'],
    ['http://127.0.0.1/cb', 'public'],
    ['http://[::1]:8080/cb', 'public'],
    ['com.example.app:/callback', 'public'],
    ['com.example.app://callback', 'public'],
  ] as const)('%s of a %s application', (uri, type) => {
    expect(faultOfRedirectUri(uri, type)).toBeUndefined();
  });
});

describe('people may not be sent to', () => {
  test.each([
    ['', /absolute/],
    ['/callback', /absolute/],
    ['//app.example.com/callback', /absolute/],
    ['app.example.com/callback', /absolute/],
    ['https:/app.example.com', /absolute/],
    ['https:app.example.com', /absolute/],
    ['https://', /absolute/],
    ['HTTPS://app.example.com', /absolute/],
    [' https://app.example.com', /absolute/],
    ['https://app.example.com/\n', /absolute/],
    ['https://app.example.com\\@evil.example', /absolute/],
    ['https://bücher.example/cb', /absolute/],
    ['https://app.example.com/cb#part', /fragment/],
    ['https://app.example.com/cb#', /fragment/],
    ['https://app.example.com/cb?instance=2&state=x', /state in its query/],
    ['https://app.example.com/cb?%69ss', /iss in its query/],
    ['com.example.app:/cb?code=', /code in its query/],
    ['https://someone:secret@app.example.com', /credentials/],
    ['https://app.example.com@evil.example', /credentials/],
    ['https://*.example.com/cb', /wildcard/],
    ['http://app.example.com/cb', /https/],
    ['http://localhost.evil.example/cb', /https/],
    ['http://127.0.0.1.evil.example/cb', /https/],
    ['javascript:alert(1)', /reverse/],
    ['data:text/html,x', /reverse/],
    ['file:///etc/passwd', /reverse/],
    ['myapp://callback', /reverse/],
    [`https://app.example.com/${'a'.repeat(2_000)}`, /longer/],
  ])('%s', (uri, words) => {
    expect(faultOfRedirectUri(uri, 'public')).toMatch(words);
  });

  test('a custom scheme, where the application is confidential', () => {
    expect(faultOfRedirectUri('com.example.app:/callback', 'confidential')).toMatch(/https/);
  });

  test('after a sign-out with a state of their own, which the answer has, but with others', () => {
    const judge = (query: string) =>
      faultOfRedirectUri(`https://app.example.com/bye?${query}`, 'confidential', AFTER_LOGOUT);
    expect(judge('state=1')).toMatch(/state in its query/);
    expect(judge('code=de&error=1')).toBeUndefined();
  });
});

describe('people may be shown', () => {
  test.each([
    'https://app.example.com/terms#data',
    'https://cdn.example.com:8443/logo.svg?v=1',
    'https://[::1]/',
  ])('%s', (uri) => {
    expect(faultOfLink(uri, 'live')).toBeUndefined();
  });

  test.each([
    'https://cdn.example.com:8443/logo.svg?v=1',
    'https://192.0.2.1/logo.png',
    'https://xn--bcher-kva.example/a',
  ])('a picture at %s', (uri) => {
    expect(faultOfLogo(uri, 'live')).toBeUndefined();
  });

  test.each([
    ['https://[::1]/logo.svg', /host name or an IPv4 address/],
    ['https://a_b.example.com/logo.svg', /host name or an IPv4 address/],
    ['http://cdn.example.com/logo.svg', /https/],
    ['data:image/svg+xml,x', /web address/],
  ])('and no picture at %s, which the policy of the page cannot allow', (uri, words) => {
    expect(faultOfLogo(uri, 'live')).toMatch(words);
  });

  test('an http address in demo alone', () => {
    expect(faultOfLink('http://app.example.com/terms', 'demo')).toBeUndefined();
    expect(faultOfLink('http://app.example.com/terms', 'live')).toMatch(/https/);
  });

  test.each([
    ['javascript:alert(1)', /web address/],
    ['data:image/svg+xml,x', /web address/],
    ['HTTPS://app.example.com', /web address/],
    ['https:/app.example.com', /web address/],
    ['https:///terms', /web address/],
    ['//app.example.com', /web address/],
    ['https://app.example.com/a b', /web address/],
    ['https://app.example.com/"', /web address/],
    ['https://app.example.com/#a#b', /web address/],
    ['https://app.example.com\\@evil.example', /web address/],
    ['https://someone:secret@app.example.com', /credentials/],
    [`https://app.example.com/${'a'.repeat(2_000)}`, /longer/],
  ])('and not %s', (uri, words) => {
    expect(faultOfLink(uri, 'demo')).toMatch(words);
  });
});
