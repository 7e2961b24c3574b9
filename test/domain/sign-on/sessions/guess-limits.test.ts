import { describe, expect, jest, test } from '@jest/globals';
import { RateLimiter } from '../../../../src/domain/access/rate-limiter.js';
import { makeLink } from '../../../../src/domain/credentials/links.js';
import { redeemPasswordLink } from '../../../../src/domain/sign-on/interaction/links.js';
import { TURNS } from '../../../../src/domain/sign-on/sessions/guess-limits.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { storedHash } from '../../../../src/identifiers/random-secrets.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { type BrowserRig, browserRig, newPerson, PASSWORD, type Person } from '../browser-rig.js';
import { codeOf, signedInBrowser, TestBrowser } from '../test-browser.js';

const under = databaseUnderTest('SQLite');

async function countsOf({ database }: BrowserRig): Promise<number[]> {
  const rows = await database.reader.selectFrom('attempt_counts').select('count').execute();
  return rows.map(({ count }) => count);
}

describe('what is no guess', () => {
  test('counts for no one: a whole office signs in from one address, within one window', async () => {
    const rig = await browserRig(under);
    const people = [await newPerson(rig, [rig.here.clientId]), await newPerson(rig, [rig.here.clientId])];
    const browser = new TestBrowser(rig);
    rig.signOn.people = new RateLimiter({ limit: 1_000, windowMs: 60_000 }, rig.clock.now);
    for (let time = 0; time < 250; time += 1) {
      await browser.authorize({ prompt: 'login' });
      expect(codeOf(await browser.signIn(people[time % 2] as Person))).toBeDefined();
    }
    expect(await countsOf(rig)).toEqual([0, 0, 0]);
  });

  test('is a password that was not looked at, however often that happens', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    rig.passwords.meanwhile = () => Promise.reject(new ServiceError(ErrorCode.UNAVAILABLE, 'Too many wait.'));
    for (let time = 0; time < 120; time += 1) {
      await expect(browser.signIn(person)).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
    }
    expect(await countsOf(rig)).toEqual([0, 0]);
    rig.passwords.meanwhile = async () => undefined;
    expect(codeOf(await browser.signIn(person))).toBeDefined();
  });

  test('is a right password, however often the person may not sign in after it', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    const { people } = rig.signOn;
    rig.signOn.people = new RateLimiter({ limit: 0, windowMs: 60_000 }, rig.clock.now);
    for (let time = 0; time < 120; time += 1) {
      await expect(browser.signIn(person)).rejects.toMatchObject({
        ...{ code: ErrorCode.RATE_LIMITED, message: expect.stringMatching(/^You have signed in too often/) },
      });
    }
    expect(await countsOf(rig)).toEqual([0, 0]);
    rig.signOn.people = people;
    expect(codeOf(await browser.signIn(person))).toBeDefined();
  });

  test('is a right password whose sign-in is not written', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    const { unitOfWork } = rig.signOn;
    const { run } = unitOfWork;
    rig.passwords.meanwhile = async () => {
      unitOfWork.run = () => {
        unitOfWork.run = run;
        return Promise.reject(new ServiceError(ErrorCode.UNAVAILABLE, 'The database is away.'));
      };
    };
    await expect(browser.signIn(person)).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
    expect(await countsOf(rig)).toEqual([0, 0]);
    await expect(browser.signIn(person, { password: 'a wrong guess' })).rejects.toMatchObject({
      code: ErrorCode.UNAVAILABLE,
    });
    expect(await countsOf(rig)).toEqual([1, 1]);
  });

  test('gives a reserved turn back to its holder, if the password was not checked', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    for (let time = 0; time < TURNS.free; time += 1) {
      await browser.signIn(person, { password: 'a wrong guess' });
    }
    await expect(browser.signIn(person)).rejects.toMatchObject({ code: ErrorCode.RATE_LIMITED });
    rig.clock.advance(TURNS.maxSpacingMs);
    // Others have taken the turns after this one.
    for (let time = 0; time < 3; time += 1) {
      const stranger = new TestBrowser(rig, `203.0.113.${time + 1}`);
      await stranger.authorize();
      await stranger.signIn(person, { password: 'a wrong guess' }).catch(() => undefined);
    }
    rig.passwords.meanwhile = () => Promise.reject(new ServiceError(ErrorCode.UNAVAILABLE, 'Too many wait.'));
    await expect(browser.signIn(person)).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
    rig.passwords.meanwhile = async () => undefined;
    expect(codeOf(await browser.signIn(person))).toBeDefined();
  });

  test('is given back only in the window in which it was counted', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const [slow, other] = [new TestBrowser(rig), new TestBrowser(rig)];
    await slow.authorize();
    rig.passwords.meanwhile = async () => {
      rig.passwords.meanwhile = async () => undefined;
      rig.clock.advance(15 * 60_000);
      await other.authorize();
      await other.signIn({ email: 'nobody@example.com' });
    };
    expect(codeOf(await slow.signIn(person))).toBeDefined();
    // Of the network, of the other browser, and of the person, with a past window.
    expect(await countsOf(rig)).toEqual([1, 1, 1]);
  });

  test("keeps the count of another's guess, when a link sets a password", async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    await browser.signIn(person, { password: 'a wrong guess' });
    const { token } = await rig.run((changes) =>
      makeLink(
        changes,
        { id: person.accountId, email: person.email },
        { purpose: 'reset', lifetimeSeconds: undefined },
      ),
    );
    const link = { tokenHash: storedHash(token), password: 'a quieter harbour' };
    expect(await redeemPasswordLink(rig.signOn, browser.browser, link)).toMatchObject({
      page: 'password_set',
    });
    expect(await countsOf(rig)).toEqual([1, 1]);
    // The browser is known from then on, so that they do not get in its way.
    await browser.authorize();
  });
});

test('guesses from all of an IPv6 network wait for one turn, and do not keep a person out of a new browser', async () => {
  const rig = await browserRig(under);
  const person = await newPerson(rig, [rig.here.clientId]);
  const retryAfterAt = async (address: string, password: string): Promise<number> => {
    const browser = new TestBrowser(rig, address);
    await browser.authorize();
    const refused: { retryAfterSeconds?: number } = await browser.signIn(person, { password }).then(
      () => ({}),
      (error: ServiceError) => error,
    );
    return refused.retryAfterSeconds ?? 0;
  };
  for (let subnet = 0; subnet < 60; subnet += 1) {
    await retryAfterAt(`2001:db8:0:${subnet.toString(16)}::1`, 'a wrong guess');
  }
  const turnMs = 1_000 * (await retryAfterAt('198.51.100.7', PASSWORD));
  expect(turnMs).toBeLessThan(TURNS.maxSpacingMs);
});

test('a sign-in in a new browser changes nothing for strangers, who would learn from it that the person exists', async () => {
  const rig = await browserRig(under);
  const person = await newPerson(rig, [rig.here.clientId]);
  const outcomes = async (email: string) => {
    const outcome: unknown[] = [];
    for (let time = 0; time < TURNS.free + 3; time += 1) {
      const stranger = new TestBrowser(rig, `203.0.113.${time}`);
      await stranger.authorize();
      const guessed = await stranger.signIn({ email }, { password: 'a wrong guess' }).then(
        () => 'looked at',
        (error: ServiceError) => error.retryAfterSeconds,
      );
      outcome.push(guessed);
      if (time === 4 && email === person.email) {
        const owner = new TestBrowser(rig, '198.51.100.7');
        await owner.authorize();
        codeOf(await owner.signIn(person));
      }
    }
    return outcome;
  };
  expect(await outcomes(person.email)).toEqual(await outcomes('nobody@example.com'));
});

describe('a guess in a browser that chose its id', () => {
  test.each([
    ['a network', () => '2001:db8:0::/48'],
    ['an account', ({ accountId }: Person) => accountId],
    ['an account at a network', ({ accountId }: Person) => `${accountId} at 2001:db8:0::/48`],
    ['the links of an account', ({ accountId }: Person) => `links of ${accountId}`],
  ])('does not count for %s of this name', async (_, nameOf) => {
    const rig = await browserRig(under);
    const [person, other] = [
      await newPerson(rig, [rig.here.clientId]),
      await newPerson(rig, [rig.here.clientId]),
    ];
    const browser = new TestBrowser(rig);
    browser.device = nameOf(other);
    await browser.authorize();
    await browser.signIn(person);
    await browser.authorize({ prompt: 'login' });
    const take = jest.spyOn(rig.signOn.guesses, 'take');
    await browser.signIn(person, { password: 'a wrong guess' });
    expect(take.mock.calls.flat()).toEqual([
      `browser ${nameOf(other)}`,
      `${person.accountId} at 192.0.2.7`,
      person.accountId,
    ]);
  });
});

describe('guesses beyond what a network may send in a minute', () => {
  test('are refused without a transaction, and those of other networks and of known browsers are not', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const known = new TestBrowser(rig);
    await known.authorize();
    expect(codeOf(await known.signIn(person))).toBeDefined();
    rig.signOn.guesses = new RateLimiter({ limit: 1, windowMs: 60_000 }, rig.clock.now);
    const stranger = new TestBrowser(rig);
    await stranger.authorize();
    await stranger.signIn(person, { password: 'a wrong guess' });
    const { unitOfWork } = rig.signOn;
    rig.signOn.unitOfWork = { ...unitOfWork, run: () => Promise.reject(new Error('a transaction')) };
    await expect(stranger.signIn(person)).rejects.toMatchObject({
      code: ErrorCode.RATE_LIMITED,
      retryAfterSeconds: 60,
    });
    rig.signOn.unitOfWork = unitOfWork;
    await known.authorize({ prompt: 'login' });
    expect(codeOf(await known.signIn(person))).toBeDefined();
    const elsewhere = new TestBrowser(rig, '203.0.113.9');
    await elsewhere.authorize();
    expect(codeOf(await elsewhere.signIn(person))).toBeDefined();
  });
});

test('guesses in a known browser, and no others, have a place in a full queue of checks', async () => {
  const rig = await browserRig(under);
  const person = await newPerson(rig, [rig.here.clientId]);
  const known = await signedInBrowser(rig, person);
  const verify = jest.spyOn(rig.signOn.passwords, 'verify');
  for (const browser of [known, new TestBrowser(rig)]) {
    await browser.authorize({ prompt: 'login' });
    await browser.signIn(person, { password: 'a wrong guess' });
  }
  expect(verify.mock.calls.map(([, , , isKnownBrowser]) => isKnownBrowser)).toEqual([true, false]);
});

describe('guesses in browsers that are known to one person', () => {
  /** Two known browsers at the sign-in page, and so many guesses a minute. */
  async function knownBrowsers(limit: number) {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browsers = [await signedInBrowser(rig, person), await signedInBrowser(rig, person)] as const;
    for (const browser of browsers) {
      await browser.authorize({ prompt: 'login' });
    }
    rig.signOn.guesses = new RateLimiter({ limit, windowMs: 60_000 }, rig.clock.now);
    rig.passwords.checks = [];
    const refused: unknown[] = [];
    const guess = (browser: TestBrowser) =>
      browser.signIn(person, { password: 'a wrong guess' }).catch((error: unknown) => refused.push(error));
    const elsewhere = ({ cookie, device, at }: TestBrowser) =>
      Object.assign(new TestBrowser(rig, '203.0.113.66'), { cookie, device, at });
    return { rig, person, browsers, refused, guess, elsewhere };
  }

  test('are limited for all these browsers together, of which a person can make any number', async () => {
    const limit = TURNS.free + 5;
    const { rig, person, browsers, refused, guess } = await knownBrowsers(limit);
    for (const browser of browsers) {
      for (let time = 0; time < TURNS.free; time += 1) {
        await guess(browser);
      }
    }
    expect(rig.passwords.checks).toHaveLength(limit);
    expect(refused).toHaveLength(2 * TURNS.free - limit);
    expect(refused[0]).toMatchObject({ code: ErrorCode.RATE_LIMITED, retryAfterSeconds: 60 });
    const elsewhere = new TestBrowser(rig, '203.0.113.9');
    await elsewhere.authorize();
    expect(codeOf(await elsewhere.signIn(person))).toBeDefined();
  });

  test('that come too early count for their browser alone, and keep the person out of no other', async () => {
    const limit = TURNS.free + 5;
    const { person, browsers, refused, guess, elsewhere } = await knownBrowsers(limit);
    const [known, own] = browsers;
    const stolen = elsewhere(known);
    for (let time = 0; time < limit; time += 1) {
      await guess(stolen);
    }
    expect(refused).toHaveLength(limit - TURNS.free);
    expect(codeOf(await own.signIn(person))).toBeDefined();
  });

  test('open no write beyond the limit of the person at one network, and are possible from others', async () => {
    const limit = TURNS.free + 1;
    const { rig, person, browsers, refused, guess, elsewhere } = await knownBrowsers(limit);
    const [one, other] = browsers;
    for (let time = 0; time < limit; time += 1) {
      await guess(one);
    }
    expect(refused).toHaveLength(limit - TURNS.free);
    const { unitOfWork } = rig.signOn;
    rig.signOn.unitOfWork = { ...unitOfWork, run: () => Promise.reject(new Error('a transaction')) };
    await expect(other.signIn(person)).rejects.toMatchObject({ code: ErrorCode.RATE_LIMITED });
    rig.signOn.unitOfWork = unitOfWork;
    expect(codeOf(await elsewhere(other).signIn(person))).toBeDefined();
  });
});

describe('what is asked of the store', () => {
  test('is as much for an unknown address', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const { rows } = rig.signOn.unitOfWork;
    const { find } = rows.passwords;
    let asked = 0;
    rows.passwords.find = (accountId) => {
      asked += 1;
      return find(accountId);
    };
    for (const { email } of [person, { email: 'nobody@example.com' }]) {
      const browser = new TestBrowser(rig);
      await browser.authorize();
      asked = 0;
      await browser.signIn({ email }, { password: 'a wrong guess' });
      expect(asked).toBe(1);
    }
  });

  test('is never to keep what was typed as an address and is none', async () => {
    const rig = await browserRig(under);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    await browser.signIn({ email: 'correct horse battery' }, { password: 'a wrong guess' });
    const kept = rig.signOn.interactionSeals.open(browser.at);
    expect(kept?.progress).toEqual({ refusal: 'no_address', refusedEmail: '' });
    expect(await browser.show('sign_in')).toMatchObject({ email: '' });
  });
});
