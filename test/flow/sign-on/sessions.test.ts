import { describe, expect, test } from '@jest/globals';
import type { Page, TestBrowser } from '../../support/test-browser.js';
import { apps, clientIds, demoEnvironment } from './demo-environment.js';
import type { Person } from './environment.js';
import type { RelyingParty } from './relying-party.js';
import { walk } from './walk.js';

const environment = demoEnvironment();

const HOUR_MS = 3_600_000;

async function signedIn() {
  const { demo } = environment;
  const person = await demo.newPerson({ worker: [clientIds.tallowfern] });
  const party = await demo.party(apps.dashboard);
  const browser = demo.browser();
  await party.signIn(browser, person);
  return { demo, person, party, browser };
}

async function isSignedIn(party: RelyingParty, browser: TestBrowser): Promise<boolean> {
  const { returned } = await party.tryToSignIn(browser, {}, { prompt: 'none' });
  return returned.searchParams.has('code');
}

describe('a session', () => {
  test.each([
    ['is over when it was not used for twelve hours', 12, 0, false],
    ['stands when it was not used for somewhat less', 11, 0, true],
    ['is over after two weeks, however much it is used', 0, 14 * 24, false],
    ['stands somewhat earlier', 0, 14 * 24 - 1, true],
  ])('%s', async (_, idleHours, ageHours, stands) => {
    const { demo, person, party, browser } = await signedIn();
    const aged = demo.age(
      'update sessions set last_seen_at = last_seen_at - ?, expires_at = expires_at - ? where account_id = ?',
      idleHours * HOUR_MS,
      ageHours * HOUR_MS,
      person.accountId,
    );
    expect([aged, await isSignedIn(party, browser)]).toEqual([1, stands]);
  });
});

const STALE = 'This page is no longer open';

/** At the sign-in page of an application with consent, in several tabs. */
async function atSignIn(tabs = 1) {
  const { demo } = environment;
  const person = await demo.newPerson({ worker: [clientIds.tallowfern] });
  const party = await demo.party(apps.portal);
  const browser = demo.browser();
  const pages: Page[] = [];
  for (let tab = 0; tab < tabs; tab += 1) {
    pages.push(await party.pageOf(browser));
  }
  const [page, other] = pages as [Page, Page];
  return { demo, person, party, browser, page, other };
}

const fillIn = (browser: TestBrowser, page: Page, { email, password }: Person) =>
  browser.press(page, 'sign-in', { email, password });

/** Whether the way onward that a page offers ends with a code at the application. */
async function leadsOnward(browser: TestBrowser, page: Page, person: Person): Promise<boolean> {
  expect([page.heading, page.hasLeft]).toEqual([STALE, false]);
  const { end } = await walk(browser, await browser.follow(page, 'continue'), person);
  return end.url.searchParams.has('code');
}

describe('a person with two tabs', () => {
  test('signs in in one, and the other continues without the password', async () => {
    const { browser, person, page, other } = await atSignIn(2);
    const first = await walk(browser, await fillIn(browser, page, person), person);
    expect(first.end.url.searchParams.has('code')).toBe(true);
    const reloaded = await browser.open(other.url);
    expect(reloaded.url.searchParams.has('code')).toBe(true);
    expect(reloaded.url.searchParams.get('state')).not.toBe(first.end.url.searchParams.get('state'));
  });

  test('signs in in one, fills in the form of the other all the same, and gets on', async () => {
    const { browser, person, page, other } = await atSignIn(2);
    await walk(browser, await fillIn(browser, page, person), person);
    const second = await walk(browser, await fillIn(browser, other, person), person);
    expect(second.end.url.searchParams.has('code')).toBe(true);
  });

  test('signs out in one, approves in the other, and is asked who they are', async () => {
    const { browser, person, page } = await atSignIn();
    const consent = await fillIn(browser, page, person);
    expect(consent.heading).toContain('Allow');
    await browser.press(await browser.open('/auth/logout'), 'sign-out');
    const end = await browser.press(consent, 'approve');
    expect([end.hasLeft, [STALE, 'Sign in'].includes(end.heading)]).toEqual([false, true]);
    const onward = end.heading === STALE ? await browser.follow(end, 'continue') : end;
    const again = await walk(browser, onward, person);
    expect([again.pages[0], again.end.url.searchParams.has('code')]).toEqual(['Sign in', true]);
  });

  test('becomes another person in one, and approves nothing for them in the other', async () => {
    const { demo, browser, person, page, party } = await atSignIn();
    const consent = await fillIn(browser, page, person);
    const other = await demo.newPerson({ worker: [clientIds.tallowfern] });
    await fillIn(browser, await browser.follow(consent, 'Use another account'), other);
    const end = await browser.press(consent, 'approve');
    expect([end.hasLeft, end.heading, end.text]).toEqual([
      false,
      'Sign in',
      expect.stringContaining('Someone has signed in with this browser since'),
    ]);
    expect((await party.pageOf(browser)).text).toContain(other.email);
  });
});

test('a person who is asked for a context may change the account', async () => {
  const { demo } = environment;
  const first = await demo.newPerson({ user: [clientIds.tallowfern, clientIds.quillmere] });
  const second = await demo.newPerson({ worker: [clientIds.tallowfern] });
  const browser = demo.browser();
  const party = await demo.party(apps.dashboard);
  const contexts = await fillIn(browser, await party.pageOf(browser), first);
  expect(contexts.heading).toBe('Continue as');
  const end = await fillIn(browser, await browser.follow(contexts, 'Use another account'), second);
  expect(end.url.searchParams.has('code')).toBe(true);
});

describe('the Back button', () => {
  test('to the sign-in form after the end leads to a page with a way onward', async () => {
    const { browser, person, page } = await atSignIn();
    await walk(browser, await fillIn(browser, page, person), person);
    expect(await leadsOnward(browser, await fillIn(browser, page, person), person)).toBe(true);
  });

  test('to the consent form after the end leads to a page with a way onward', async () => {
    const { browser, person, page } = await atSignIn();
    const consent = await fillIn(browser, page, person);
    expect((await browser.press(consent, 'approve')).hasLeft).toBe(true);
    expect(await leadsOnward(browser, await browser.press(consent, 'approve'), person)).toBe(true);
    expect(await leadsOnward(browser, await browser.open(consent.url), person)).toBe(true);
  });

  test('to the sign-in form before the end continues where it stands', async () => {
    const { browser, person, page } = await atSignIn();
    expect((await fillIn(browser, page, person)).heading).toContain('Allow');
    expect((await fillIn(browser, page, person)).heading).toContain('Allow');
  });
});

describe('an expired page', () => {
  test('of another browser leads onward, and gives that one nothing', async () => {
    const { demo, browser, person, page } = await atSignIn();
    const stranger = demo.browser();
    const shown = await stranger.open(page.url);
    expect([shown.status, shown.heading]).toEqual([400, STALE]);
    expect(await leadsOnward(stranger, shown, person)).toBe(true);
    expect((await walk(browser, page, person)).end.url.searchParams.has('code')).toBe(true);
  });
});
