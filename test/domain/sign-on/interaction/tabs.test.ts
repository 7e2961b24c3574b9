import { describe, expect, test } from '@jest/globals';
import type { Shown } from '../../../../src/domain/sign-on/interaction/show-interaction.js';
import type { BrowserStep } from '../../../../src/domain/sign-on/sessions/browser.js';
import { storedHash } from '../../../../src/identifiers/random-secrets.js';
import { databaseUnderTest } from '../../../support/databases.js';
import {
  AFTER_LOGOUT,
  type BrowserRig,
  browserRig,
  HOUR_MS,
  hire,
  newPerson,
  signedInBefore,
} from '../browser-rig.js';
import { answerOf, codeOf, errorPageOf, signedInBrowser, TestBrowser } from '../test-browser.js';
import { ISSUER } from '../token-keys.js';

const under = databaseUnderTest('SQLite');

async function atSignIn() {
  const rig = await browserRig(under);
  const person = await newPerson(rig, [rig.here.clientId]);
  await signedInBefore(rig, person, rig.here.clientId);
  const browser = new TestBrowser(rig);
  await browser.authorize({ nonce: 'n-1' });
  return { rig, person, browser };
}

function stepOf(shown: Shown) {
  if (shown.kind !== 'step') {
    throw new Error(`A page is shown: ${JSON.stringify(shown)}`);
  }
  return shown.step;
}

/** Takes the way onward that an error page offers. */
async function continueAt(browser: TestBrowser, url: string | undefined) {
  const { pathname, searchParams } = new URL(url ?? '', 'https://sign-on.example.com');
  expect(pathname).toBe('/auth/authorize');
  const asked = (name: string) => searchParams.get(name) ?? undefined;
  return browser.authorize({
    clientId: asked('client_id'),
    redirectUri: asked('redirect_uri'),
    scope: asked('scope'),
    state: asked('state'),
    nonce: asked('nonce'),
  });
}

/** A person at the page of consent, and another who uses the same browser. */
async function askedToConsent() {
  const { rig, person, browser } = await atSignIn();
  const clientId = await rig.newApplication({ firstParty: false });
  const other = await newPerson(rig, [rig.here.clientId]);
  await browser.signIn(person);
  await browser.authorize({ clientId });
  const csrfToken = await browser.csrfToken('consent');
  return { rig, other, browser, clientId, csrfToken, consenting: browser.at };
}

/** A sign-in form from before the sign-in of a person, who is now at a page in another tab. */
async function openForm(waitingAt: 'choose_context' | 'consent') {
  const { rig, person, browser } = await atSignIn();
  const clientId = await rig.newApplication({ firstParty: waitingAt === 'choose_context' });
  if (waitingAt === 'choose_context') {
    await hire(rig, person, rig.here.clientId);
  }
  await browser.authorize({ clientId });
  const open = { interaction: browser.at, csrfToken: await browser.csrfToken('sign_in') };
  await browser.authorize({ clientId });
  expect(await browser.signIn(person)).toMatchObject({ page: waitingAt });
  return { rig, person, browser, open };
}

describe('an expired page leads onward', () => {
  test('when it was answered already and is come back to', async () => {
    const { person, browser } = await atSignIn();
    const { at } = browser;
    const csrfToken = await browser.csrfToken('sign_in');
    codeOf(await browser.signIn(person));
    const shown = errorPageOf(stepOf(await browser.show('sign_in', at)));
    expect(shown.kind).toBe('stale');
    codeOf(await continueAt(browser, shown.continueUrl));
    const again = errorPageOf(await browser.signIn(person, { csrfToken, interaction: at }));
    codeOf(await continueAt(browser, again.continueUrl));
  });

  test('when it was open for too long', async () => {
    const { rig, person, browser } = await atSignIn();
    const csrfToken = await browser.csrfToken('sign_in');
    rig.clock.advance(HOUR_MS);
    const page = errorPageOf(await browser.signIn(person, { csrfToken }));
    expect(page.kind).toBe('stale');
    expect(await continueAt(browser, page.continueUrl)).toMatchObject({ page: 'sign_in' });
  });

  test.each(['a browser', 'a browser that has signed in since', 'another browser'])(
    'when it was bookmarked, to the application and not to a request that is forgotten: in %s',
    async (where) => {
      const { rig, person, browser } = await atSignIn();
      const csrfToken = await browser.csrfToken('sign_in');
      const { at } = browser;
      if (where === 'a browser that has signed in since') {
        await browser.authorize();
        codeOf(await browser.signIn(person));
      }
      const visitor = where === 'another browser' ? new TestBrowser(rig) : browser;
      rig.clock.advance(2 * HOUR_MS - 1);
      expect(errorPageOf(stepOf(await visitor.show('sign_in', at)))).toHaveProperty('continueUrl');
      rig.clock.advance(1);
      const long = { kind: 'stale', message: expect.stringContaining('Open your application') };
      expect(errorPageOf(stepOf(await visitor.show('sign_in', at)))).toEqual(long);
      expect(errorPageOf(await visitor.signIn(person, { interaction: at, csrfToken }))).toEqual(long);
    },
  );

  test('when it is another browser’s, without effect on that session', async () => {
    const { rig, person, browser } = await atSignIn();
    const csrfToken = await browser.csrfToken('sign_in');
    const other = new TestBrowser(rig);
    await other.authorize();
    const cookie = other.cookie;
    const form = { csrfToken, interaction: browser.at };
    const page = errorPageOf(await other.signIn(person, form));
    expect(page).toMatchObject({ kind: 'stale', continueUrl: expect.stringContaining('nonce=n-1') });
    expect(errorPageOf(stepOf(await new TestBrowser(rig).show('sign_in', browser.at))).kind).toBe('stale');
    expect([other.cookie, rig.passwords.checks]).toEqual([cookie, []]);
    codeOf(await browser.signIn(person, form));
  });

  test.each([
    ['answered', true],
    ['open', false],
  ])('when it is another browser’s, which hears nothing of the person: %s', async (_, isAnswered) => {
    const { rig, person, browser } = await atSignIn();
    const other = new TestBrowser(rig);
    await other.authorize();
    await browser.authorize({
      loginHint: person.email,
      claims: JSON.stringify({ id_token: { sub: { value: person.accountId } } }),
      idTokenHint: await rig.keys.sign('RS256', 'JWT', {
        iss: ISSUER,
        sub: person.accountId,
        aud: rig.applicationId,
        iat: 1,
      }),
      claimsLocales: 'de',
    });
    if (isAnswered) {
      codeOf(await browser.signIn(person));
    }
    const { continueUrl } = errorPageOf(stepOf(await other.show('sign_in', browser.at)));
    const { searchParams } = new URL(continueUrl ?? '', ISSUER);
    expect([...searchParams.keys()]).toEqual([
      'response_type',
      'client_id',
      'redirect_uri',
      'scope',
      'state',
      'claims_locales',
    ]);
    expect(await continueAt(other, continueUrl)).toMatchObject({ page: 'sign_in' });
  });

  test('when it was a sign-out, after another person signed in', async () => {
    const { rig, person } = await atSignIn();
    const browser = await signedInBrowser(rig, person);
    await browser.logout({ clientId: rig.applicationId, postLogoutRedirectUri: AFTER_LOGOUT, state: 's' });
    const form = browser.at;
    await browser.confirmLogout();
    await browser.authorize();
    await browser.signIn(person);
    browser.at = form;
    expect(errorPageOf(await browser.confirmLogout('whatever')).continueUrl).toBe('/auth/logout');
  });

  test('when two first visits began at the same time, which the page of one names', async () => {
    const rig = await browserRig(under);
    const [first, second] = [new TestBrowser(rig), new TestBrowser(rig)];
    await first.authorize({ nonce: 'n-1' });
    await second.authorize();
    // The tabs share the cookie that came last.
    first.cookie = second.cookie;
    const { message, continueUrl } = errorPageOf(stepOf(await first.show('sign_in')));
    expect(message).toContain('together with another page');
    expect(await continueAt(first, continueUrl)).toMatchObject({ page: 'sign_in' });
  });

  test('when the browser keeps back cookies, which it then speaks of', async () => {
    const { rig, browser } = await atSignIn();
    const { message } = errorPageOf(stepOf(await new TestBrowser(rig).show('sign_in', browser.at)));
    expect(message).toMatch(/cookies, which are needed/);
    const other = new TestBrowser(rig);
    await other.authorize();
    expect(errorPageOf(stepOf(await other.show('sign_in', browser.at))).message).not.toMatch(/cookies/);
  });

  test.each(['', 'nonsense', '\u0000', '../../etc', '__proto__', 'a'.repeat(5_000)])(
    'when it is unknown: %j',
    async (interaction) => {
      const { browser } = await atSignIn();
      const page = errorPageOf(stepOf(await browser.show('sign_in', interaction)));
      expect(page).toEqual({ kind: 'stale', message: expect.stringMatching(/Go back to the application/) });
    },
  );
});

describe('a second tab', () => {
  test('continues with the sign-in that the first one made', async () => {
    const { person, browser } = await atSignIn();
    const first = browser.at;
    await browser.authorize({ state: 'state-2' });
    const second = browser.at;
    codeOf(await browser.signIn(person, { interaction: first }));
    const step = stepOf(await browser.show('sign_in', second));
    codeOf(step);
    expect(step).toMatchObject({ location: expect.stringContaining('state=state-2') });
  });

  test('with a form from before the sign-in leads its person to the page that is needed now', async () => {
    const { rig, person, browser } = await atSignIn();
    await hire(rig, person, rig.here.clientId);
    const first = browser.at;
    const stale = await browser.csrfToken('sign_in');
    await browser.authorize();
    await browser.signIn(person);
    const step = await browser.signIn(person, { interaction: first, csrfToken: stale });
    expect(step).toEqual({ kind: 'page', page: 'choose_context', interaction: first });
    expect(rig.passwords.checks).toHaveLength(1);
  });

  test('signs another person in, and neither tab gets a code for the other', async () => {
    const { rig, other, browser, csrfToken, consenting } = await askedToConsent();
    await browser.authorize({ prompt: 'login' });
    await browser.signIn(other);
    browser.at = consenting;
    expect(await browser.decide(true, csrfToken)).toMatchObject({ page: 'sign_in' });
    expect(await browser.show('sign_in')).toMatchObject(SAYS_WHY);
    expect(await approvals(rig)).toBe(0);
  });
});

const SAYS_WHY = {
  kind: 'sign_in',
  refusals: [{ input: '', message: expect.stringMatching(/^Someone has signed in with this browser since/) }],
};

const whose = async ({ signOn }: BrowserRig, step: BrowserStep) =>
  (await signOn.unitOfWork.rows.codes.find(storedHash(codeOf(step))))?.accountId;

describe('of two sign-in pages of a browser without a session', () => {
  /** The forms of both tabs; the sign-in happens in one of them, the other one is still open. */
  async function twoForms(signedInAt: 'first' | 'second') {
    const { rig, person, browser } = await atSignIn();
    const first = { interaction: browser.at, csrfToken: await browser.csrfToken('sign_in') };
    await browser.authorize();
    const second = { interaction: browser.at, csrfToken: await browser.csrfToken('sign_in') };
    const [used, open] = signedInAt === 'first' ? [first, second] : [second, first];
    codeOf(await browser.signIn(person, used));
    const other = await newPerson(rig, [rig.here.clientId]);
    return { rig, person, other, browser, open };
  }

  test.each(['first', 'second'] as const)(
    'the other one signs in whom its form names, once asked again: %s',
    async (signedInAt) => {
      const { rig, other, browser, open } = await twoForms(signedInAt);
      expect(await browser.signIn(other, open)).toMatchObject({ kind: 'page', page: 'sign_in' });
      expect(rig.passwords.checks).toHaveLength(1);
      expect(await browser.show('sign_in')).toMatchObject(SAYS_WHY);
      expect(await whose(rig, await browser.signIn(other))).toBe(other.accountId);
      expect(errorPageOf(await browser.signIn(other, open)).message).toContain('answered already');
    },
  );

  test.each(['login', 'select_account'])('the other one says so where it asks anyway: %s', async (prompt) => {
    const { rig, person, browser } = await atSignIn();
    const open = { interaction: browser.at, csrfToken: await browser.csrfToken('sign_in') };
    await browser.authorize({ prompt });
    const asking = { interaction: browser.at, csrfToken: await browser.csrfToken('sign_in') };
    const other = await newPerson(rig, [rig.here.clientId]);
    await browser.signIn(other, { ...asking, password: 'wrong' });
    asking.interaction = browser.at;
    codeOf(await browser.signIn(person, open));
    expect(await browser.signIn(other, asking)).toMatchObject({ page: 'sign_in' });
    expect(await browser.show('sign_in')).toMatchObject(SAYS_WHY);
    expect(await whose(rig, await browser.signIn(other))).toBe(other.accountId);
  });

  test('the other one goes on for the same person, however the address is written', async () => {
    const { rig, person, browser, open } = await twoForms('first');
    const email = person.email.toUpperCase();
    expect(await browser.signIn({ email }, open)).toMatchObject({ page: 'sign_in' });
    expect(await whose(rig, stepOf(await browser.show('sign_in')))).toBe(person.accountId);
  });

  test.each(['first', 'second'] as const)(
    'the other one cancels, once asked again: %s',
    async (signedInAt) => {
      const { browser, open } = await twoForms(signedInAt);
      browser.at = open.interaction;
      expect(await browser.cancel(open.csrfToken)).toMatchObject({ kind: 'page', page: 'sign_in' });
      expect(answerOf(await browser.cancel())).toMatchObject({ error: 'access_denied' });
    },
  );
});

describe('a person who is asked for the password in two tabs', () => {
  /** At the consent page in the first tab, after a sign-in in the second. */
  async function signedInTwice() {
    const { rig, person, browser } = await atSignIn();
    const clientId = await rig.newApplication({ firstParty: false });
    await hire(rig, person, rig.here.clientId);
    await browser.authorize({ clientId, prompt: 'login' });
    await browser.signIn(person);
    expect(await browser.choose({ userType: 'USER', ...rig.here })).toMatchObject({ page: 'consent' });
    const first = { interaction: browser.at, csrfToken: await browser.csrfToken('consent') };
    rig.clock.advance(1_000);
    await browser.authorize({ clientId, prompt: 'login' });
    await browser.signIn(person);
    browser.at = first.interaction;
    return { rig, person, browser, first };
  }

  test('is not asked for it again in the first tab, but for the role, which the second sign-in may change', async () => {
    const { rig, person, browser, first } = await signedInTwice();
    expect(await browser.decide(true, first.csrfToken)).toMatchObject({ page: 'choose_context' });
    expect(await browser.choose({ userType: 'USER', ...rig.here })).toMatchObject({ page: 'consent' });
    expect(await whose(rig, await browser.decide(true))).toBe(person.accountId);
  });

  test('denies the consent in the first tab at once', async () => {
    const { browser, first } = await signedInTwice();
    expect(answerOf(await browser.decide(false, first.csrfToken))).toMatchObject({ error: 'access_denied' });
  });

  test('is asked for it again where another person signed in in between', async () => {
    const { rig, browser, first } = await signedInTwice();
    await browser.authorize({ prompt: 'login' });
    await browser.signIn(await newPerson(rig, [rig.here.clientId]));
    browser.at = first.interaction;
    expect(await browser.decide(false, first.csrfToken)).toMatchObject({ page: 'sign_in' });
    expect(await browser.show('sign_in')).toMatchObject(SAYS_WHY);
  });
});

describe.each(['choose_context', 'consent'] as const)('while a person is at %s', (page) => {
  test('the sign-in form of another person leads to no page of theirs', async () => {
    const { rig, browser, open } = await openForm(page);
    const other = await newPerson(rig, [rig.here.clientId]);
    expect(await browser.signIn(other, open)).toMatchObject({ kind: 'page', page: 'sign_in' });
    expect(await browser.show('sign_in')).toMatchObject(SAYS_WHY);
    const step = await browser.signIn(other);
    if (page === 'choose_context') {
      expect(await whose(rig, step)).toBe(other.accountId);
    } else {
      expect(await browser.show('consent')).toMatchObject({ accountEmail: other.email });
      expect(await whose(rig, await browser.decide(true))).toBe(other.accountId);
    }
  });

  test('their own sign-in form leads there, and their Cancel asks for the sign-in first', async () => {
    const { person, browser, open } = await openForm(page);
    expect(await browser.signIn(person, open)).toEqual({ kind: 'page', page, interaction: open.interaction });
    browser.at = open.interaction;
    expect(await browser.cancel(open.csrfToken)).toMatchObject({ page: 'sign_in' });
    expect(await browser.show('sign_in')).toMatchObject(SAYS_WHY);
    expect(answerOf(await browser.cancel())).toMatchObject({ error: 'access_denied' });
  });
});

describe('a form', () => {
  test.each([true, false])(
    'to consent of a person before gives no code of another: %j',
    async (isApproved) => {
      const { other, browser, clientId, csrfToken, consenting } = await askedToConsent();
      await browser.authorize({ clientId, prompt: 'login' });
      await browser.signIn(other);
      codeOf(await browser.decide(true));
      browser.at = consenting;
      expect(await browser.decide(isApproved, csrfToken)).toMatchObject({ page: 'sign_in' });
      expect(await browser.show('sign_in')).toMatchObject(SAYS_WHY);
    },
  );

  test.each(['', 'nonsense', '__proto__'])(
    'without the token it was shown with does nothing: %j',
    async (token) => {
      const { rig, person, browser } = await atSignIn();
      expect(await browser.signIn(person, { csrfToken: token })).toEqual({
        kind: 'page',
        page: 'sign_in',
        interaction: browser.at,
      });
      expect(rig.passwords.checks).toEqual([]);
    },
  );

  test('of one interaction is refused for another', async () => {
    const { rig, person, browser } = await atSignIn();
    const csrfToken = await browser.csrfToken('sign_in');
    await browser.authorize();
    expect(await browser.signIn(person, { csrfToken })).toMatchObject({ kind: 'page', page: 'sign_in' });
    expect(rig.passwords.checks).toEqual([]);
  });

  test('of a page that is not reached yet is led to the one that is', async () => {
    const { rig, browser } = await atSignIn();
    const csrfToken = await browser.csrfToken('sign_in');
    expect(await browser.decide(true, csrfToken)).toMatchObject({ page: 'sign_in' });
    expect(await browser.choose({ userType: 'USER', clientId: rig.here.clientId }, csrfToken)).toMatchObject({
      page: 'sign_in',
    });
    expect(await browser.confirmLogout(csrfToken)).toMatchObject({ page: 'sign_in' });
    expect(stepOf(await browser.show('consent'))).toMatchObject({ page: 'sign_in' });
    expect(await approvals(rig)).toBe(0);
  });

  test('of a sign-out is led there from everywhere else', async () => {
    const { rig, person } = await atSignIn();
    const browser = await signedInBrowser(rig, person);
    await browser.logout();
    expect(stepOf(await browser.show('consent'))).toMatchObject({ page: 'sign_out' });
    expect(await browser.decide(true, 'x')).toMatchObject({ page: 'sign_out' });
  });
});

async function approvals({ database }: BrowserRig): Promise<number> {
  return (await database.reader.selectFrom('consents').selectAll().execute()).length;
}
