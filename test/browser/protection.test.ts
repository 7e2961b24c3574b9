import { createServer, type Server } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { listenOnLoopback } from '../support/loopback.js';
import { describeWith } from '../support/toolchains.js';
import { auditOf } from './audit.js';
import { passwordLink } from './pages.js';
import { at, signOnInChromium } from './sign-on-in-chromium.js';

describeWith('chromium', 'attacks on the pages by other sites', (executable) => {
  const rig = signOnInChromium(executable);
  const listeners: Server[] = [];
  /** Requests to pages of another site. */
  const sent: string[] = [];
  afterEach(() => {
    sent.length = 0;
    for (const listener of listeners.splice(0)) {
      listener.closeAllConnections();
      listener.close();
    }
  });

  /** A page of another site. */
  async function foreignPage(body: string): Promise<string> {
    const listener = createServer((request, response) => {
      sent.push(`${request.method} ${request.url}`);
      response.setHeader('Content-Type', 'text/html');
      response.end(`<!doctype html><html lang="en"><title>Elsewhere</title>${body}`);
    });
    listeners.push(listener);
    return `http://127.0.0.1:${await listenOnLoopback(listener)}/`;
  }

  /** What the visit complained of, which here is what was to happen. */
  const expected = (visit: { complaints: string[] }) => visit.complaints.splice(0);

  test('a page that frames the sign-in page shows nothing of it', async () => {
    const visit = await rig.visit();
    const frame = rig.authorization().replaceAll('&', '&amp;');
    const refused = visit.page.waitForEvent('console', (said) => said.text().includes('frame-ancestors'));
    await visit.page.goto(await foreignPage(`<iframe src="${frame}"></iframe>`));
    await refused;
    const [, framed] = visit.page.frames();
    expect(await framed?.locator('input').count()).toBe(0);
    expect(expected(visit).join()).toMatch(/frame-ancestors 'none'/);
  });

  test('a form of another site that posts a password is not taken', async () => {
    const visit = await rig.visit();
    const action = `${rig.demo.url}/auth/sign-in`;
    const fields = ['interaction', 'csrf_token', 'email', 'password'];
    const inputs = fields.map((name) => `<input name="${name}" value="${'x'.repeat(43)}">`).join('');
    await visit.page.goto(
      await foreignPage(`<form method="post" action="${action}">${inputs}<button>Go</button></form>`),
    );
    await visit.page.click('button');
    await at(visit.page, 'Something went wrong');
    expect(await visit.page.locator('main').innerText()).toContain('from another site');
  });

  test.each([
    [
      'a script',
      async (page: Page) =>
        page.evaluate(
          `document.body.append(Object.assign(document.createElement('script'), { textContent: 'document.title = "changed"' }))`,
        ),
    ],
    ['a style', async (page: Page) => page.evaluate(`document.body.setAttribute('style', 'opacity: 0')`)],
    [
      'a picture of elsewhere',
      async (page: Page) =>
        page.evaluate(`document.body.append(Object.assign(new Image(), { src: '/picture.png' }))`),
    ],
  ])('%s that gets into a page does nothing, and the watch of these tests sees it', async (_, plant) => {
    const visit = await rig.visit();
    await visit.page.goto(rig.authorization());
    const title = await visit.page.title();
    const refused = visit.page.waitForEvent('console', (said) =>
      said.text().includes('Content Security Policy'),
    );
    await plant(visit.page);
    await refused;
    expect(await visit.page.title()).toBe(title);
    expect(await visit.page.evaluate(`getComputedStyle(document.body).opacity`)).toBe('1');
    expect(expected(visit).join()).toMatch(/Content Security Policy/);
  });

  test('a form that is turned to another place sends nothing there', async () => {
    const visit = await rig.visit();
    const elsewhere = await foreignPage('<h1>Thank you</h1>');
    await visit.page.goto(rig.authorization());
    await visit.page.fill('#email', 'ada@example.com');
    await visit.page.fill('#password', 'a secret');
    const refused = visit.page.waitForEvent('console', (said) => said.text().includes('form-action'));
    await visit.page.evaluate(
      `Object.assign(document.forms[0], { action: ${JSON.stringify(elsewhere)} }).submit()`,
    );
    await refused;
    expect(sent).toEqual([]);
    expect(expected(visit).join()).toMatch(/form-action 'self'/);
  });

  test('the watch of these tests sees a request to another server', async () => {
    const visit = await rig.visit();
    await visit.page.goto(await foreignPage('<img src="http://elsewhere.example/picture.png" alt="">'));
    expect(expected(visit)).toContain('asked http://elsewhere.example/picture.png');
  });

  test('the audit of these tests finds accessibility faults', async () => {
    const { page } = await rig.visit({ viewport: { width: 360, height: 740 } });
    await page.goto(
      await foreignPage(`<body style="background: white"><h1>One</h1><main><h1>Two</h1>
        <p style="color: #999">Pale</p><input type="text"><button></button><p style="width: 500px">Wide</p></main>`),
    );
    const faults = (await auditOf(page)).join('\n');
    for (const fault of [
      '2 times heading',
      '0 times footer',
      'text has a contrast of 2.85',
      'no label: <input',
      'no name: <button',
      'pixels stand beyond the edge',
      'too small for a finger',
      'it has no place here',
    ]) {
      expect(faults).toContain(fault);
    }
  });

  test('the address of a page with a secret is not sent to the page it links to', async () => {
    const visit = await rig.visit();
    const address = await passwordLink(rig);
    await visit.page.goto(address);
    const referrer: (string | undefined)[] = [];
    visit.context.on('request', (request) => referrer.push(request.headers().referer));
    const elsewhere = await foreignPage('<h1>Elsewhere</h1>');
    await visit.page.evaluate(`location.assign(${JSON.stringify(elsewhere)})`);
    await visit.page.waitForURL(elsewhere);
    expect(referrer).toEqual([undefined]);
    expect(await visit.page.evaluate('document.referrer')).toBe('');
  });
});
