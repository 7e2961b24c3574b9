import { describe, expect, test } from '@jest/globals';
import { RateLimiter } from '../../../../src/domain/access/rate-limiter.js';
import { STRANGER } from '../../../../src/domain/operator/audit.js';
import { createEmailChangeLink } from '../../../../src/domain/platform/people/email-changes.js';
import { updateUser } from '../../../../src/domain/platform/people/user-updates.js';
import { redeemEmailChange } from '../../../../src/domain/sign-on/interaction/email-change.js';
import { TURNS } from '../../../../src/domain/sign-on/sessions/guess-limits.js';
import { RATES } from '../../../../src/domain/sign-on/sign-on.js';
import { storedHash } from '../../../../src/identifiers/random-secrets.js';
import { databaseUnderTest } from '../../../support/databases.js';
import {
  audited,
  type BrowserRig,
  browserRig,
  newPerson,
  OTHER_CALLBACK,
  type Person,
  signedInBefore,
} from '../browser-rig.js';
import { signedInBrowser, TestBrowser } from '../test-browser.js';

const under = databaseUnderTest('SQLite');

/** One wrong password from each of so many networks. */
async function guess(rig: BrowserRig, networks: number): Promise<void> {
  for (let network = 0; network < networks; network += 1) {
    const browser = new TestBrowser(rig, `198.51.100.${network}`);
    await browser.authorize();
    const typed = { email: `nobody.${network}@example.com` };
    expect(await browser.signIn(typed, { password: 'a wrong guess' })).toMatchObject({ page: 'sign_in' });
  }
}

async function refusalsOn(rig: BrowserRig): Promise<string[]> {
  return (await audited(rig)).map(({ what }) => what).filter((what) => what.endsWith('refused'));
}

function allowing(rig: BrowserRig, limit: number): void {
  rig.signOn.refusalRecords = new RateLimiter({ ...RATES.refusalRecords, limit }, rig.clock.now);
}

/** The writes from here on. */
function countingWrites({ signOn }: BrowserRig): () => number {
  const { unitOfWork } = signOn;
  let writes = 0;
  signOn.unitOfWork = {
    ...{ rows: unitOfWork.rows, inOrder: unitOfWork.inOrder },
    run: (...work) => {
      writes += 1;
      return unitOfWork.run(...work);
    },
  };
  return () => writes;
}

/** Each write runs a first time without effect, as after a conflict on PostgreSQL. */
function repeatingWrites({ signOn }: BrowserRig): void {
  const { unitOfWork } = signOn;
  signOn.unitOfWork = {
    ...{ rows: unitOfWork.rows, inOrder: unitOfWork.inOrder },
    run: async (work, ...options) => {
      const conflict = new Error('a conflict');
      const first = unitOfWork.run(
        async (changes) => {
          await work(changes);
          throw conflict;
        },
        ...options,
      );
      await expect(first).rejects.toBe(conflict);
      return unitOfWork.run(work, ...options);
    },
  };
}

/** The link to a new address of the person. */
async function linkOf(rig: BrowserRig, person: Person): Promise<string> {
  const { run, here } = rig;
  await signedInBefore(rig, person, here.clientId);
  const users = await run((changes) => changes.users.ofAccount(person.accountId));
  const userId = users.find(({ clientId }) => clientId === here.clientId)?.id ?? '';
  await run((changes) => updateUser(changes, { userId, email: 'new@example.com' }));
  const backOffice = { type: 'service_token', id: 'tok_backoffice' };
  const wish = { wish: { userId }, lifetimeSeconds: undefined };
  const { token } = await run((changes) => createEmailChangeLink(changes, backOffice, wish));
  return storedHash(token);
}

describe('refused sign-ins of a node', () => {
  test('have 60 records a minute, from all networks together; the others are counted as those of strangers', async () => {
    const rig = await browserRig(under);
    await guess(rig, 65);
    expect(await refusalsOn(rig)).toHaveLength(60);
    const application = { type: 'application', id: rig.applicationId };
    expect(rig.observed).toHaveLength(5);
    expect(rig.observed[4]).toEqual({
      type: 'sign_in',
      outcome: 'refused',
      actor: { ...STRANGER, requestId: 'request-1', remoteAddress: '198.51.100.64' },
      subject: application,
      attributes: { reason: 'credentials', application_id: rig.applicationId },
    });
    rig.clock.advance(RATES.refusalRecords.windowMs);
    await guess(rig, 1);
    expect(await refusalsOn(rig)).toHaveLength(61);
  });

  test('open no write beyond these, apart from that of their guess', async () => {
    const rig = await browserRig(under);
    allowing(rig, 1);
    const writes = countingWrites(rig);
    await guess(rig, 1);
    expect(writes()).toBe(2);
    await guess(rig, 1);
    expect(writes()).toBe(3);
  });

  test('leave the page of an attempt beyond these as it is', async () => {
    const rig = await browserRig(under);
    allowing(rig, 0);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    await browser.signIn({ email: 'ada@example.com' });
    expect(await browser.show('sign_in')).toMatchObject({
      email: 'ada@example.com',
      refusals: [{ message: 'The email address or the password is wrong.' }],
    });
  });

  test('are counted too where there were too many attempts', async () => {
    const rig = await browserRig(under);
    allowing(rig, 0);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    for (let time = 0; time < TURNS.free; time += 1) {
      await browser.signIn({ email: 'nobody@example.com' });
    }
    await expect(browser.signIn({ email: 'nobody@example.com' })).rejects.toThrow('too many attempts');
    expect(await refusalsOn(rig)).toEqual([]);
    expect(rig.observed.at(-1)).toMatchObject({ attributes: { reason: 'too_many_attempts' } });
  });

  test('leave room for a record of too many attempts', async () => {
    const rig = await browserRig(under);
    allowing(rig, 1);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    for (let time = 0; time < TURNS.free; time += 1) {
      await browser.signIn({ email: 'nobody@example.com' });
    }
    await expect(browser.signIn({ email: 'nobody@example.com' })).rejects.toThrow('too many attempts');
    expect(rig.observed).toHaveLength(TURNS.free - 1);
    expect(await refusalsOn(rig)).toHaveLength(2);
  });

  test('are recorded also where the caller leaves after the guess is counted', async () => {
    const rig = await browserRig(under);
    const { unitOfWork } = rig.signOn;
    const browser = new TestBrowser(rig);
    await browser.authorize();
    const caller = new AbortController();
    rig.signOn.unitOfWork = {
      ...{ rows: unitOfWork.rows, inOrder: unitOfWork.inOrder },
      run: async (work, options) => {
        const done = await unitOfWork.run(work, { signal: caller.signal, ...options });
        caller.abort();
        return done;
      },
    };
    await browser.signIn({ email: 'nobody@example.com' });
    expect(await refusalsOn(rig)).toEqual(['sign_in refused']);
  });

  test('are counted once, also where the database repeats the transaction of their guess', async () => {
    const rig = await browserRig(under);
    allowing(rig, 0);
    repeatingWrites(rig);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    for (let time = 0; time < TURNS.free; time += 1) {
      await browser.signIn({ email: 'nobody@example.com' });
    }
    await expect(browser.signIn({ email: 'nobody@example.com' })).rejects.toThrow('too many attempts');
    expect(rig.observed.map(({ attributes }) => attributes.reason)).toEqual([
      ...Array<string>(TURNS.free).fill('credentials'),
      'too_many_attempts',
    ]);
  });

  test('share these records with refused changes of an address', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const tokenHash = await linkOf(rig, person);
    allowing(rig, 1);
    for (const password of ['one', 'another']) {
      await redeemEmailChange(rig.signOn, new TestBrowser(rig).browser, { tokenHash, password });
    }
    expect(await refusalsOn(rig)).toEqual(['email.changed refused']);
    const subject = { type: 'account', id: person.accountId };
    expect(rig.observed).toMatchObject([{ type: 'email.changed', subject, actor: STRANGER }]);
  });
});

describe('a person without access on the instance', () => {
  async function withoutAccess() {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId]);
    const observation = {
      type: 'sign_in',
      outcome: 'refused',
      actor: {
        ...{ type: 'account', id: person.accountId },
        ...{ requestId: 'request-1', remoteAddress: '192.0.2.7' },
      },
      subject: { type: 'application', id: rig.applicationId },
      attributes: { reason: 'no_access', instance_id: rig.there.instanceId },
    };
    return { rig, person, observation };
  }

  test('is counted at each authorization in a session, silent ones too, without a write', async () => {
    const { rig, person, observation } = await withoutAccess();
    const browser = await signedInBrowser(rig, person);
    const writes = countingWrites(rig);
    await browser.authorize({ redirectUri: OTHER_CALLBACK });
    await browser.authorize({ redirectUri: OTHER_CALLBACK, prompt: 'none' });
    expect(rig.observed).toEqual([observation, observation]);
    expect(writes()).toBe(0);
  });

  test('is counted once after the right password, also where the database repeats the transaction', async () => {
    const { rig, person, observation } = await withoutAccess();
    repeatingWrites(rig);
    const browser = new TestBrowser(rig);
    await browser.authorize({ redirectUri: OTHER_CALLBACK });
    expect(await browser.signIn(person)).toMatchObject({ page: 'sign_in' });
    expect(rig.observed).toEqual([observation]);
    const signIns = (await audited(rig)).filter(({ what }) => what === 'sign_in succeeded');
    expect(signIns.map(({ attributes }) => attributes)).toMatchObject([
      { application_id: rig.applicationId, instance_id: rig.there.instanceId },
    ]);
  });

  test('who has to sign in again is not counted before', async () => {
    const { rig, person } = await withoutAccess();
    const browser = await signedInBrowser(rig, person);
    await browser.authorize({ redirectUri: OTHER_CALLBACK, prompt: 'login' });
    await new TestBrowser(rig).authorize({ redirectUri: OTHER_CALLBACK });
    expect(rig.observed).toEqual([]);
  });
});
