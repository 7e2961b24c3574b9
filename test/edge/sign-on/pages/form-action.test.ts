import { describe, expect, test } from '@jest/globals';
import { html } from '../../../../src/edge/pages/html.js';
import { PageWriter } from '../../../../src/edge/sign-on/page-writer.js';

const content = { title: 't', body: html`<h1>t</h1>` };

const directiveWith = (source: string) => {
  const policy = new PageWriter('live').page(content, source).headers['Content-Security-Policy'];
  expect(policy.split('; ')).toHaveLength(6);
  return /form-action ([^;]*)/.exec(policy)?.[1];
};

describe('where a form may lead', () => {
  test.each([
    'https://app.example.com',
    'https://app.example.com:8443',
    'https://my_app.example.com',
    'https://[2001:db8::1]:8443',
  ])('here and, from %s on, anywhere over https', (source) => {
    expect(directiveWith(source)).toBe("'self' https:");
  });

  test.each(['http://localhost:3000', 'http://127.0.0.1:3000', 'com.example.app:', 'myapp:'])(
    'besides to %s, which is not https',
    (source) => {
      expect(directiveWith(source)).toBe(`'self' https: ${source}`);
    },
  );

  test.each(['http://[::1]:3000', 'http://my_app:3000', 'http://[::1]'])(
    'over http too where no source can be written for %s',
    (source) => {
      expect(directiveWith(source)).toBe("'self' https: http:");
    },
  );

  test.each([
    ['nothing', ''],
    ['another directive', "https://a.example.com; script-src 'unsafe-inline'"],
    ['a second source', 'https://a.example.com https://b.example.com'],
    ['a second policy', 'https://a.example.com, script-src *'],
    ['any host', '*'],
    ['any host below', 'https://*.example.com'],
    ['a keyword', "'unsafe-inline'"],
    ['a line break', 'https://a.example.com\r\nset-cookie: a=b'],
    ['a path', 'https://a.example.com/callback'],
    ['a person before the host', 'https://a@b.example.com'],
  ])('not to %s', (_, source) => {
    expect(directiveWith(source)).toBe("'self'");
  });
});

test('only pages of demo say so', () => {
  const bodyOf = (environment: 'live' | 'demo') => String(new PageWriter(environment).page(content).body);
  expect(bodyOf('demo')).toContain('<strong>Demo environment.</strong>');
  expect(bodyOf('live')).not.toContain('Demo');
});
