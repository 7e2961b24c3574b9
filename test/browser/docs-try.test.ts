import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import type { Locator, Route } from 'playwright-core';
import type { Dispatch } from '../../src/edge/http/exchange.js';
import { ownIds } from '../gateway/demo-paths.js';
import { startDocs } from '../support/docs-server.js';
import { type RealGateway, startRealGateway } from '../support/gateway/real-gateway.js';
import { exchange } from '../support/http-exchange.js';
import { describeWith } from '../support/toolchains.js';
import { docsAuditOf } from './audit.js';
import { docsInChromium, formOf, unfoldedForm, WORKERS } from './docs-in-chromium.js';

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

describeWith('chromium', 'trying an operation in the documentation', (executable) => {
  let gateway: RealGateway;
  const { url, open } = docsInChromium(executable, async () => {
    gateway = await startRealGateway();
    await new Promise<void>((resolve) => signOn.listen(0, '127.0.0.1', resolve));
    const signOnUrl = `http://localhost:${(signOn.address() as AddressInfo).port}`;
    return startDocs({ signOnUrl, onward: async () => onwardTo(gateway) });
  });
  afterAll(async () => {
    await gateway.stop();
    signOn.closeAllConnections();
    signOn.close();
  });

  const answerIn = async (form: Locator) => {
    await form.getByRole('button', { name: 'Send' }).click();
    await form.locator('.status.good').waitFor();
    return JSON.parse(await form.locator('.try-answer code').innerText());
  };

  test('shows what the gateway answers, and offers the ids it saw to the next operation', async () => {
    const page = await open('/docs/reference/gateway/instance-integrations');
    const [key = ''] = Object.values(gateway.credentials.apiKeys);
    const first = await unfoldedForm(page, 'listInstanceIntegrations');
    await first.getByLabel('x-api-key').fill(key);
    const [connection] = await answerIn(first);
    expect(await first.locator('.try-facts').innerText()).toContain('etag: "');

    await page.goto('/docs/reference/gateway/clients');
    const second = await unfoldedForm(page, 'listClients');
    expect(await second.getByLabel('x-api-key').inputValue()).toBe(key);
    expect(await page.locator(`#ids-iin option[value="${connection.id}"]`).count()).toBe(1);
    await second.getByLabel('instanceIntegrationId').fill(connection.id);
    expect((await answerIn(second))[0].id).toMatch(/^cli_/);
    expect(await second.locator('.try-address').innerText()).toBe(
      `GET /v1/instance-integrations/${connection.id}/clients`,
    );
    // In one box, beside or below the button.
    const boxes = await second.evaluate(
      (form) => form.querySelector('.try-address')?.getClientRects().length,
    );
    expect(boxes).toBe(1);
  });

  test('takes one click at the demo of this machine, which fills in key and ids and keeps nothing', async () => {
    const [apiKey = ''] = Object.values(gateway.credentials.apiKeys);
    const { userId, ...ids } = ownIds;
    const demo = await startDocs({
      onward: async () => onwardTo(gateway),
      tryItValues: () => ({ apiKey, ids }),
    });
    const page = await open(`${demo.url}${WORKERS}`);
    const form = await unfoldedForm(page, 'getWorkerV2');
    await form.getByText('Filled in by the demo on this machine.').waitFor();
    expect(await docsAuditOf(page)).toEqual([]);
    expect((await answerIn(form)).id).toBe(ids.workerId);
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
    const digest = await unfoldedForm(page, 'getChangesDigest');
    await digest.getByText('Filled in by the demo').waitFor();
    expect(await digest.getByLabel('clientId').inputValue()).toBe(ids.clientId);
    await demo.stop();
  });

  test('shows the answer to what was sent last, and until it comes none', async () => {
    const page = await open('/docs/reference/sign-on/discovery');
    const form = await unfoldedForm(page, 'discovery');
    const shown = form.locator('.try-answer');
    const told = form.getByRole('status');
    await answerIn(form);
    expect([await told.innerText(), await shown.innerText()]).toEqual([
      expect.stringMatching(/^200\s+\d+ ms/),
      expect.stringContaining('of the test'),
    ]);
    expect(await form.getByRole('group', { name: 'Body of the answer' }).getAttribute('tabindex')).toBe('0');
    const held: Route[] = [];
    await page.route('**/.well-known/**', (route) => held.push(route));
    for (const _ of ['first', 'second']) {
      await form.getByRole('button', { name: 'Send' }).click();
      await told.getByText('Waiting for the answer…').waitFor();
      expect(await shown.innerText()).toBe('');
    }
    const answer = (body: string) => ({ headers: { 'access-control-allow-origin': '*' }, body });
    const first = page.waitForResponse(async (response) => (await response.text()) === '"first"');
    await held[1]?.fulfill(answer('"second"'));
    await shown.getByText('"second"').waitFor();
    await held[0]?.fulfill(answer('"first"'));
    await first;
    await page.evaluate('new Promise((done) => requestAnimationFrame(done))');
    expect(await shown.innerText()).toBe('"second"');
  });

  test('says that a value cannot be sent in a header', async () => {
    const page = await open(WORKERS);
    const form = await unfoldedForm(page, 'getWorkerV2');
    for (const name of ['instanceIntegrationId', 'clientId', 'workerId']) {
      await form.getByLabel(name).fill('1');
    }
    await form.getByLabel('x-api-key').fill('ik_demo_…');
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByRole('status').getByText('Nothing was sent').waitFor();
  });

  test('asks the sign-on server where that lets it', async () => {
    const page = await open('/docs/reference/sign-on/discovery');
    const form = await unfoldedForm(page, 'discovery');
    expect(await answerIn(form)).toEqual({ issuer: 'of the test' });
  });

  test('is already open when a reader follows its link from the pages of a live environment', async () => {
    const live = await startDocs({ environment: 'live', demoGatewayUrl: url() });
    const page = await open(`${live.url}${WORKERS}`);
    expect(await docsAuditOf(page)).toEqual([]);
    await page
      .locator('section:has(#listWorkersV2)')
      .getByRole('link', { name: 'Try it in the demo environment' })
      .click();
    await page.waitForURL(`${url()}${WORKERS}#listWorkersV2-try`);
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
