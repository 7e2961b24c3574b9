import { expect, test } from '@jest/globals';
import { chromiumVisits } from '../support/chromium.js';
import { describeWith } from '../support/toolchains.js';
import { focusWalkOf } from './audit.js';
import { docsInChromium, PHONE } from './docs-in-chromium.js';

describeWith('chromium', 'the documentation with nothing but a keyboard', (executable) => {
  const { open } = docsInChromium(executable);

  test.each([
    ['/docs/reference/gateway/job-titles', 360],
    ['/docs/reference/webhooks', 1024],
  ])('%s, %i pixels wide, is gone through from top to bottom', async (path, width) => {
    const page = await open(path, { viewport: { width, height: 800 } });
    const { faults, stops } = await focusWalkOf(page);
    expect(faults).toEqual([]);
    expect(stops.length).toBeGreaterThan(15);
  });

  test('the first stop leads past everything to the content', async () => {
    const page = await open('/docs/downloads');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    const inContent = await page.evaluate<boolean>(`Boolean(document.activeElement.closest('main'))`);
    expect([new URL(page.url()).hash, inContent]).toEqual(['#content', true]);
  });

  test('Tab stays in the open menu of a phone, which covers the page', async () => {
    const page = await open('/docs/downloads', PHONE);
    await page.getByRole('link', { name: 'Menu', exact: true }).click();
    const { faults, stops } = await focusWalkOf(page);
    expect(faults).toEqual([]);
    expect(stops[0]).toContain('Close the menu');
    expect(stops.length).toBeGreaterThan(15);
  });

  test('Escape closes the menu of a phone', async () => {
    const page = await open('/docs/downloads', PHONE);
    const menu = page.getByRole('navigation', { name: 'All pages' });
    await page.getByRole('link', { name: 'Menu', exact: true }).click();
    await menu.waitFor();
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'hidden' });
    expect(new URL(page.url()).hash).toBe('#content');
  });

  test('a language is chosen with the arrows', async () => {
    const page = await open('/docs/reference/gateway/job-titles');
    await page.locator('.choices input').first().focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('.panel:visible code').first().innerText()).toContain(
      '@integration-service/sdk',
    );
  });
});

describeWith('chromium', 'the walk through a page itself', (executable) => {
  const { visit } = chromiumVisits(executable);
  const one = '<a href="#1">one</a> ';
  const two = '<a href="#2">two</a>';

  test.each([
    [
      'an order that is not that of the page',
      `${one}<a href="#0" tabindex="1">first</a>${two}`,
      'does not get there',
    ],
    ['a focus that does not show', `${one}<button class="plain">plain</button>`, 'nothing shows'],
    ['what is beyond the edge', `${one}<a href="#0" class="away">away</a>`, 'cannot be seen'],
    [
      'what lies under something',
      `${one}<a href="#0" class="under">under</a><div class="over"></div>`,
      'cannot be seen',
    ],
    ['what listeners do not hear of', `<p aria-hidden="true">${one}</p>${two}`, 'those who listen'],
    ['a stop that keeps the focus', `${one}<button class="trap">trap</button>${two}`, 'does not get there'],
  ])('reports %s', async (_, body, fault) => {
    const { page } = await visit();
    const style = `a:focus, button:focus { outline: 3px solid } .plain:focus { outline: none }
      .away { position: fixed; left: -999px } .under, .over { position: fixed; inset: 0 0 auto; height: 3rem }`;
    await page.setContent(
      `<!doctype html><html lang="en"><title>t</title><style>${style}</style>${body}</html>`,
    );
    await page.evaluate(
      `document.querySelector('.trap')?.addEventListener('keydown', (event) => event.preventDefault())`,
    );
    const { faults } = await focusWalkOf(page);
    expect(faults.join('\n')).toContain(fault);
  });

  test('has nothing against a page that is right', async () => {
    const { page } = await visit();
    await page.setContent(
      `<!doctype html><html lang="en"><title>t</title><style>:focus { outline: 3px solid }</style>${one}${two}<button hidden>no</button></html>`,
    );
    expect(await focusWalkOf(page)).toEqual({ faults: [], stops: [one.trim(), two] });
  });

  test('goes from an element to the end, and sees what is skipped there', async () => {
    const { page } = await visit();
    await page.setContent(
      `<!doctype html><html lang="en"><title>t</title><style>:focus { outline: 3px solid }</style>${one}<main>${two}</main>
      <a href="#3">three</a> <a href="#0" tabindex="1">first</a></html>`,
    );
    const { faults, stops } = await focusWalkOf(page, 'main');
    expect(stops).toEqual([two, '<a href="#3">three</a>']);
    expect(faults.join('\n')).toContain('does not get there');
  });
});
