import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type DocsServer, PACKAGES, startDocs } from '../../support/docs-server.js';
import { exchange, type Question } from '../../support/http-exchange.js';

let docs: DocsServer;

beforeAll(async () => {
  docs = await startDocs();
});
afterAll(() => docs.stop());

const ask = (target: string, question?: Question) => exchange(docs.port, target, question);

test('has every file that the build has rendered', () => {
  expect(docs.site.filter(({ path }) => !docs.library(path))).toEqual([]);
});

const HTML = 'text/html; charset=utf-8';

const SERVED: [path: string, type: string][] = [
  ['/docs', HTML],
  ['/docs/reference/gateway', HTML],
  ['/docs/reference/gateway.md', 'text/markdown; charset=utf-8'],
  ['/docs/assets/docs.css', 'text/css; charset=utf-8'],
  ['/docs/assets/docs.js', 'text/javascript; charset=utf-8'],
  ['/docs/assets/search.json', 'application/json'],
  ['/openapi/gateway.yaml', 'application/yaml'],
  ['/openapi/gateway.json', 'application/json'],
  ['/openapi/sign-on.yaml', 'application/yaml'],
  ['/openapi/sign-on.json', 'application/json'],
  ['/asyncapi/webhooks.yaml', 'application/yaml'],
  ['/asyncapi/webhooks.json', 'application/json'],
  ['/llms.txt', 'text/plain; charset=utf-8'],
  ['/sdk/typescript', 'application/gzip'],
  ['/sdk/python', 'application/zip'],
  ['/sdk/go', 'application/zip'],
];

describe.each(SERVED)('%s', (path, type) => {
  test('is served to all, with its type and a tag', async () => {
    const { status, headers } = await ask(path);
    expect({ status, headers }).toMatchObject({
      status: 200,
      headers: {
        'content-type': type,
        'cache-control': 'public, max-age=300',
        'x-content-type-options': 'nosniff',
        etag: expect.stringMatching(/^"[\w-]{22}"$/),
        'x-request-id': expect.any(String),
      },
    });
  });

  const isOpen = type !== HTML && !path.startsWith('/sdk');
  test(`can${isOpen ? '' : 'not'} be read by scripts of other origins`, async () => {
    const { headers } = await ask(path, { headers: { origin: 'https://editor.example.com' } });
    expect(headers['access-control-allow-origin']).toBe(isOpen ? '*' : undefined);
  });

  test('is 304 without a body for a matching tag, and 200 for another one', async () => {
    const { etag = '' } = (await ask(path)).headers;
    for (const held of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await ask(path, { headers: { 'if-none-match': held } });
      expect([held, again.status, again.body, again.headers.etag]).toEqual([held, 304, '', etag]);
      expect(again.headers['content-type']).toBeUndefined();
    }
    expect((await ask(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  test('answers HEAD like GET, without the body', async () => {
    const { headers, body } = await ask(path);
    const head = await ask(path, { method: 'HEAD' });
    expect([head.status, head.body]).toEqual([200, '']);
    const { date: _, 'x-request-id': __, connection: ___, ...facts } = headers;
    expect(head.headers).toMatchObject(facts);
    expect(Number(head.headers['content-length'])).toBe(Buffer.byteLength(body));
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('answers %s with 405 and what it takes', async (method) => {
    const { status, headers, body } = await ask(path, { method });
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    expect(JSON.parse(body)).toMatchObject({ code: 'method_not_allowed', status: 405 });
  });
});

describe('pages', () => {
  test('run, show and ask for nothing from elsewhere, and stand in no frame', async () => {
    const policy = String((await ask('/docs')).headers['content-security-policy']);
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      'img-src data:',
      "connect-src 'self' http://localhost:4999",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]);
  });

  test.each(['/docs/', '/docs/reference/gateway/'])(
    '%s leads to the address without a slash',
    async (path) => {
      const { status, headers } = await ask(path);
      expect([status, headers.location]).toEqual([308, path.slice(0, -1)]);
    },
  );

  test.each([
    '/docs/nowhere',
    '/docs/not-found',
    '/docs/not-found/',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/assets/',
    '/docs//',
    '/docs/..%2f..%2fetc/passwd',
  ])('%s is the uncached page for unknown paths', async (path) => {
    for (const held of ['*', '"other"']) {
      const { status, headers, body } = await ask(path, { headers: { 'if-none-match': held } });
      expect([status, headers['content-type'], headers['cache-control'], headers.etag]).toEqual([
        404,
        HTML,
        'no-store',
        undefined,
      ]);
      expect(body).toContain('<h1>There is no such page</h1>');
    }
  });

  test.each([
    '/docsx',
    '/openapi',
    '/openapi/',
    '/openapi/gateway',
    '/openapi/../docs',
    '/sdk',
    '/sdk/rust',
    '/sdk/go/',
    '/LLMS.txt',
    '/sdk/go/proxy',
  ])('%s is the business of the contract', async (path) => {
    expect(await ask(path)).toMatchObject({ status: 404, body: 'of the contract' });
  });

  test.each(['GET', 'HEAD'])('the bare address leads to the first page: %s', async (method) => {
    const answer = await ask('/', { method });
    expect(answer).toMatchObject({
      status: 302,
      headers: { location: '/docs', 'cache-control': 'no-store' },
    });
  });

  test.each([
    ['/docs/guides', '/docs/start'],
    ['/docs/reference', '/docs/reference/gateway'],
    ['/docs/reference/', '/docs/reference/gateway'],
    ['/docs/operate', '/docs/operate/install'],
  ])('the address of a part, %s, leads to its first page, %s', async (path, location) => {
    const { status, headers } = await ask(path);
    expect([status, headers.location, docs.library(location) !== undefined]).toEqual([302, location, true]);
  });

  test('the bare address takes nothing else', async () => {
    expect(await ask('/', { method: 'POST' })).toMatchObject({ status: 404, body: 'of the contract' });
    expect(await ask('//')).toMatchObject({ status: 404, body: 'of the contract' });
    expect(await ask('/docs/reference', { method: 'POST' })).toMatchObject({ status: 405 });
  });
});

describe('a browser that takes gzip', () => {
  const zipped = { headers: { 'accept-encoding': 'br, gzip' } };

  test('gets the same page, smaller, with another tag', async () => {
    const plain = await ask('/docs/reference/gateway/workers');
    const answer = await fetch(`${docs.url}/docs/reference/gateway/workers`, {
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(await answer.text()).toBe(plain.body);
    const { headers } = await ask('/docs/reference/gateway/workers', zipped);
    expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', 'Accept-Encoding']);
    expect(Number(headers['content-length'])).toBeLessThan(Buffer.byteLength(plain.body) / 4);
    expect(headers.etag).toBe(String(plain.headers.etag).replace(/"$/, '.gz"'));
    for (const held of [headers.etag, plain.headers.etag]) {
      const again = await ask('/docs/reference/gateway/workers', {
        headers: { ...zipped.headers, 'if-none-match': String(held) },
      });
      expect([again.status, again.headers.etag, again.headers['content-encoding']]).toEqual([
        304,
        held,
        undefined,
      ]);
    }
  });

  test.each(['identity', 'gzip;q=0', 'gzip; q=0.0', 'br', ''])(
    'is not one that says %j',
    async (accepted) => {
      const { headers } = await ask('/docs', { headers: { 'accept-encoding': accepted } });
      expect([headers['content-encoding'], headers.vary]).toEqual([undefined, 'Accept-Encoding']);
    },
  );

  test('gets packages as they are', async () => {
    const { headers } = await ask('/sdk/typescript', zipped);
    expect([headers['content-encoding'], headers.vary]).toEqual([undefined, undefined]);
  });

  test('gets bytes that any gzip takes apart', async () => {
    const response = await new Promise<Buffer>((resolve, reject) => {
      import('node:http').then(({ get }) =>
        get(`${docs.url}/openapi/gateway.json`, { headers: { 'accept-encoding': 'gzip' } }, (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.once('end', () => resolve(Buffer.concat(chunks)));
          incoming.once('error', reject);
        }),
      );
    });
    expect(JSON.parse(gunzipSync(response).toString('utf8'))).toMatchObject({ openapi: '3.1.0' });
  });
});

describe('packages', () => {
  test.each([
    ['typescript', 'integration-service-sdk-1.4.0.tgz'],
    ['python', 'integration_service_sdk-1.4.0-py3-none-any.whl'],
    ['go', 'integration-service-sdk-go-1.4.0.zip'],
  ])('of %s are at the address of the language and under their name', async (language, name) => {
    for (const path of [`/sdk/${language}`, `/sdk/${language}/${name}`]) {
      const { headers, body } = await ask(path);
      expect([headers['content-disposition'], body]).toEqual([
        `attachment; filename="${name}"`,
        PACKAGES[name],
      ]);
    }
  });

  test('of Go are served as a module proxy serves them', async () => {
    const base = '/sdk/go/proxy/integration.example.com/sdk';
    for (const [path, type, body] of [
      ['@v/list', 'text/plain; charset=utf-8', 'v1.4.0\n'],
      ['@v/v1.4.0.info', 'application/json', '{"Version":"v1.4.0"}'],
      ['@latest', 'application/json', '{"Version":"v1.4.0"}'],
      ['@v/v1.4.0.mod', 'text/plain; charset=utf-8', 'module integration.example.com/sdk\n'],
      ['@v/v1.4.0.zip', 'application/zip', 'bytes of the module'],
    ]) {
      const answer = await ask(`${base}/${path}`);
      expect([answer.status, answer.headers['content-type'], answer.body]).toEqual([200, type, body]);
    }
    expect((await ask(`${base}/@v/v9.9.9.info`)).status).toBe(404);
  });
});

test('each request has its line in the log, under one of two names', async () => {
  const ids = ['line-of-a-page', 'line-of-a-download', 'line-of-a-missing-page'];
  for (const [at, path] of ['/docs', '/llms.txt', '/docs/nowhere'].entries()) {
    await ask(path, { headers: { 'x-request-id': ids[at] } });
  }
  const lines = await Promise.all(ids.map((id) => docs.log.nextLine(({ requestId }) => requestId === id)));
  expect(lines.map(({ api, operation, status }) => [api, operation, status])).toEqual([
    ['gateway', 'readDocs', 200],
    ['gateway', 'download', 200],
    ['gateway', 'readDocs', 404],
  ]);
});
