import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Dispatch } from '../../src/edge/http/exchange.js';
import { ownIds } from '../gateway/demo-paths.js';
import { chromiumVisits } from '../support/chromium.js';
import { type DocsServer, startDocs } from '../support/docs-server.js';
import { type RealGateway, startRealGateway } from '../support/gateway/real-gateway.js';
import { exchange } from '../support/http-exchange.js';
import { describeWith } from '../support/toolchains.js';
import { docsAuditOf } from './audit.js';

const WORKERS = '/docs/reference/gateway/workers';
const PHONE = { viewport: { width: 360, height: 740 } };

/** A sign-on server as far as scripts of other origins know it. */
const signOn = createServer((_request, response) => {
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('content-type', 'application/json');
  response.end('{"issuer":"of the test"}');
});

/** The gateway itself, behind the documentation as in the edge. */
const onwardTo =
  (gateway: RealGateway): Dispatch =>
  async ({ method, path, rawQuery, headers }) => {
    const target = rawQuery === '' ? path : `${path}?${rawQuery}`;
    const { connection: _, host: __, 'accept-encoding': ___, ...sent } = headers;
    const answer = await exchange(gateway.port, target, { method, headers: sent as Record<string, string> });
    const {
      connection: ____,
      'transfer-encoding': _____,
      'content-length': ______,
      ...kept
    } = answer.headers;
    return {
      status: answer.status,
      headers: kept as Record<string, string>,
      body: answer.body,
      operation: 'read',
    };
  };

describeWith('chromium', 'the documentation in use', (executable) => {
  const { visit } = chromiumVisits(executable);
  let gateway: RealGateway;
  let docs: DocsServer;

  beforeAll(async () => {
    gateway = await startRealGateway();
    await new Promise<void>((resolve) => signOn.listen(0, '127.0.0.1', resolve));
    const signOnUrl = `http://localhost:${(signOn.address() as AddressInfo).port}`;
    docs = await startDocs({ signOnUrl, onward: async () => onwardTo(gateway) });
  });
  afterAll(async () => {
    await docs.stop();
    await gateway.stop();
    signOn.closeAllConnections();
    signOn.close();
  });

  const open = async (path: string, options = {}): Promise<Page> => {
    const { page } = await visit(options);
    await page.goto(`${docs.url}${path}`);
    return page;
  };
  const formOf = (page: Page, operationId: string) =>
    page.locator(`section:has(#${operationId}) details.try`);

  describe('the search', () => {
    test('is reached by a slash, finds as one types, and leads to the section', async () => {
      const page = await open('/docs');
      await page.keyboard.press('/');
      await page.keyboard.type('list workers, version 2');
      await page.getByRole('option').first().waitFor();
      await page.keyboard.press('ArrowDown');
      expect(await page.getByRole('combobox').getAttribute('aria-activedescendant')).toBe('search-result-0');
      await page.keyboard.press('Enter');
      await page.waitForURL(`**${WORKERS}#listWorkersV2`);
      expect(await page.locator('#listWorkersV2').isVisible()).toBe(true);
    });

    test('says that it found nothing, and is empty again after Escape', async () => {
      const page = await open('/docs');
      await page.getByRole('combobox').fill('zzzz qqqq');
      const message = page.getByText('Nothing found for “zzzz qqqq”');
      await message.waitFor();
      expect(await docsAuditOf(page)).toEqual([]);
      expect(await page.getByRole('listbox').isVisible()).toBe(false);
      await page.getByRole('combobox').press('Escape');
      expect(await page.getByRole('combobox').inputValue()).toBe('');
      expect(await message.count()).toBe(0);
    });

    test.each(['Control+k', 'Meta+k'])('is reached by %s, from another field too', async (keys) => {
      const page = await open(WORKERS);
      const form = formOf(page, 'listWorkersV2');
      await form.locator('summary').click();
      await form.getByLabel('x-api-key').focus();
      await page.keyboard.press(keys);
      await page.keyboard.type('sandbox');
      await page.getByRole('option').first().waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL('**/docs/from-demo-to-live');
    });

    test('shows found text in whole words, without the names of tabs', async () => {
      const page = await open('/docs');
      const index = await fetch(`${docs.url}/docs/assets/search.json`);
      const entries = (await index.json()) as { x: string }[];
      const texts = entries.map(({ x }) => x.replace(/\s+/g, ' '));
      const isWhole = ([before, after]: string[]) =>
        after !== undefined && !/\w$/.test(before ?? '') && !/^\w/.test(after);
      for (const question of ['sandbox', 'signature', 'retry', 'worker']) {
        await page.getByRole('combobox').fill(question);
        await page.getByRole('option').first().waitFor();
        const excerpts = await page.locator('.results span:last-child').allInnerTexts();
        for (const excerpt of excerpts) {
          const shown = excerpt.replace(/^… | …$/g, '');
          const whole = texts.some((text) => isWhole(text.split(shown, 2)));
          expect([shown, whole]).toEqual([shown, true]);
          expect(shown).not.toMatch(/Language TypeScript/);
        }
      }
    });

    test('leaves the button that empties its field at the edge of the field', async () => {
      const page = await open('/docs');
      const field = page.getByRole('combobox');
      const room = () =>
        page.evaluate<string>("getComputedStyle(document.getElementById('search')).paddingRight");
      expect(await room()).toBe('64px');
      await field.fill('sandbox');
      expect(await room()).toBe('12px');
      await page.keyboard.press('Tab');
      expect(await room()).toBe('12px');
      expect(await page.locator('.search kbd').isVisible()).toBe(false);
    });

    test('shows its results whole on a phone', async () => {
      const page = await open('/docs', PHONE);
      await page.getByRole('combobox').fill('duplicate events');
      await page.getByRole('option').first().waitFor();
      const { x, width } = (await page.getByRole('listbox').boundingBox()) ?? { x: -1, width: 0 };
      expect({ x, right: x + width }).toEqual({ x: 16, right: PHONE.viewport.width - 16 });
      expect((await page.getByRole('combobox').boundingBox())?.width).toBe(width);
    });

    test('can be read in forced colours, and shows which result is chosen', async () => {
      const page = await open('/docs', { forcedColors: 'active', colorScheme: 'dark' });
      await page.getByRole('combobox').fill('signature');
      await page.locator('.results mark').first().waitFor();
      expect(await docsAuditOf(page)).toEqual([]);
      await page.keyboard.press('ArrowDown');
      const outlines = `[...document.querySelectorAll('.results a')].map((one) => getComputedStyle(one).outlineStyle)`;
      expect((await page.evaluate<string[]>(outlines)).slice(0, 2)).toEqual(['solid', 'none']);
    });

    test('closes its results when the focus goes on, but not when a result gets it', async () => {
      const page = await open('/docs');
      await page.getByRole('combobox').fill('worker');
      await page.getByRole('option').first().waitFor();
      await page.getByRole('option').first().locator('a').focus();
      expect(await page.getByRole('listbox').isVisible()).toBe(true);
      await page.getByRole('link', { name: 'Start in five minutes' }).focus();
      await page.getByRole('listbox').waitFor({ state: 'hidden' });
    });

    test.each([503, 'aborted'])(
      'says that its index could not be loaded (%s), and loads it at the next use',
      async (answer) => {
        const { page, complaints } = await visit();
        await page.route('**/docs/assets/search.json', (route) =>
          typeof answer === 'number' ? route.fulfill({ status: answer, body: '[]' }) : route.abort(),
        );
        await page.goto(`${docs.url}/docs`);
        await page.getByRole('combobox').fill('sandbox');
        await page.getByText('The search could not be loaded.').waitFor();
        await page.unroute('**/docs/assets/search.json');
        await page.getByRole('combobox').fill('sandboxes');
        await page.getByRole('option').first().waitFor();
        expect(await page.getByText('The search could not be loaded.').count()).toBe(0);
        expect(complaints.splice(0)).toEqual([expect.stringContaining('Failed to load resource')]);
      },
    );

    test.each(['finder.js', 'minisearch.js'])(
      'says that its engine (%s) could not be loaded, and works once the page is loaded again',
      async (name) => {
        const { page, complaints } = await visit();
        await page.route(`**/docs/assets/${name}`, (route) => route.abort());
        await page.goto(`${docs.url}/docs`);
        await page.getByRole('combobox').fill('sandbox');
        await page
          .getByText('The search could not be loaded. Type again to retry, or load the page again.')
          .waitFor();
        await page.unroute(`**/docs/assets/${name}`);
        await page.reload();
        await page.getByRole('combobox').fill('sandbox');
        await page.getByRole('option').first().waitFor();
        expect(complaints.splice(0)).toContainEqual(expect.stringContaining('Failed to load resource'));
      },
    );

    test('takes what is typed for words and not for markup or patterns', async () => {
      const page = await open('/docs');
      for (const typed of ['<zzzz>', '(', 'zzzz\\', '[', '$&']) {
        await page.getByRole('combobox').fill(typed);
        await page.getByText(`Nothing found for “${typed}”`).waitFor();
      }
      await page.getByRole('combobox').fill('<b>worker (');
      await page.getByRole('option').first().waitFor();
      expect(await page.locator('.results b b').count()).toBe(0);
    });
  });

  test('the present section is marked among the sections of the page', async () => {
    const page = await open(`${WORKERS}#getWorkerV2`, { viewport: { width: 1300, height: 900 } });
    const present = page.getByRole('navigation', { name: 'On this page' }).locator('[aria-current]');
    await present.getByText('Get a worker, version 2').waitFor();
    expect(await present.count()).toBe(1);
    const among = page.getByRole('navigation', { name: 'All pages' }).locator('li li [aria-current]');
    expect(await among.innerText()).toBe('Get a worker, version 2');
  });

  test.each([
    [`${WORKERS}#getWorkerV2`, '#getWorkerV2', '#getWorkerV2-parameters'],
    ['/docs/reference/webhooks/events#user.updated', '#user\\.updated', '#user\\.updated-body'],
  ])(
    'examples stand beside the fields of %s where there is room, and otherwise above',
    async (path, id, fields) => {
      const places = async (width: number) => {
        const page = await open(path, { viewport: { width, height: 900 } });
        const examples = page.locator(`section:has(${id}) .examples`);
        expect(await examples.locator('pre:visible').count()).toBeGreaterThan(0);
        return [await examples.boundingBox(), await page.locator(fields).boundingBox()].map((box) => ({
          left: box?.x ?? 0,
          right: (box?.x ?? 0) + (box?.width ?? 0),
          top: box?.y ?? 0,
          bottom: (box?.y ?? 0) + (box?.height ?? 0),
        }));
      };
      const [wide, beside] = await places(1440);
      expect(wide?.left).toBeGreaterThan(beside?.right ?? Number.NaN);
      expect(wide?.top).toBeLessThanOrEqual(beside?.top ?? Number.NaN);
      const [narrow, below] = await places(1200);
      expect(narrow?.bottom).toBeLessThanOrEqual(below?.top ?? Number.NaN);
    },
  );

  test.each(['with', 'without'])('the page is copied as Markdown %s ClipboardItem', async (support) => {
    const { page, context } = await visit();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    if (support === 'without') {
      await page.addInitScript('delete window.ClipboardItem');
    }
    await page.goto(`${docs.url}${WORKERS}`);
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    const link = page.getByRole('link', { name: 'View as Markdown' });
    const served = await fetch(new URL((await link.getAttribute('href')) ?? '', docs.url));
    expect(copied).toBe(await served.text());
    expect(copied).toMatch(/^Gateway API\n\n# Workers\n/);
  });

  test.each(['text of the page', 'own code'])('a failed copy of %s is told', async (what) => {
    const { page, context, complaints } = await visit();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.route(`**${WORKERS}.md`, (route) => route.fulfill({ status: 503, body: 'not the page' }));
    await page.goto(`${docs.url}${WORKERS}`);
    await page.evaluate("navigator.clipboard.writeText('before')");
    if (what === 'own code') {
      await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error())');
      await page.locator('.code:visible').first().getByRole('button', { name: 'Copy' }).click();
    } else {
      await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    }
    await page.getByRole('button', { name: 'Not copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe('before');
    expect(complaints.splice(0)).toHaveLength(what === 'own code' ? 0 : 1);
  });

  test('an address with a stray percent sign leaves the scripts of the page running', async () => {
    const page = await open(`${WORKERS}#100%`);
    expect(await page.getByRole('button', { name: 'Copy as Markdown' }).isVisible()).toBe(true);
    expect(await page.locator('.search').isVisible()).toBe(true);
  });

  describe('the colours', () => {
    const ground = (page: Page) => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const [light, dark] = ['rgb(255, 255, 255)', 'rgb(24, 28, 41)'];

    test.each([
      ['light', light, dark],
      ['dark', dark, light],
    ] as const)(
      'of a %s system are switched, on the next page too, and back',
      async (colorScheme, own, other) => {
        const page = await open('/docs', { colorScheme });
        const button = page.getByRole('button', { name: 'Dark colours' });
        expect(await ground(page)).toBe(own);
        expect(await button.getAttribute('aria-pressed')).toBe(String(own === dark));
        await button.click();
        expect(await ground(page)).toBe(other);
        expect(await docsAuditOf(page)).toEqual([]);
        await page.goto(`${docs.url}${WORKERS}`);
        expect(await ground(page)).toBe(other);
        expect(await button.getAttribute('aria-pressed')).toBe(String(other === dark));
        await button.click();
        expect(await ground(page)).toBe(own);
        expect(await page.evaluate('localStorage.length')).toBe(0);
      },
    );

    test('are light on paper, where all of the code is', async () => {
      const page = await open('/docs/webhooks', { viewport: { width: 718, height: 1000 } });
      await page.getByRole('button', { name: 'Dark colours' }).click();
      await page.emulateMedia({ media: 'print' });
      expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(23, 27, 43)');
      const cut = `[...document.querySelectorAll('pre, .table')].filter((one) => one.scrollWidth > one.clientWidth).length`;
      expect(await page.evaluate(cut)).toBe(0);
      for (const control of await page.locator('header, .copy, .page-text, .neighbours').all()) {
        expect(await control.isVisible()).toBe(false);
      }
    });

    test('show on paper what is folded on the screen', async () => {
      const page = await open(WORKERS, { viewport: { width: 1600, height: 1000 } });
      const hidden = `[...document.querySelectorAll('main details')].filter((one) => one.checkVisibility() && !one.lastElementChild.checkVisibility()).length`;
      expect(await page.evaluate(hidden)).toBeGreaterThan(0);
      await page.emulateMedia({ media: 'print' });
      expect(await page.evaluate(hidden)).toBe(0);
    });

    test('of the sign-in pages and of code are all switched', () => {
      const style = docs.site.find(({ path }) => path.endsWith('.css'))?.body ?? '';
      const dark = [...style.matchAll(/:root\[data-theme="dark"\] \{([^}]*--[^}]*)\}/g)].map(
        ([, text]) => text,
      );
      expect(dark).toHaveLength(style.split('prefers-color-scheme: dark').length - 1);
      expect(dark.join()).toMatch(/--ground:[\s\S]*--code:/);
    });
  });

  describe('code', () => {
    test('has its copy button in sight on every screen, in a row above the code', async () => {
      for (const options of [PHONE, { viewport: { width: 1440, height: 900 } }]) {
        const page = await open('/docs/start', options);
        const opacities = `[...document.querySelectorAll('.copy')].map((one) => getComputedStyle(one).opacity)`;
        expect([...new Set(await page.evaluate<string[]>(opacities))]).toEqual(['1']);
        const figures = page.locator('.code:visible');
        expect(await figures.count()).toBeGreaterThan(3);
        for (const figure of await figures.all()) {
          const button = figure.getByRole('button', { name: 'Copy' });
          const [above, below] = [await button.boundingBox(), await figure.locator('code').boundingBox()];
          expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0);
        }
      }
    });

    test('is copied unchanged', async () => {
      const { page, context } = await visit();
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.goto(`${docs.url}/docs/reference/gateway`);
      const figure = page.locator('.code').first();
      await figure.getByRole('button', { name: 'Copy' }).click();
      await figure.getByRole('button', { name: 'Copied' }).waitFor();
      const copied = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(copied).toBe(await figure.locator('code').innerText());
    });

    test('stays in the language that was chosen, on this page and the next', async () => {
      const page = await open(WORKERS);
      await page.locator('.choices').first().getByLabel('Python', { exact: true }).check();
      expect(
        await page.locator('.panel:visible code').filter({ hasText: 'from integration_service' }).count(),
      ).toBe(3);
      await page.goto(`${docs.url}/docs/reference/gateway/users`);
      expect(
        await page.locator('.panel:visible code').filter({ hasText: 'from integration_service' }).count(),
      ).toBe(2);
    });
  });

  test('an example that was chosen does not take the place of the chosen language', async () => {
    const page = await open('/docs/reference/webhooks');
    await page.locator('.choices').first().getByLabel('Python', { exact: true }).check();
    await page.goto(`${docs.url}${WORKERS}`);
    await page.locator('.choices:not(.languages) input:not(:checked)').first().check();
    await page.reload();
    expect(await page.evaluate('localStorage.getItem("docs-language")')).toBe('Python');
  });

  describe('trying an operation', () => {
    test('shows what the gateway answers, and offers the ids it saw to the next operation', async () => {
      const page = await open('/docs/reference/gateway/instance-integrations');
      const [key = ''] = Object.values(gateway.credentials.apiKeys);
      const first = formOf(page, 'listInstanceIntegrations');
      await first.locator('summary').click();
      await first.getByLabel('x-api-key').fill(key);
      await first.getByRole('button', { name: 'Send' }).click();
      await first.locator('.status.good').waitFor();
      const [connection] = JSON.parse(await first.locator('.try-answer code').innerText());
      expect(await first.locator('.try-facts').innerText()).toContain('etag: "');

      await page.goto(`${docs.url}/docs/reference/gateway/clients`);
      const second = formOf(page, 'listClients');
      await second.locator('summary').click();
      expect(await second.getByLabel('x-api-key').inputValue()).toBe(key);
      expect(await page.locator(`#ids-iin option[value="${connection.id}"]`).count()).toBe(1);
      await second.getByLabel('instanceIntegrationId').fill(connection.id);
      await second.getByRole('button', { name: 'Send' }).click();
      await second.locator('.status.good').waitFor();
      expect(JSON.parse(await second.locator('.try-answer code').innerText())[0].id).toMatch(/^cli_/);
      expect(await second.locator('.try-address').innerText()).toBe(
        `GET /v1/instance-integrations/${connection.id}/clients`,
      );
    });

    test('takes one click at the demo of this machine, which fills in key and ids and keeps nothing', async () => {
      const [apiKey = ''] = Object.values(gateway.credentials.apiKeys);
      const { userId, ...ids } = ownIds;
      const demo = await startDocs({
        onward: async () => onwardTo(gateway),
        tryItValues: () => ({ apiKey, ids }),
      });
      const { page } = await visit();
      await page.goto(`${demo.url}${WORKERS}`);
      const form = formOf(page, 'getWorkerV2');
      await form.locator('summary').click();
      await form.getByText('Filled in by the demo on this machine.').waitFor();
      expect(await docsAuditOf(page)).toEqual([]);
      await form.getByRole('button', { name: 'Send' }).click();
      await form.locator('.status.good').waitFor();
      expect(JSON.parse(await form.locator('.try-answer code').innerText()).id).toBe(ids.workerId);
      expect(
        await page.evaluate<string>('JSON.stringify({ ...sessionStorage, ...localStorage })'),
      ).not.toContain(apiKey);

      await page.goto(`${demo.url}/docs/reference/gateway/clients`);
      const typed = formOf(page, 'getClient');
      await page.evaluate("sessionStorage.setItem('docs-try-x-api-key', 'typed before')");
      await page.reload();
      await typed.locator('summary').click();
      expect(await typed.getByLabel('x-api-key').inputValue()).toBe('typed before');
      // A second form, without a key, is filled in after the first would have been.
      await page.evaluate('sessionStorage.clear()');
      const empty = formOf(page, 'listClients');
      await empty.getByLabel('x-api-key').evaluate((field) => Object.assign(field, { value: '' }));
      await empty.locator('summary').click();
      await empty.getByText('Filled in by the demo').waitFor();
      expect(await typed.getByLabel('clientId').inputValue()).toBe('');
      expect(await typed.getByText('Filled in by the demo').count()).toBe(0);

      await page.goto(`${demo.url}/docs/reference/gateway/changes`);
      const digest = formOf(page, 'getChangesDigest');
      await digest.locator('summary').click();
      await digest.getByText('Filled in by the demo').waitFor();
      expect(await digest.getByLabel('clientId').inputValue()).toBe(ids.clientId);
      await demo.stop();
    });

    test('asks the sign-on server where that lets it', async () => {
      const page = await open('/docs/reference/sign-on/discovery');
      const form = formOf(page, 'discovery');
      await form.locator('summary').click();
      await form.getByRole('button', { name: 'Send' }).click();
      await form.locator('.status.good').waitFor();
      expect(JSON.parse(await form.locator('.try-answer code').innerText())).toEqual({
        issuer: 'of the test',
      });
    });

    test('is already open when a reader follows its link from the pages of a live environment', async () => {
      const live = await startDocs({ environment: 'live', demoGatewayUrl: docs.url });
      const { page } = await visit();
      await page.goto(`${live.url}${WORKERS}`);
      expect(await docsAuditOf(page)).toEqual([]);
      await page
        .locator('section:has(#listWorkersV2)')
        .getByRole('link', { name: 'Try it in the demo environment' })
        .click();
      await page.waitForURL(`${docs.url}${WORKERS}#listWorkersV2-try`);
      await formOf(page, 'listWorkersV2').getByRole('button', { name: 'Send' }).waitFor();
      expect(await page.locator('details.try[open]').count()).toBe(1);
      await live.stop();
    });

    test('is not offered where a browser has to go by itself, or only servers may ask', async () => {
      const offered = async (path: string, operationId: string) =>
        formOf(await open(path), operationId).count();
      expect(await offered('/docs/reference/sign-on/authorization', 'authorize')).toBe(0);
      expect(await offered('/docs/reference/sign-on/tokens', 'introspect')).toBe(0);
      expect(await offered('/docs/reference/sign-on/tokens', 'token')).toBe(1);
    });
  });

  describe('without scripts', () => {
    test('everything can be read, and controls that need a script are hidden', async () => {
      const page = await open(WORKERS, { javaScriptEnabled: false });
      expect(await page.locator('.search').isVisible()).toBe(false);
      expect(await page.locator('.theme').isVisible()).toBe(false);
      await page.locator('.choices').first().getByLabel('Go', { exact: true }).check();
      expect(await page.locator('.panel:visible code').first().innerText()).toContain('package main');
      const form = formOf(page, 'listWorkers');
      await form.locator('summary').click();
      expect(await form.innerText()).toContain('needs JavaScript');
      // Sent by the browser itself, the key would stand in the address.
      expect(await form.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    });

    test('the menu of a phone opens, leads on and closes', async () => {
      const page = await open('/docs', { ...PHONE, javaScriptEnabled: false });
      const menu = page.getByRole('navigation', { name: 'All pages' });
      expect(await menu.isVisible()).toBe(false);
      await page.getByRole('link', { name: 'Menu', exact: true }).click();
      expect(await menu.isVisible()).toBe(true);
      await page.getByRole('link', { name: 'Close the menu' }).click();
      expect(await menu.isVisible()).toBe(false);
      await page.getByRole('link', { name: 'Menu', exact: true }).click();
      await menu.getByRole('link', { name: 'Workers', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor();
      expect(await menu.isVisible()).toBe(false);
    });
  });
});
