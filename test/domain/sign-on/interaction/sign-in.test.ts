import { describe, expect, test } from '@jest/globals';
import { disableAccount } from '../../../../src/domain/platform/people/account-updates.js';
import { signIn } from '../../../../src/domain/sign-on/interaction/sign-in.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { audited, type BrowserRig, browserRig, newPerson, PASSWORD, type Person } from '../browser-rig.js';
import { recordedCalls } from '../recorded-calls.js';
import { answerOf, codeOf, TestBrowser } from '../test-browser.js';

const under = databaseUnderTest('SQLite');

async function atSignIn(rig: BrowserRig, remoteAddress?: string): Promise<TestBrowser> {
  const browser = new TestBrowser(rig, remoteAddress);
  await browser.authorize();
  return browser;
}

async function retryAfterOf(work: Promise<unknown>): Promise<number | undefined> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServiceError);
  expect((error as ServiceError).code).toBe(ErrorCode.RATE_LIMITED);
  return (error as ServiceError).retryAfterSeconds;
}

/** As often as it is said, with a password that is wrong. */
async function guess(browser: TestBrowser, person: { email: string }, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    expect(await browser.signIn(person, { password: 'a wrong guess' })).toMatchObject({ page: 'sign_in' });
  }
}

describe('a sign-in', () => {
  test('gives the browser another cookie, and the old one is worth nothing', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = await atSignIn(rig);
    const attacker = new TestBrowser(rig);
    attacker.cookie = browser.cookie;
    expect(codeOf(await browser.signIn(person))).toBeDefined();
    expect(browser.cookie).not.toBe(attacker.cookie);
    expect(await attacker.authorize()).toMatchObject({ page: 'sign_in' });
    expect(answerOf(await attacker.authorize({ prompt: 'none' }))).toMatchObject({ error: 'login_required' });
  });

  test('takes the address in any case and with blanks around it', async () => {
    const rig = await browserRig(under);
    const { email } = await newPerson(rig, [rig.here.clientId]);
    const browser = await atSignIn(rig);
    expect(codeOf(await browser.signIn({ email: ` ${email.toUpperCase()} ` }))).toBeDefined();
  });

  test('is recorded with the beginning of what the browser says of itself, as one line', async () => {
    const rig = await browserRig(under);
    const browser = await atSignIn(rig);
    const csrfToken = await browser.csrfToken('sign_in');
    const sent = { ...browser.browser, userAgent: `Test\n${'a'.repeat(300)}` };
    const form = { ...(await member(rig)), password: PASSWORD, csrfToken, interaction: browser.at };
    await signIn(rig.signOn, sent, form);
    const agents = (await audited(rig)).map(({ attributes }) => attributes.user_agent);
    expect(new Set(agents)).toEqual(new Set([`Test ${'a'.repeat(251)}`]));
  });

  test('is recorded in the audit log with ids only', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = await atSignIn(rig);
    await guess(browser, { email: 'a-stranger@example.com' }, 1);
    rig.clock.advance(1);
    await guess(browser, person, 1);
    rig.clock.advance(1);
    await browser.signIn(person);
    const events = await audited(rig);
    expect(events.map(({ what, actor, subject }) => [what, actor, subject])).toEqual([
      ['sign_in refused', rig.applicationId, rig.applicationId],
      ['sign_in refused', rig.applicationId, person.accountId],
      ['code.issued succeeded', person.accountId, rig.applicationId],
      ['sign_in succeeded', person.accountId, person.accountId],
    ]);
    expect(JSON.stringify(events)).not.toMatch(/@|wrong guess|harbour/);
  });
});

describe('a refused sign-in', () => {
  type Case = (rig: BrowserRig) => Promise<{ email: string; password?: string }>;
  const cases: [string, boolean, Case][] = [
    ['a wrong password', true, async (rig) => ({ ...(await member(rig)), password: 'a wrong guess' })],
    ['an unknown address', false, async () => ({ email: 'nobody@example.com' })],
    ['no password', true, async (rig) => ({ ...(await member(rig)), password: '' })],
    [
      'a person who never set a password',
      false,
      async (rig) => {
        const person = await newPerson(rig, [rig.here.clientId]);
        await rig.database.write((writer) => writer.deleteFrom('passwords').execute());
        return person;
      },
    ],
    ['a disabled person with the right password', false, formerMember],
  ];

  const WRONG = { input: 'password', message: 'The email address or the password is wrong.' };
  const NO_ADDRESS = {
    input: 'email',
    message: 'This is not an email address. It has the form name@example.com.',
  };

  test.each([
    ...cases.map((one) => [...one, WRONG] as const),
    ...[
      'correct horse battery',
      '',
      'nobody\u0000@example.com',
      `${'a'.repeat(400)}@example.com`,
      'a@'.repeat(30_000),
    ].map((email) => [email.slice(0, 30), false, (async () => ({ email })) as Case, NO_ADDRESS] as const),
  ])('looks like every other: %j', async (_, hasHash, prepare, refusal) => {
    const rig = await browserRig(under);
    const attempt = await prepare(rig);
    const browser = await atSignIn(rig);
    const cookie = browser.cookie;
    expect(await browser.signIn(attempt, attempt)).toEqual({
      kind: 'page',
      page: 'sign_in',
      interaction: browser.at,
    });
    expect(browser.cookie).toBe(cookie);
    const shown = await browser.show('sign_in');
    expect(shown).toMatchObject({ refusals: [refusal] });
    // One check in every case, so that all take the same time.
    expect(rig.passwords.checks).toEqual([hasHash]);
  });

  const costs: [string, Case][] = [
    ['the right password of a disabled person', formerMember],
    [
      'a wrong password of a disabled person',
      async (rig) => ({ ...(await formerMember(rig)), password: 'a wrong guess' }),
    ],
    ['an unknown address', async () => ({ email: 'nobody@example.com' })],
    ['no address', async () => ({ email: 'nobody' })],
  ];

  test.each(costs)('reads, locks, counts and writes as for a wrong password: %s', async (_, prepare) => {
    const callsOf = async (prepared: Case) => {
      const rig = await browserRig(under);
      const attempt = await prepared(rig);
      const { signOn, calls } = recordedCalls(rig.signOn);
      const browser = await atSignIn({ ...rig, signOn });
      const csrfToken = await browser.csrfToken('sign_in');
      calls.length = 0;
      await browser.signIn(attempt, { ...attempt, csrfToken });
      return calls;
    };
    const usual = await callsOf(async (rig) => ({ ...(await member(rig)), password: 'a wrong guess' }));
    expect(usual).toContain('passwords.verify');
    expect(await callsOf(prepare)).toEqual(usual);
  });

  test('is checked in the turn of its network', async () => {
    const rig = await browserRig(under);
    const browser = await atSignIn(rig, '2001:db8:1:2::3');
    await browser.signIn({ email: 'someone@example.com' }, { password: 'a wrong guess' });
    expect(rig.passwords.networks).toEqual(['2001:db8:1::/48']);
  });

  test('with a password longer than any can be is not even checked', async () => {
    const rig = await browserRig(under);
    const browser = await atSignIn(rig);
    expect(await browser.signIn(await member(rig), { password: 'p'.repeat(4_097) })).toMatchObject({
      page: 'sign_in',
    });
    expect(rig.passwords.checks).toEqual([]);
  });

  test('keeps the address that was typed, and the right password continues from there', async () => {
    const rig = await browserRig(under);
    const person = await member(rig);
    const browser = new TestBrowser(rig);
    await browser.authorize({ loginHint: 'ada@example.com' });
    expect(await browser.show('sign_in')).toMatchObject({ email: 'ada@example.com', refusals: [] });
    await browser.signIn({ email: 'bda@example.com' });
    expect(await browser.show('sign_in')).toMatchObject({ email: 'bda@example.com' });
    await browser.signIn({ email: 'ada' });
    expect(await browser.show('sign_in')).toMatchObject({ email: '', refusals: [{ input: 'email' }] });
    expect(codeOf(await browser.signIn(person))).toBeDefined();
  });

  test.each([
    [
      'was disabled',
      (rig: BrowserRig, { accountId }: Person) => rig.run((changes) => disableAccount(changes, accountId)),
    ],
    [
      'got another password',
      (rig: BrowserRig, { accountId }: Person) =>
        rig.run((changes) => changes.passwords.set(accountId, 'hash of another', changes.now)),
    ],
  ])('is that of a person who %s while the password was checked', async (_, change) => {
    const rig = await browserRig(under);
    const person = await member(rig);
    const browser = await atSignIn(rig);
    rig.passwords.meanwhile = () => change(rig, person);
    expect(await browser.signIn(person)).toMatchObject({ kind: 'page', page: 'sign_in' });
    expect(await browser.show('sign_in')).toMatchObject({ refusals: [{ input: 'password' }] });
  });
});

describe('guesses', () => {
  test.each(['somebody', 'nobody'])(
    'at %s wait after ten, the right one too, each a little longer',
    async (who) => {
      const rig = await browserRig(under);
      const person = who === 'somebody' ? await member(rig) : { email: 'nobody@example.com' };
      const browser = await atSignIn(rig);
      await guess(browser, person, 10);
      for (const seconds of [2, 4, 6]) {
        expect(await retryAfterOf(browser.signIn(person, { password: 'a wrong guess' }))).toBe(seconds);
        // Asking again neither brings the turn nearer nor moves it away.
        rig.clock.advance(1_000);
        expect(await retryAfterOf(browser.signIn(person))).toBe(seconds - 1);
        rig.clock.advance(seconds * 1_000 - 1_000);
        await guess(browser, person, 1);
      }
      expect(rig.passwords.checks).toHaveLength(13);
    },
  );

  test('of strangers keep no one out of a browser that they have signed in in before, at any address', async () => {
    const rig = await browserRig(under);
    const person = await member(rig);
    const own = await atSignIn(rig, '198.51.100.1');
    codeOf(await own.signIn(person));
    const stranger = await atSignIn(rig, '203.0.113.9');
    await guess(stranger, person, 10);
    await retryAfterOf(stranger.signIn(person));
    // Also from the network of those who guess, and with no session left.
    const elsewhere = await atSignIn(rig, '203.0.113.9');
    elsewhere.device = own.device;
    codeOf(await elsewhere.signIn(person));
  });

  test('of strangers make a person with a new browser wait as long as announced, and no longer', async () => {
    const rig = await browserRig(under);
    const person = await member(rig);
    const strangers: TestBrowser[] = [];
    for (let number = 0; number < 12; number += 1) {
      strangers.push(await atSignIn(rig, `203.0.113.${number}`));
    }
    const guessAll = () =>
      Promise.all(
        strangers.map((one) => one.signIn(person, { password: 'a wrong guess' }).catch(() => undefined)),
      );
    for (let second = 0; second < 60; second += 1) {
      await guessAll();
      rig.clock.advance(1_000);
    }
    const victim = await atSignIn(rig, '198.51.100.1');
    const seconds = (await retryAfterOf(victim.signIn(person))) ?? 0;
    expect(seconds).toBeLessThanOrEqual(15 * 60);
    for (let second = 0; second < seconds; second += 1) {
      await guessAll();
      rig.clock.advance(1_000);
    }
    codeOf(await victim.signIn(person));
  });

  test('of many networks are checked twice a minute at most, once they continue', async () => {
    const rig = await browserRig(under);
    const person = await member(rig);
    const strangers: TestBrowser[] = [];
    for (let number = 0; number < 40; number += 1) {
      strangers.push(await atSignIn(rig, `203.0.113.${number}`));
    }
    const guessFor = async (seconds: number) => {
      const before = rig.passwords.checks.length;
      for (let second = 0; second < seconds; second += 5) {
        await Promise.all(
          strangers.map((one) => one.signIn(person, { password: 'no' }).catch(() => undefined)),
        );
        rig.clock.advance(5_000);
      }
      return rig.passwords.checks.length - before;
    };
    await guessFor(300);
    expect(await guessFor(300)).toBeLessThanOrEqual(11);
  });

  test('in a browser that is known wait too, and make no other browser wait', async () => {
    const rig = await browserRig(under);
    const person = await member(rig);
    const browser = await atSignIn(rig);
    codeOf(await browser.signIn(person));
    await browser.authorize({ prompt: 'login' });
    await guess(browser, person, 10);
    expect(await retryAfterOf(browser.signIn(person))).toBe(2);
    codeOf(await (await atSignIn(rig)).signIn(person));
  });

  test('at one account are forgiven once the password is right', async () => {
    const rig = await browserRig(under);
    const person = await member(rig);
    const browser = await atSignIn(rig);
    await guess(browser, person, 9);
    await browser.signIn(person);
    await browser.authorize({ prompt: 'login' });
    await guess(browser, person, 9);
    expect(codeOf(await browser.signIn(person))).toBeDefined();
  });

  test('from one address are stopped after a hundred, without effect on others', async () => {
    const rig = await browserRig(under);
    const person = await member(rig);
    const browser = await atSignIn(rig, '2001:db8::1');
    for (let time = 0; time < 100; time += 1) {
      await guess(browser, { email: `nobody.${time}@example.com` }, 1);
    }
    const neighbour = await atSignIn(rig, '2001:db8::2');
    for (let time = 0; time < 11; time += 1) {
      await retryAfterOf(neighbour.signIn(person));
    }
    expect(codeOf(await (await atSignIn(rig, '2001:db8:0:1::1')).signIn(person))).toBeDefined();
    const throttled = (await audited(rig)).filter(
      ({ attributes }) => attributes.reason === 'too_many_attempts',
    );
    expect(throttled).toHaveLength(1);
  });
});

function member(rig: BrowserRig): Promise<Person> {
  return newPerson(rig, [rig.here.clientId], PASSWORD);
}

async function formerMember(rig: BrowserRig): Promise<Person> {
  const person = await member(rig);
  await rig.run((changes) => disableAccount(changes, person.accountId));
  return person;
}
