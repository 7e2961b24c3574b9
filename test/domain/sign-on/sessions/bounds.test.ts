import { describe, expect, test } from '@jest/globals';
import { RateLimiter } from '../../../../src/domain/access/rate-limiter.js';
import { SESSIONS_PER_ACCOUNT } from '../../../../src/domain/sign-on/sessions/browser-sessions.js';
import { RATES } from '../../../../src/domain/sign-on/sign-on.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { audited, type BrowserRig, browserRig, HOUR_MS, newClient, newPerson } from '../browser-rig.js';
import { answerOf, codeOf, signedInBrowser, TestBrowser } from '../test-browser.js';

const under = databaseUnderTest('SQLite');

type Table = 'sessions' | 'finished_interactions' | 'authorization_codes' | 'audit_events';

async function countOf({ database }: BrowserRig, table: Table): Promise<number> {
  return (await database.reader.selectFrom(table).selectAll().execute()).length;
}

async function allCounts(rig: BrowserRig) {
  return {
    sessions: await countOf(rig, 'sessions'),
    finished: await countOf(rig, 'finished_interactions'),
    codes: await countOf(rig, 'authorization_codes'),
    audited: await countOf(rig, 'audit_events'),
  };
}

describe('a signed-in person', () => {
  test('leaves no row behind with pages that they open and do not answer', async () => {
    const rig = await browserRig(under);
    const clientId = await rig.newApplication({ firstParty: false });
    const browser = await signedInBrowser(rig, await newPerson(rig, [rig.here.clientId]));
    const before = await allCounts(rig);
    for (let time = 0; time < RATES.people.limit + 1; time += 1) {
      expect(await browser.authorize({ clientId })).toMatchObject({ page: 'consent' });
      expect(await browser.logout()).toMatchObject({ page: 'sign_out' });
    }
    expect(await allCounts(rig)).toEqual(before);
  });

  test('gets so many codes in a minute without a password, in all their browsers together, and then needs it', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browsers = [await signedInBrowser(rig, person), await signedInBrowser(rig, person)];
    for (let time = 0; time < RATES.people.limit; time += 1) {
      codeOf(await (browsers[time % 2] as TestBrowser).authorize());
    }
    const before = await allCounts(rig);
    for (const browser of browsers) {
      expect(answerOf(await browser.authorize({ prompt: 'none' }))).toMatchObject({
        error: 'login_required',
      });
      expect(await browser.authorize()).toMatchObject({ page: 'sign_in' });
    }
    expect(await allCounts(rig)).toEqual(before);
    codeOf(await (browsers[0] as TestBrowser).signIn(person));
    codeOf(await (await signedInBrowser(rig, await newPerson(rig, [rig.here.clientId]))).authorize());
    rig.clock.advance(RATES.people.windowMs);
    codeOf(await (browsers[1] as TestBrowser).authorize());
  });

  test('signs in so often in a minute, in all their browsers together, and then is told when to come back', async () => {
    const rig = await browserRig(under);
    rig.signOn.people = new RateLimiter({ limit: 5, windowMs: RATES.people.windowMs }, rig.clock.now);
    const person = await newPerson(rig, [rig.here.clientId]);
    for (let time = 0; time < 5; time += 1) {
      await signedInBrowser(rig, person);
    }
    const before = await allCounts(rig);
    const another = new TestBrowser(rig);
    await another.authorize();
    const refused = { code: ErrorCode.RATE_LIMITED, retryAfterSeconds: 60 };
    await expect(another.signIn(person)).rejects.toMatchObject(refused);
    expect(await allCounts(rig)).toEqual(before);
    rig.clock.advance(RATES.people.windowMs);
    codeOf(await another.signIn(person));
  });

  test('gets so many codes in a day without a password, however slowly they ask for them, and then needs it', async () => {
    const rig = await browserRig(under);
    const day = { limit: 5, windowMs: RATES.peopleByDay.windowMs };
    rig.signOn.peopleByDay = new RateLimiter(day, rig.clock.now);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = await signedInBrowser(rig, person);
    for (let time = 0; time < day.limit; time += 1) {
      rig.clock.advance(HOUR_MS);
      codeOf(await browser.authorize());
    }
    rig.clock.advance(HOUR_MS);
    const before = await allCounts(rig);
    expect(await browser.authorize()).toMatchObject({ page: 'sign_in' });
    expect(await browser.show('sign_in')).toMatchObject({ kind: 'sign_in' });
    expect(answerOf(await browser.authorize({ prompt: 'none' }))).toMatchObject({ error: 'login_required' });
    expect(await allCounts(rig)).toEqual(before);
    codeOf(await browser.signIn(person));
    rig.clock.advance(19 * HOUR_MS);
    await browser.authorize();
    await browser.signIn(person);
    codeOf(await browser.authorize());
  });

  test('signs in so often in a day, and then is told when to come back', async () => {
    const rig = await browserRig(under);
    const day = { limit: 5, windowMs: RATES.peopleByDay.windowMs };
    rig.signOn.peopleByDay = new RateLimiter(day, rig.clock.now);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = await signedInBrowser(rig, person);
    for (let time = 1; time < day.limit; time += 1) {
      rig.clock.advance(HOUR_MS);
      await browser.authorize({ prompt: 'login' });
      codeOf(await browser.signIn(person));
    }
    await browser.authorize({ prompt: 'login' });
    const before = await allCounts(rig);
    await expect(browser.signIn(person)).rejects.toMatchObject({
      code: ErrorCode.RATE_LIMITED,
      retryAfterSeconds: (20 * HOUR_MS) / 1_000,
    });
    expect(await allCounts(rig)).toEqual(before);
    rig.clock.advance(20 * HOUR_MS);
    await browser.authorize();
    codeOf(await browser.signIn(person));
  });

  test('signs in with the password however often other sites send their browser here', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [
      rig.here.clientId,
      await newClient(rig, rig.here.instanceId, 'Quay'),
    ]);
    const few = (windowMs: number) => new RateLimiter({ limit: 6, windowMs }, rig.clock.now);
    rig.signOn.people = few(RATES.people.windowMs);
    rig.signOn.peopleByDay = few(RATES.peopleByDay.windowMs);
    const chosen = { userType: 'USER', clientId: rig.here.clientId } as const;
    const victim = await signedInBrowser(rig, person);
    codeOf(await victim.choose(chosen));
    for (let time = 0; time < 6; time += 1) {
      codeOf(await victim.authorize());
    }
    expect(await victim.authorize()).toMatchObject({ page: 'sign_in' });
    const elsewhere = new TestBrowser(rig);
    await elsewhere.authorize();
    for (const browser of [elsewhere, victim]) {
      expect(await browser.signIn(person)).toMatchObject({ page: 'choose_context' });
      codeOf(await browser.choose(chosen));
    }
    expect(await victim.authorize({ prompt: 'login' })).toMatchObject({ page: 'sign_in' });
  });

  test('gets no more codes in a minute with pages that they opened before they signed in', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = new TestBrowser(rig);
    const pages: string[] = [];
    for (let count = 0; count < RATES.people.limit; count += 1) {
      await browser.authorize();
      pages.push(browser.at);
      // As often as a browser may.
      rig.clock.advance(RATES.browsers.windowMs / RATES.browsers.limit);
    }
    await browser.authorize();
    codeOf(await browser.signIn(person));
    const oneTooMany = pages.pop() as string;
    for (const page of pages) {
      expect(await browser.show('sign_in', page)).toMatchObject({ step: { kind: 'redirect' } });
    }
    const before = await allCounts(rig);
    await expect(browser.show('sign_in', oneTooMany)).rejects.toMatchObject({ code: ErrorCode.RATE_LIMITED });
    expect(await allCounts(rig)).toEqual(before);
  });

  test('is signed in in so many browsers; the one seen first is signed out for one more', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browsers: TestBrowser[] = [];
    for (let count = 0; count < SESSIONS_PER_ACCOUNT + 1; count += 1) {
      browsers.push(await signedInBrowser(rig, person));
      rig.clock.advance(1_000);
    }
    expect(await countOf(rig, 'sessions')).toBe(SESSIONS_PER_ACCOUNT);
    const { accountId } = person;
    expect((await audited(rig)).filter(({ what }) => what === 'sign_out succeeded')).toMatchObject([
      { actor: accountId, subject: accountId, attributes: { reason: 'too_many' } },
    ]);
    rig.clock.advance(RATES.people.windowMs);
    const [first, second] = browsers as [TestBrowser, TestBrowser];
    expect(await first.authorize()).toMatchObject({ page: 'sign_in' });
    codeOf(await second.authorize());
  });
});

describe('what travels with a page', () => {
  test('is of use in the browser it began in, before and after it signs in', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    const { at, cookie } = browser;
    await browser.authorize();
    codeOf(await browser.signIn(person));
    const thief = new TestBrowser(rig);
    expect(await thief.show('sign_in', at)).toMatchObject({ step: { kind: 'error_page' } });
    // The cookie of before belongs to a stranger, whatever it was once tied to.
    thief.cookie = cookie;
    expect(await thief.show('sign_in', at)).toMatchObject({ kind: 'sign_in', email: '' });
    expect(await browser.show('sign_in', at)).toMatchObject({ step: { kind: 'redirect' } });
  });

  test('discloses nothing to a reader, and no other text is accepted in its place', async () => {
    const rig = await browserRig(under);
    const browser = new TestBrowser(rig);
    await browser.authorize({ loginHint: 'ada@example.com' });
    expect(Buffer.from(browser.at, 'base64url').toString('latin1')).not.toMatch(/ada|example|portal/);
    const changed = `${browser.at.slice(0, -1)}${browser.at.endsWith('A') ? 'B' : 'A'}`;
    const sealedForElse = rig.signOn.refreshTokens.seal('AAAAAAAAAAAAAAAAAAAAAA', 1);
    for (const token of [changed, browser.at.slice(1), sealedForElse, '']) {
      expect(rig.signOn.interactionSeals.open(token)).toBeUndefined();
    }
  });

  test('ends once, whichever page of it is answered', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    const first = browser.at;
    await browser.signIn(person, { password: 'a wrong guess' });
    expect(browser.at).not.toBe(first);
    codeOf(await browser.signIn(person));
    expect(await browser.show('sign_in', first)).toMatchObject({
      step: { errorPage: { message: expect.stringMatching(/answered already/) } },
    });
    expect(await countOf(rig, 'authorization_codes')).toBe(1);
  });
});
