import { describe, expect, test } from '@jest/globals';
import { TestBrowser } from '../../support/test-browser.js';
import { apps, clientIds, demoEnvironment } from './demo-environment.js';
import type { RelyingParty } from './relying-party.js';

const environment = demoEnvironment();

const HOUR_MS = 3_600_000;
const COOKIE = 'integration_session_demo';

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
  test('is in one cookie, which no script and no other site can use', async () => {
    const { demo } = environment;
    const { address } = await (await demo.party(apps.dashboard)).begin();
    const response = await fetch(address, { redirect: 'manual' });
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(new RegExp(`^${COOKIE}=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; SameSite=Lax$`)),
    ]);
  });

  test('has another cookie after the sign-in, and the one from before opens nothing', async () => {
    const { demo } = environment;
    const person = await demo.newPerson({ worker: [clientIds.tallowfern] });
    const party = await demo.party(apps.dashboard);
    const browser = demo.browser();
    const page = await party.pageOf(browser);
    const before = browser.cookies.get(COOKIE) ?? '';
    await browser.press(page, 'sign-in', { email: person.email, password: person.password });
    expect(browser.cookies.get(COOKIE)).not.toBe(before);
    const attacker = new TestBrowser(demo.url);
    attacker.setCookie(COOKIE, before);
    expect([await isSignedIn(party, browser), await isSignedIn(party, attacker)]).toEqual([true, false]);
  });

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

  test('ends at the sign-out for every copy of the cookie', async () => {
    const { demo, party, browser } = await signedIn();
    const copy = new TestBrowser(demo.url);
    copy.setCookie(COOKIE, browser.cookies.get(COOKIE) ?? '');
    expect(await isSignedIn(party, copy)).toBe(true);
    await browser.press(await browser.open('/auth/logout'), 'sign-out');
    expect(await isSignedIn(party, copy)).toBe(false);
  });
});

describe('guesses', () => {
  const LIMIT = 10;

  test('made all at once do not pass the limit, and keep no one else out', async () => {
    const { demo, party } = await signedIn();
    const victim = await demo.newPerson({ worker: [clientIds.tallowfern] });
    const guessers = await Promise.all(
      Array.from({ length: LIMIT + 4 }, async () => {
        const browser = demo.browser();
        return { browser, page: await party.pageOf(browser) };
      }),
    );
    const answers = await Promise.all(
      guessers.map(({ browser, page }) =>
        browser.press(page, 'sign-in', { email: victim.email, password: 'a wrong guess' }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(LIMIT).fill(200), ...Array(4).fill(429)]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.heading).toBe('Please wait before you try again');
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);

    const other = await demo.newPerson({ worker: [clientIds.tallowfern] });
    expect((await party.signIn(demo.browser(), other)).claims()?.sub).toBe(other.accountId);
  });

  test('keep the person out of no browser that they have signed in in before', async () => {
    const { demo, party, person, browser } = await signedIn();
    await browser.press(await browser.open('/auth/logout'), 'sign-out');
    const guesser = demo.browser();
    for (let count = 0; count < LIMIT; count += 1) {
      const page = await party.pageOf(guesser);
      await guesser.press(page, 'sign-in', { email: person.email, password: 'a wrong guess' });
    }
    const tooMany = await guesser.press(await party.pageOf(guesser), 'sign-in', {
      email: person.email,
      password: person.password,
    });
    expect(tooMany.status).toBe(429);
    expect((await party.signIn(browser, person)).claims()?.sub).toBe(person.accountId);
  });
});
