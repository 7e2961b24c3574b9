import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeWith } from '../support/toolchains.js';
import { focusWalkOf } from './audit.js';
import { faultsOnScreens } from './screens.js';
import {
  at,
  consentReady,
  fillSignIn,
  logoLoaded,
  pressAllow,
  type SignOnInChromium,
  signOnInChromium,
} from './sign-on-in-chromium.js';

type Way = (page: Page, rig: SignOnInChromium) => Promise<void>;

const toStart: Way = async (page, { demo }) => {
  await page.goto(demo.service.demo().demoAppUrl);
  await at(page, 'See a sign-in as an application does');
};

const toSignedIn: Way = async (page, rig) => {
  await toStart(page, rig);
  await page.getByRole('link', { name: 'Sign in to Harborlight Payroll' }).click();
  await at(page, 'Sign in');
  await fillSignIn(page, rig.demo.demoPerson('user'));
  await allowed(page);
};

/** Consent is asked once for each person. */
async function allowed(page: Page): Promise<void> {
  const heading = page.getByRole('heading', { level: 1, name: /^(Allow|Signed in as) / });
  await heading.waitFor();
  if ((await heading.innerText()).startsWith('Allow')) {
    await logoLoaded(page);
    await page.getByRole('link', { name: 'privacy policy' }).waitFor();
    await page.getByRole('link', { name: 'terms of service' }).waitFor();
    await pressAllow(page);
  }
  await at(page, /^Signed in as /);
}

const appPages: Record<string, Way> = {
  'demo app, start': toStart,
  'demo app, signed in': async (page, rig) => {
    await toSignedIn(page, rig);
    await page.locator('summary').first().click();
  },
  'demo app, opened again': async (page, rig) => {
    await toSignedIn(page, rig);
    await page.reload();
    await at(page, 'You are not signed in');
  },
  'demo app, privacy policy': async (page, rig) => {
    await page.goto(`${rig.demo.service.demo().demoAppUrl}/privacy`);
  },
  'demo app, terms': async (page, rig) => {
    await page.goto(`${rig.demo.service.demo().demoAppUrl}/terms`);
  },
  'demo app, signed out': async (page, rig) => {
    await page.goto(`${rig.demo.service.demo().demoAppUrl}/signed-out`);
  },
  'front of sign-on': async (page, { demo }) => {
    await page.goto(demo.url);
  },
};

/** What a terminal prints for a line that a page shows. */
function typed(line: string): Record<string, unknown> {
  // A command that does not end would block this process, and no limit of a test could end it.
  return JSON.parse(spawnSync('sh', ['-c', line], { encoding: 'utf8', timeout: 60_000 }).stdout);
}

const shown = (page: Page, heading: string) =>
  page.locator(`h2:text-is("${heading}") ~ .code`).first().inputValue();

describeWith('chromium', 'the application of the demo, in Chromium', (executable) => {
  const rig = signOnInChromium(executable);

  describe.each(Object.keys(appPages))('%s', (name) => {
    test('is accessible, on every screen, light and dark', async () => {
      const { page } = await rig.visit();
      await appPages[name]?.(page, rig);
      expect((await focusWalkOf(page)).faults).toEqual([]);
      expect(await faultsOnScreens(page, name)).toEqual({});
      expect(await page.getByRole('note').innerText()).toContain('Demo environment');
    });
  });

  test('after a sign-in it shows calls that work as pasted, and sign-out comes back to it', async () => {
    const { page } = await rig.visit();
    await toSignedIn(page, rig);
    const { email } = rig.demo.demoPerson('user');
    const answer = typed(await shown(page, 'Use the access token'));
    expect(answer).toMatchObject({ email });
    expect(await page.locator('.code').nth(1).inputValue()).toBe(JSON.stringify(answer, null, 2));
    const renewed = typed(await shown(page, 'Get the next access token'));
    expect(renewed).toMatchObject({ access_token: expect.any(String), token_type: 'Bearer' });
    await page.click('#sign-out');
    await at(page, 'You are signed out');
    expect(page.url()).toMatch(new RegExp(`^${rig.demo.service.demo().demoAppUrl}/signed-out`));
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await at(page, 'Sign in');
  });

  test('by keyboard, a person of its list signs in, and selects a token to copy it', async () => {
    const { page } = await rig.visit();
    await toStart(page, rig);
    const worker = rig.demo.demoPerson('worker');
    await page.getByRole('link', { name: worker.email }).focus();
    await page.keyboard.press('Enter');
    await at(page, 'Sign in');
    expect(await page.inputValue('#email')).toBe(worker.email);
    await page.locator('#password:focus').waitFor();
    await page.keyboard.type(worker.password);
    await page.keyboard.press('Enter');
    await at(page, /^Allow /);
    await page.locator('#approve').focus();
    await consentReady(page);
    await page.keyboard.press('Enter');
    await at(page, /^Signed in as /);
    const summary = page.locator('summary').first();
    await summary.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ControlOrMeta+A');
    expect(await page.evaluate('getSelection().toString()')).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  test('a person who denies access reads that there was no sign-in, and can begin again', async () => {
    const { page } = await rig.visit();
    await toStart(page, rig);
    await page.getByRole('link', { name: 'Sign in to Juniper People' }).click();
    await at(page, 'Sign in');
    await fillSignIn(page, rig.demo.demoPerson('juniper'));
    await at(page, /^Allow /);
    await consentReady(page);
    await page.click('#deny');
    await at(page, 'You are not signed in');
    expect(await page.locator('main').innerText()).toContain('access_denied');
    await page.click('#again');
    // Signed in already, and on the same instance, to which another page would refuse this person.
    await at(page, /^Allow /);
  });

  test('two tabs sign in at once, and both show what they got', async () => {
    const visit = await rig.visit();
    const tabs = [visit.page, await visit.newTab()];
    for (const tab of tabs) {
      await toStart(tab, rig);
      await tab.getByRole('link', { name: 'Sign in to Harborlight Payroll' }).click();
      await at(tab, 'Sign in');
    }
    for (const tab of tabs) {
      await fillSignIn(tab, rig.demo.demoPerson('user'));
      await allowed(tab);
    }
  });

  test('the bare addresses of both servers lead on', async () => {
    const { page } = await rig.visit();
    await page.goto(rig.demo.url);
    await page.click('#demo-app');
    await at(page, 'See a sign-in as an application does');
    await page.goto(rig.demo.url);
    await page.click('#docs');
    const documentation = page.url();
    await page.goto(rig.demo.service.demo().gatewayUrl);
    expect(page.url()).toBe(documentation);
    expect(documentation).toBe(rig.demo.service.demo().docsUrl);
  });
});
