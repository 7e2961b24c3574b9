import { afterEach, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { filled } from '../../../src/edge/docs/library.js';
import { type DocsOptions, type DocsServer, SIGN_ON_URL, startDocs } from '../../support/docs-server.js';

let docs: DocsServer | undefined;

async function start(options?: DocsOptions): Promise<DocsServer> {
  docs = await startDocs(options);
  return docs;
}
afterEach(() => docs?.stop());

const textAt = async ({ url }: DocsServer, path: string) => (await fetch(`${url}${path}`)).text();

describe('the contracts', () => {
  test.each(['json', 'yaml'])('name in %s the servers that serve them', async (spelling) => {
    const server = await start();
    const read = async (name: string) => parse(await textAt(server, `/openapi/${name}.${spelling}`));
    expect((await read('gateway')).servers).toEqual([{ url: server.url, description: expect.any(String) }]);
    expect((await read('sign-on')).servers).toEqual([{ url: SIGN_ON_URL, description: expect.any(String) }]);
  });

  test.each(['/openapi/gateway', '/openapi/sign-on', '/asyncapi/webhooks'])(
    'are the same in both spellings: %s',
    async (path) => {
      const server = await start();
      const [json, yaml] = await Promise.all([
        textAt(server, `${path}.json`),
        textAt(server, `${path}.yaml`),
      ]);
      expect(parse(yaml)).toEqual(JSON.parse(json));
      const { info, servers } = JSON.parse(json);
      expect(JSON.stringify([info, servers]).match(/\{\{|(?:gateway|sign-on)\.example\.com/g)).toBeNull();
    },
  );

  test('leave the address of the subscription to the subscriber', async () => {
    const { servers } = JSON.parse(await textAt(await start(), '/asyncapi/webhooks.json'));
    expect(Object.keys(servers)).toEqual(['subscriber']);
  });
});

test('pages and texts name the addresses of this environment', async () => {
  const server = await start();
  for (const path of [
    '/docs',
    '/docs/reference/gateway',
    '/docs/reference/gateway.md',
    '/llms.txt',
    '/docs/downloads',
  ]) {
    const text = await textAt(server, path);
    expect(text).toContain(server.url);
    expect(text).not.toContain('{{');
  }
  expect(await textAt(server, '/docs/reference/sign-on')).toContain(SIGN_ON_URL);
});

describe('the environment', () => {
  test('is told on the start page, and only the demo has forms to send requests', async () => {
    const demo = await start({ environment: 'demo' });
    expect(await textAt(demo, '/docs')).toContain('<strong>demo environment</strong>');
    expect(await textAt(demo, '/docs/reference/gateway/workers')).toContain('class="try-form"');
    await demo.stop();
    const live = await start({ environment: 'live' });
    expect(await textAt(live, '/docs')).toContain('<strong>live environment</strong>.</p>');
    const page = await textAt(live, '/docs/reference/gateway/workers');
    expect(page).not.toContain('try-form');
    expect(page).not.toMatch(/<!--\/?(?:demo|live)-->/);
  });

  test.each([
    ['gateway', '/docs/reference/gateway/workers', 'listWorkersV2'],
    ['sign-on', '/docs/reference/sign-on/tokens', 'token'],
  ])(
    'leads from live to the form of the same operation in a demo that it knows of: %s',
    async (_, path, id) => {
      const demo = await startDocs({ environment: 'demo' });
      const live = await start({ environment: 'live', demoGatewayUrl: demo.url });
      expect(await textAt(live, '/docs')).toContain(`in the <a href="${demo.url}/docs">demo environment</a>`);
      const page = await fetch(`${live.url}${path}`);
      const [, address = ''] = new RegExp(`href="([^"]+#${id}-try)"`).exec(await page.text()) ?? [];
      const { origin, pathname, hash } = new URL(address);
      expect([origin, pathname]).toEqual([demo.url, path]);
      expect(await textAt(demo, pathname)).toContain(`<details class="try" id="${hash.slice(1)}">`);
      // A link needs no permission: the page may connect to the same servers as before.
      expect(page.headers.get('content-security-policy')).not.toContain(demo.url);
      await demo.stop();
    },
  );

  test('is absent on live without a configured demo, and on a demo', async () => {
    const path = '/docs/reference/gateway/workers';
    expect(await textAt(await start({ environment: 'live' }), path)).not.toMatch(/-try"|demoGatewayUrl/);
    await docs?.stop();
    const demo = await start({ environment: 'demo', demoGatewayUrl: 'https://other-demo.test' });
    expect(await textAt(demo, path)).not.toContain('other-demo');
  });

  test('has the ids of the demo in its samples, and on live those of the contract', async () => {
    const path = '/docs/reference/gateway/clients';
    const demo = await start({ environment: 'demo', demoIds: { clientId: 'cli_ofTheDemo' } });
    expect(await textAt(demo, path)).toMatch(/\/iin_HnuQOy4YQg1OdOSCDbMAkY\/clients\/cli_ofTheDemo&quot;/);
    expect(await textAt(demo, path)).toContain('&#x27;cli_ofTheDemo&#x27;');
    await demo.stop();
    const live = await textAt(await start({ environment: 'live' }), path);
    expect(live).toContain('/clients/cli_4Fqnh5226raKAAEIfY2jwW&quot;');
    expect(live).not.toMatch(/xPLACEx|\{\{/);
  });

  test('keeps its own parts of a text and loses the other’s', () => {
    const addresses = { gatewayUrl: 'https://g.test', signOnUrl: 'https://s.test' };
    const text = 'a <!--demo-->b {{gatewayUrl}}<!--/demo--> c <!--live-->d\n{{signOnUrl}}<!--/live--> e';
    expect(filled(text, { environment: 'demo', ...addresses })).toBe('a b https://g.test c  e');
    expect(filled(text, { environment: 'live', ...addresses })).toBe('a  c d\nhttps://s.test e');
  });
});

describe('what the build did not leave', () => {
  test('is told in the log and is not there, and the contract is served all the same', async () => {
    const server = await start({ dist: {} });
    const warnings = server.log.lines().filter(({ level }) => level === 'warn');
    expect(warnings.map(({ msg, language }) => [msg, language])).toEqual([
      ['there is no documentation to serve; `make build` renders it', undefined],
      ['there is no package of an SDK to serve; `make build` packs it', 'typescript'],
      ['there is no package of an SDK to serve; `make build` packs it', 'python'],
      ['there is no package of an SDK to serve; `make build` packs it', 'go'],
    ]);
    for (const path of ['/docs', '/docs/nowhere', '/sdk/go', '/llms.txt']) {
      expect(await textAt(server, path)).toBe('of the contract');
    }
  });
});

test('a sign-on server with an address that CSP cannot express is allowed by its scheme', async () => {
  const { url } = await start({ signOnUrl: 'http://[::1]:4000' });
  const policy = (await fetch(`${url}/docs`)).headers.get('content-security-policy');
  expect(policy).toContain("connect-src 'self' http:;");
});
