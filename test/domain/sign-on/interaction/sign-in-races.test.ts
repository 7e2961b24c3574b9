import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { makeLink } from '../../../../src/domain/credentials/links.js';
import { disableAccount } from '../../../../src/domain/platform/people/account-updates.js';
import { redeemPasswordLink } from '../../../../src/domain/sign-on/interaction/links.js';
import type { BrowserStep } from '../../../../src/domain/sign-on/sessions/browser.js';
import { ServiceError } from '../../../../src/errors/service-error.js';
import { storedHash } from '../../../../src/identifiers/random-secrets.js';
import { databaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { audited, type BrowserRig, browserRig, newPerson, type Person } from '../browser-rig.js';
import { codeOf, TestBrowser } from '../test-browser.js';

const TIMES = 20;

function hasCode(step: BrowserStep): boolean {
  return step.kind === 'redirect' && step.location.includes('code=');
}

async function rowsIn({ database }: BrowserRig, table: 'authorization_codes' | 'events' | 'consents') {
  return database.reader.selectFrom(table).selectAll().execute();
}

async function activations(rig: BrowserRig): Promise<number> {
  const events = (await rowsIn(rig, 'events')) as { type: string }[];
  return events.filter(({ type }) => type === 'user.updated').length;
}

describeEachDatabase('what is sent many times at once', (under) => {
  async function atSignIn(): Promise<{ rig: BrowserRig; person: Person; browser: TestBrowser }> {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    return { rig, person, browser };
  }

  /** Several tabs, which share the present cookie. */
  function tabs(rig: BrowserRig, { cookie, at }: TestBrowser, count: number): TestBrowser[] {
    return Array.from({ length: count }, () => Object.assign(new TestBrowser(rig), { cookie, at }));
  }

  test('one sign-in form gives one code, activates once, and every answer leads onward', async () => {
    const { rig, person, browser } = await atSignIn();
    const csrfToken = await browser.csrfToken('sign_in');
    const many = tabs(rig, browser, 9);
    const steps = await Promise.all(many.map((tab) => tab.signIn(person, { csrfToken })));
    expect(steps.filter(hasCode)).toHaveLength(1);
    expect(await rowsIn(rig, 'authorization_codes')).toHaveLength(1);
    expect(await activations(rig)).toBe(1);
    for (const step of steps.filter((one) => !hasCode(one))) {
      expect(step).toMatchObject({ errorPage: { kind: 'stale', continueUrl: expect.any(String) } });
    }
    // Whichever answer the browser keeps, the person is signed in by it, or by one that came after it.
    const signedIn = await Promise.all(many.map((tab) => tab.authorize({ prompt: 'none' })));
    expect(signedIn.filter(hasCode).length).toBeGreaterThanOrEqual(1);
  });

  test('one approval gives one code', async () => {
    const { rig, person, browser } = await atSignIn();
    await browser.signIn(person);
    const clientId = await rig.newApplication({ firstParty: false });
    await browser.authorize({ clientId });
    const csrfToken = await browser.csrfToken('consent');
    const steps = await Promise.all(tabs(rig, browser, TIMES).map((tab) => tab.decide(true, csrfToken)));
    expect(steps.filter(hasCode)).toHaveLength(1);
    expect(await rowsIn(rig, 'consents')).toHaveLength(1);
    const given = (await audited(rig)).filter(({ what }) => what === 'consent.given succeeded');
    expect(given).toHaveLength(1);
    expect(await rowsIn(rig, 'authorization_codes')).toHaveLength(2);
  });

  test('one page that waits for nothing any more gives one code', async () => {
    const { rig, person, browser } = await atSignIn();
    const waiting = browser.at;
    await browser.authorize();
    await browser.signIn(person);
    const shown = await Promise.all(tabs(rig, browser, TIMES).map((tab) => tab.show('sign_in', waiting)));
    expect(shown.filter((one) => one.kind === 'step' && hasCode(one.step))).toHaveLength(1);
    expect(await rowsIn(rig, 'authorization_codes')).toHaveLength(2);
  });

  test('guesses pass no limit together', async () => {
    const { rig, person, browser } = await atSignIn();
    const csrfToken = await browser.csrfToken('sign_in');
    const guesses = await Promise.allSettled(
      tabs(rig, browser, TIMES).map((tab) => tab.signIn(person, { csrfToken, password: 'a wrong guess' })),
    );
    const stopped = guesses.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(stopped).toHaveLength(TIMES - 10);
    expect(stopped.every(({ reason }) => reason instanceof ServiceError)).toBe(true);
    expect(rig.passwords.checks).toHaveLength(10);
  });

  test('one link sets one password', async () => {
    const { rig, person } = await atSignIn();
    const { token } = await rig.run((changes) =>
      makeLink(
        changes,
        { id: person.accountId, email: person.email },
        { purpose: 'reset', lifetimeSeconds: undefined },
      ),
    );
    const steps = await Promise.all(
      Array.from({ length: TIMES }, (_, time) =>
        redeemPasswordLink(rig.signOn, new TestBrowser(rig).browser, {
          tokenHash: storedHash(token),
          password: `quiet harbour ${time}`,
        }),
      ),
    );
    const winners = steps.flatMap((step, time) => (step.kind === 'page' ? [time] : []));
    expect(winners).toHaveLength(1);
    expect(await rig.signOn.unitOfWork.rows.passwords.find(person.accountId)).toMatchObject({
      hash: `hash of quiet harbour ${winners[0]}`,
    });
  });

  test('authorizations under single sign-on activate once, and none outlives the account', async () => {
    const { rig, person, browser } = await atSignIn();
    const { accountId } = person;
    await browser.signIn(person);
    await rig.database.write((writer) => writer.updateTable('users').set({ status: 'INVITED' }).execute());
    const [steps] = await Promise.all([
      Promise.all(tabs(rig, browser, TIMES).map((tab) => tab.authorize({ prompt: 'none' }))),
      rig.run((changes) => disableAccount(changes, accountId)),
    ]);
    const codes = (await rowsIn(rig, 'authorization_codes')) as { status: string }[];
    expect(codes).toHaveLength(1 + steps.filter(hasCode).length);
    expect(codes.filter(({ status }) => status !== 'EXPIRED')).toEqual([]);
    // Once by the sign-in, and once more if any of them came before the end.
    expect(await activations(rig)).toBe(steps.some(hasCode) ? 2 : 1);
    const late = await browser.authorize({ prompt: 'none' });
    expect(late).toMatchObject({ location: expect.stringContaining('error=login_required') });
  });
});

const onPostgres = databaseUnderTest('PostgreSQL');

test('a sign-in that waits for a write about its client keeps no one else of its network waiting', async () => {
  const rig = await browserRig(onPostgres);
  // A first sign-in activates the person, which waits for other writes about the client.
  const [invited, colleague] = [
    await newPerson(rig, [rig.here.clientId]),
    await newPerson(rig, [rig.here.clientId]),
  ];
  const [browser, other] = [new TestBrowser(rig), new TestBrowser(rig)];
  await browser.authorize();
  await other.authorize();
  const { reader } = rig.database;
  const waiting = sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  const { signingIn } = await rig.run(async (changes) => {
    await changes.lock(rig.here.clientId);
    const step = browser.signIn(invited);
    step.catch(() => undefined);
    await eventually('the sign-in waits', async () => (await waiting.execute(reader)).rows.length > 0);
    await expect(other.signIn(colleague, { password: 'a wrong guess' })).resolves.toMatchObject({
      kind: 'page',
    });
    // Wrapped, or the transaction would wait for what waits for it.
    return { signingIn: step };
  });
  codeOf(await signingIn);
});
