import { describe, expect, test } from '@jest/globals';
import { createLink } from '../../../../src/domain/platform/people/account-credentials.js';
import {
  accountView,
  disableAccount,
  enableAccount,
  updateAccount,
} from '../../../../src/domain/platform/people/account-updates.js';
import { getAccount } from '../../../../src/domain/platform/people/accounts.js';
import { createEmailChangeLink, takeEmail } from '../../../../src/domain/platform/people/email-changes.js';
import { deleteUser, updateUser } from '../../../../src/domain/platform/people/user-updates.js';
import { createUser } from '../../../../src/domain/platform/people/users.js';
import {
  redeemEmailChange,
  showEmailChange,
} from '../../../../src/domain/sign-on/interaction/email-change.js';
import { redeemPasswordLink } from '../../../../src/domain/sign-on/interaction/links.js';
import type { BrowserStep } from '../../../../src/domain/sign-on/sessions/browser.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { storedHash } from '../../../../src/identifiers/random-secrets.js';
import { settleCopy } from '../../../../src/store/copies/settle-copy.js';
import { validIn } from '../../../../src/store/copies/valid-list.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import {
  audited,
  type BrowserRig,
  browserRig,
  HOUR_MS,
  hire,
  newPerson,
  OTHER_CALLBACK,
  PASSWORD,
  type Person,
  signedInBefore,
} from '../browser-rig.js';
import { recordedCalls } from '../recorded-calls.js';
import { answerOf, codeOf, errorPageOf, signedInBrowser, TestBrowser } from '../test-browser.js';

const under = databaseUnderTest('SQLite');
const BACK_OFFICE = { type: 'service_token', id: 'tok_backoffice' };
const MALLORY = 'mallory@example.org';
const CHOSEN = 'a password that Mallory chose';

/** A person of two clients on two instances, invited by both. The attacker administers the first. */
async function invitedTwice() {
  const rig = await browserRig(under);
  const person = await newPerson(rig, [rig.here.clientId, rig.there.clientId]);
  await verifyAddress(rig, person);
  return { rig, person };
}

function verifyAddress({ run }: BrowserRig, { accountId }: Person): Promise<void> {
  return run(async (changes) => {
    const account = await changes.accounts.find(accountId);
    await changes.accounts.update({ ...(account as NonNullable<typeof account>), emailVerifiedAt: 1 });
  });
}

/** The person has signed in as the user of the attacker's client. */
async function underAttack() {
  const attack = await invitedTwice();
  await signedInBefore(attack.rig, attack.person, attack.rig.here.clientId);
  return attack;
}

async function userHere({ run, here }: BrowserRig, { accountId }: Person) {
  const users = await run((changes) => changes.users.ofAccount(accountId));
  return users.find(({ clientId }) => clientId === here.clientId)?.id ?? '';
}

/** The link of what the client of `here` wished for, as its mailbox gets it. */
async function changeLink(rig: BrowserRig, userId: string, lifetimeSeconds?: number): Promise<string> {
  const creation = { wish: { userId }, lifetimeSeconds };
  const { token } = await rig.run((changes) => createEmailChangeLink(changes, BACK_OFFICE, creation));
  return storedHash(token);
}

/** A wish for another address, and its link. */
async function wished(email = MALLORY) {
  const attack = await underAttack();
  const userId = await userHere(attack.rig, attack.person);
  await attack.rig.run((changes) => updateUser(changes, { userId, email }));
  return { ...attack, userId, tokenHash: await changeLink(attack.rig, userId) };
}

function confirm(rig: BrowserRig, tokenHash: string, password = PASSWORD): Promise<BrowserStep> {
  const { browser } = new TestBrowser(rig, '203.0.113.66');
  return redeemEmailChange(rig.signOn, browser, { tokenHash, password });
}

async function emailOf(rig: BrowserRig, { accountId }: Person) {
  const account = await rig.signOn.unitOfWork.rows.accounts.find(accountId);
  return [account?.email, account?.emailVerifiedAt];
}

async function signsInThere(rig: BrowserRig, email: string, password?: string): Promise<boolean> {
  const browser = new TestBrowser(rig, '203.0.113.66');
  await browser.authorize({ redirectUri: OTHER_CALLBACK });
  const step = await browser.signIn({ email }, { ...(password !== undefined && { password }) });
  return step.kind === 'redirect' && codeOf(step) !== '';
}

describe('the administrator of one client', () => {
  test('who gives a person their own address and takes the reset link gets no access', async () => {
    const { rig, person } = await underAttack();
    const userId = await userHere(rig, person);
    await rig.run((changes) => updateUser(changes, { userId, email: MALLORY }));
    const { accountId } = person;
    const link = await rig.run((changes) =>
      createLink(changes, BACK_OFFICE, { accountId, purpose: 'reset', lifetimeSeconds: undefined }),
    );
    const account = await rig.run((changes) => changes.accounts.find(accountId));
    if (account?.email === MALLORY) {
      const browser = new TestBrowser(rig, '203.0.113.66').browser;
      await redeemPasswordLink(rig.signOn, browser, { tokenHash: storedHash(link.token), password: CHOSEN });
    }
    expect(await signsInThere(rig, MALLORY, CHOSEN)).toBe(false);
    expect(await signsInThere(rig, person.email)).toBe(true);
  });

  test('who also reads the new mailbox gets no access without the password of the person', async () => {
    const { rig, person, tokenHash } = await wished();
    for (const guess of ['', 'a wrong guess', 'x'.repeat(1_024)]) {
      expect(await confirm(rig, tokenHash, guess)).toEqual({
        kind: 'page',
        page: 'change_email',
        interaction: '',
        problem: 'wrong',
      });
    }
    expect(rig.passwords.checks).toHaveLength(3);
    expect(await confirm(rig, tokenHash, 'x'.repeat(4_097))).toMatchObject({ problem: 'wrong' });
    // Longer than any password: it costs no hash.
    expect(rig.passwords.checks).toHaveLength(3);
    expect(await emailOf(rig, person)).toEqual([person.email, 1]);
    expect(await signsInThere(rig, person.email)).toBe(true);
  });

  test('guesses that password no more often than at the sign-in', async () => {
    const { rig, tokenHash } = await wished();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) => confirm(rig, tokenHash, `guess ${index}`)),
    );
    const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused.length).toBeGreaterThanOrEqual(20);
    expect(refused.every(({ reason }) => reason.code === ErrorCode.RATE_LIMITED)).toBe(true);
  });

  test.each(['a wrong guess', PASSWORD])(
    'does not learn by %j whether the person has a password: it is answered and counted as a wrong one',
    async (password) => {
      const effectOf = async ({ rig, tokenHash }: Awaited<ReturnType<typeof wished>>, guess: string) => {
        const { signOn, calls } = recordedCalls(rig.signOn);
        const step = await confirm({ ...rig, signOn }, tokenHash, guess);
        const counts = await rig.database.reader.selectFrom('attempt_counts').select('count').execute();
        return { step, calls, counts };
      };
      const usual = await effectOf(await wished(), 'a wrong guess');
      expect(usual).toMatchObject({ step: { problem: 'wrong' }, counts: [{ count: 1 }, { count: 1 }] });
      const attack = await wished();
      await attack.rig.database.write((writer) => writer.deleteFrom('passwords').execute());
      expect(await effectOf(attack, password)).toEqual(usual);
    },
  );

  test('cannot take over a person who was invited elsewhere and has no password yet', async () => {
    const rig = await browserRig(under);
    const person = await newPerson(rig, [rig.here.clientId, rig.there.clientId], undefined);
    await rig.database.write((writer) => writer.deleteFrom('passwords').execute());
    const userId = await userHere(rig, person);
    const asked = rig.run((changes) => updateUser(changes, { userId, email: MALLORY }));
    expect(await refusalOf(asked)).toEqual({ code: 'TRANSITION_REFUSED', faults: [] });
    expect(await emailOf(rig, person)).toEqual([person.email, null]);
  });

  test('cannot have a genuine link for their own mailbox made, to be forwarded to a person whom they invited', async () => {
    const { rig, person } = await invitedTwice();
    const userId = await userHere(rig, person);
    const refused = { code: 'TRANSITION_REFUSED', faults: [] };
    const asked = rig.run((changes) => updateUser(changes, { userId, email: MALLORY }));
    expect(await refusalOf(asked)).toEqual(refused);
    expect(await rig.run((changes) => changes.emailChanges.ofAccount(person.accountId))).toEqual([]);
    expect(await refusalOf(changeLink(rig, userId))).toEqual(refused);
  });

  test('who makes an account with their own password cannot give it the address of another person', async () => {
    const rig = await browserRig(under);
    const own = await newPerson(rig, [rig.here.clientId], CHOSEN);
    await signedInBefore(rig, own, rig.here.clientId);
    const userId = await userHere(rig, own);
    await rig.run((changes) => updateUser(changes, { userId, email: 'victim@example.com' }));
    expect(await emailOf(rig, own)).toEqual([own.email, null]);
    // The victim reads the mail, and does not know the password of that account.
    expect(await confirm(rig, await changeLink(rig, userId), PASSWORD)).toMatchObject({ problem: 'wrong' });
    const { clientId } = rig.there;
    const invited = await rig.run((changes) =>
      createUser(changes, { clientId, email: 'victim@example.com', withoutManager: true }),
    );
    expect(invited.accountId).not.toBe(own.accountId);
  });
});

/** Restores with a list that has a later password of the person, which removes the present one. */
async function withoutPassword({ database, clock }: BrowserRig, { accountId }: Person): Promise<void> {
  const at = clock.now();
  const valid = await validIn(database.reader, at);
  const { passwords } = await settleCopy(database, {
    ...{ at, valid: { ...valid, passwords: { ...valid.passwords, [accountId]: at + 1 } }, attributes: {} },
    ...{ keepSessions: false, keepKeys: true, sendWebhooks: false },
  });
  expect(passwords).toEqual([accountId]);
}

describe('a person whose password a restore removed', () => {
  const user = async (rig: BrowserRig) => {
    const person = await newPerson(rig, [rig.here.clientId]);
    await signedInBefore(rig, person, rig.here.clientId);
    return person;
  };
  const worker = async (rig: BrowserRig) => {
    const email = 'a.worker@example.com';
    const { accountId } = await hire(rig, { email }, rig.here.clientId);
    await rig.run((changes) => changes.passwords.set(accountId, `hash of ${PASSWORD}`, changes.now));
    return { accountId, email };
  };

  const linkTo = ({ run }: BrowserRig, { accountId }: Person, purpose: 'invitation' | 'reset') =>
    run((changes) => createLink(changes, BACK_OFFICE, { accountId, purpose, lifetimeSeconds: undefined }));

  const askers = async ({ run, here }: BrowserRig, { accountId }: Person) => {
    const waiting = await run((changes) => changes.emailChanges.ofAccount(accountId));
    return waiting.map(({ asker }) => (asker === here.clientId ? 'client' : asker)).sort();
  };

  test.each([
    ['user', user, 'fulfilled', ['client', 'platform']],
    ['worker', worker, 'rejected', ['platform']],
  ] as const)('gets no other address at once, and no invitation: a %s', async (_, make, status, waits) => {
    const rig = await browserRig(under);
    const { run, here } = rig;
    const person = await make(rig);
    const { accountId, email } = person;
    await withoutPassword(rig, person);
    const seen = await run(async (changes) => accountView(changes, await getAccount(changes, accountId)));
    expect(seen.passwordSetAt).toBeUndefined();
    await run((changes) => updateAccount(changes, { accountId, email: MALLORY }));
    // A client can ask for another address only through a user, so the worker becomes one.
    if (make === worker) {
      await run((changes) => createUser(changes, { clientId: here.clientId, email, withoutManager: true }));
    }
    const userId = await userHere(rig, person);
    const asked = run((changes) => updateUser(changes, { userId, email: MALLORY }));
    expect(await Promise.allSettled([asked])).toMatchObject([{ status }]);
    expect(await askers(rig, person)).toEqual(waits);
    expect(await emailOf(rig, person)).toEqual([email, null]);
    const invited = await refusalOf(linkTo(rig, person, 'invitation'));
    expect(invited).toEqual({ code: 'TRANSITION_REFUSED', faults: [] });
  });

  test.each([
    ['user', user],
    ['worker', worker],
  ])('signs in after a reset, and not with the removed password: a %s', async (_, make) => {
    const rig = await browserRig(under);
    const person = await make(rig);
    await verifyAddress(rig, person);
    await withoutPassword(rig, person);
    const signsIn = async (password: string) => {
      const browser = new TestBrowser(rig);
      await browser.authorize();
      const step = await browser.signIn(person, { password });
      return step.kind === 'page' ? step.page : step.kind;
    };
    expect(await signsIn(PASSWORD)).toBe('sign_in');
    const { token } = await linkTo(rig, person, 'reset');
    const reset = { tokenHash: storedHash(token), password: 'a much calmer harbour' };
    await redeemPasswordLink(rig.signOn, new TestBrowser(rig).browser, reset);
    expect(await Promise.all([signsIn(PASSWORD), signsIn(reset.password)])).toEqual(['sign_in', 'redirect']);
  });
});

describe('a new address', () => {
  test('takes effect once its mailbox and the person have proved themselves, everywhere and once', async () => {
    const { rig, person, tokenHash } = await wished('moreau@example.com');
    const { accountId } = person;
    const browser = await signedInBrowser(rig, person);
    const code = codeOf(await browser.authorize());
    const reset = { accountId, purpose: 'reset' as const, lifetimeSeconds: undefined };
    const earlier = await rig.run((changes) => createLink(changes, BACK_OFFICE, reset));
    rig.clock.advance(1_000);
    for (const _ of ['shown', 'and shown again']) {
      expect(await showEmailChange(rig.signOn, tokenHash)).toEqual({
        email: 'moreau@example.com',
        clientName: 'Tallowfern',
      });
    }
    expect(await emailOf(rig, person)).toEqual([person.email, 1]);

    const steps = await Promise.all([confirm(rig, tokenHash), confirm(rig, tokenHash)]);
    expect(steps.map((step) => (step.kind === 'page' ? step.page : step.kind)).sort()).toEqual([
      'email_changed',
      'error_page',
    ]);
    expect(await emailOf(rig, person)).toEqual(['moreau@example.com', rig.clock.now()]);
    const { codes, links, notices } = rig.signOn.unitOfWork.rows;
    expect(await codes.find(storedHash(code))).toMatchObject({ status: 'EXPIRED' });
    expect((await links.find(storedHash(earlier.token)))?.endedAt).toBe(rig.clock.now());
    expect(answerOf(await browser.authorize({ prompt: 'none' }))).toMatchObject({ error: 'login_required' });
    const toldTo = async () => {
      const events = rig.database.reader
        .selectFrom('events')
        .where('type', '=', 'user.updated')
        .where('occurred_at', '=', rig.clock.now());
      const rows = await events.orderBy('seq').select(['instance_id', 'data']).execute();
      return rows.map((row) => [row.instance_id, JSON.parse(row.data).email]);
    };
    expect(await toldTo()).toEqual([[rig.here.instanceId, 'moreau@example.com']]);
    expect(await notices.page({ after: undefined, limit: 10 })).toMatchObject([
      { kind: 'email_changed', accountId, email: person.email, createdAt: rig.clock.now() },
    ]);
    const { what, actor, attributes } = (await audited(rig)).find(({ what }) => /^email/.test(what)) ?? {};
    expect([what, actor, attributes?.asked_by]).toEqual([
      'email.changed succeeded',
      accountId,
      rig.here.clientId,
    ]);
    expect(await signsInThere(rig, person.email)).toBe(false);
    // Only an invitation elsewhere, whose client learns the address when the person accepts it.
    rig.clock.advance(1_000);
    expect(await signsInThere(rig, 'moreau@example.com')).toBe(true);
    expect(await toldTo()).toEqual([[rig.there.instanceId, 'moreau@example.com']]);
  });

  test('and the deletion of its user wait for each other: both lock the account before the client', async () => {
    const { rig, person, userId } = await wished();
    const locked: string[] = [];
    await rig.run((changes) => {
      const lock = (...ids: string[]) => {
        locked.push(...ids);
        return changes.lock(...ids);
      };
      return deleteUser({ ...changes, lock }, { userId });
    });
    expect(locked).toEqual([person.accountId, rig.here.clientId]);
  });

  const spoilers: [what: string, spoil: (attack: Awaited<ReturnType<typeof wished>>) => Promise<unknown>][] =
    [
      ['once it is over', async ({ rig }) => rig.clock.advance(7 * 24 * HOUR_MS)],
      [
        'once its client wishes for another one',
        ({ rig, userId }) =>
          rig.run((changes) => updateUser(changes, { userId, email: 'other@example.com' })),
      ],
      [
        'once its client takes the wish back',
        ({ rig, userId, person }) =>
          rig.run((changes) => updateUser(changes, { userId, email: person.email })),
      ],
      ['once a newer link is made', ({ rig, userId }) => changeLink(rig, userId)],
      [
        'once the user is deleted',
        ({ rig, userId }) => rig.run((changes) => deleteUser(changes, { userId })),
      ],
      [
        'once the account is disabled, and enabled again',
        ({ rig, person: { accountId } }) =>
          rig.run(async (changes) => {
            await disableAccount(changes, accountId);
            await enableAccount(changes, accountId);
          }),
      ],
      [
        'once another wish has taken effect',
        ({ rig, person: { accountId } }) =>
          rig.run(async (changes) => {
            await changes.lock(accountId);
            await takeEmail(changes, accountId, 'third@example.com', { isProved: true });
          }),
      ],
      [
        'once another account has it',
        ({ rig }) =>
          rig.run((changes) =>
            createUser(changes, { clientId: rig.there.clientId, email: MALLORY, withoutManager: true }),
          ),
      ],
    ];

  test.each(spoilers)('is not taken %s', async (_, spoil) => {
    const attack = await wished();
    await spoil(attack);
    expect(errorPageOf(await confirm(attack.rig, attack.tokenHash)).kind).toBe('link');
    expect((await emailOf(attack.rig, attack.person))[0]).not.toBe(MALLORY);
  });

  test.each([
    ...spoilers,
    [
      'once the password is another one',
      ({ rig, person }: Awaited<ReturnType<typeof wished>>) =>
        rig.run((changes) => changes.passwords.set(person.accountId, 'hash of another', changes.now)),
    ] as (typeof spoilers)[number],
  ])('is not taken %s, although all was well when the form was sent', async (_, spoil) => {
    const attack = await wished();
    attack.rig.passwords.meanwhile = () => spoil(attack);
    expect(errorPageOf(await confirm(attack.rig, attack.tokenHash)).kind).toBe('link');
    expect((await emailOf(attack.rig, attack.person))[0]).not.toBe(MALLORY);
  });

  test('counts no right password as a guess, however often another account has the address', async () => {
    const { rig, tokenHash } = await wished();
    const { clientId } = rig.there;
    await rig.run((changes) => createUser(changes, { clientId, email: MALLORY, withoutManager: true }));
    for (let time = 0; time < 120; time += 1) {
      expect(errorPageOf(await confirm(rig, tokenHash)).message).toMatch(/^Another account has this/);
    }
    const counts = await rig.database.reader.selectFrom('attempt_counts').select('count').execute();
    expect(counts).toEqual([{ count: 0 }, { count: 0 }]);
  });

  test('without a link, and a link of another kind, change nothing', async () => {
    const { rig, person } = await wished();
    const verification = { accountId: person.accountId, purpose: 'verify_email' as const };
    const { token } = await rig.run((changes) =>
      createLink(changes, BACK_OFFICE, { ...verification, lifetimeSeconds: undefined }),
    );
    for (const hash of ['', storedHash('it was never mailed'), storedHash(token)]) {
      expect(await showEmailChange(rig.signOn, hash)).toBeUndefined();
      expect(errorPageOf(await confirm(rig, hash)).kind).toBe('link');
    }
  });

  test('needs a wish for its link, and an account that may sign in', async () => {
    const { rig, person, userId } = await wished();
    const { accountId } = person;
    const link = (wish: { userId: string } | { accountId: string }) =>
      rig.run((changes) => createEmailChangeLink(changes, BACK_OFFICE, { wish, lifetimeSeconds: 60 }));
    const refused = { code: 'TRANSITION_REFUSED', faults: [] };
    expect(await refusalOf(link({ accountId }))).toEqual(refused);
    expect(await link({ userId })).toMatchObject({ email: MALLORY, presentEmail: person.email });
    rig.clock.advance(60_000);
    expect(await refusalOf(link({ userId }))).toEqual(refused);
    await rig.run((changes) => updateUser(changes, { userId, email: MALLORY }));
    await rig.run(async (changes) => {
      const account = await changes.accounts.find(accountId);
      await changes.accounts.update({ ...(account as NonNullable<typeof account>), disabledAt: 1 });
    });
    expect(await refusalOf(link({ userId }))).toEqual(refused);
    const faulty = rig.run((changes) =>
      createEmailChangeLink(changes, BACK_OFFICE, { wish: undefined, lifetimeSeconds: 0 }),
    );
    expect(await refusalOf(faulty)).toEqual({
      code: 'INVALID_REQUEST',
      faults: ['wish must be user_id or account_id', 'lifetime_seconds must be between 1 and 2592000'],
    });
  });
});
