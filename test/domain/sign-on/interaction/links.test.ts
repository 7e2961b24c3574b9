import { describe, expect, test } from '@jest/globals';
import { RateLimiter } from '../../../../src/domain/access/rate-limiter.js';
import { type LinkPurpose, makeLink } from '../../../../src/domain/credentials/links.js';
import { STRANGER } from '../../../../src/domain/operator/audit.js';
import { disableAccount } from '../../../../src/domain/platform/people/account-updates.js';
import { takeEmail } from '../../../../src/domain/platform/people/email-changes.js';
import {
  redeemEmailLink,
  redeemPasswordLink,
  showEmailLink,
  showPasswordLink,
} from '../../../../src/domain/sign-on/interaction/links.js';
import { RATES } from '../../../../src/domain/sign-on/sign-on.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { storedHash } from '../../../../src/identifiers/random-secrets.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { audited, type BrowserRig, browserRig, HOUR_MS, newPerson, type Person } from '../browser-rig.js';
import { answerOf, codeOf, errorPageOf, signedInBrowser, TestBrowser } from '../test-browser.js';

const under = databaseUnderTest('SQLite');
const NEW_PASSWORD = 'another quiet harbour';

async function mailed(rig: BrowserRig, person: Person, purpose: LinkPurpose): Promise<string> {
  const link = await rig.run((changes) =>
    makeLink(changes, { id: person.accountId, email: person.email }, { purpose, lifetimeSeconds: 3_600 }),
  );
  return storedHash(link.token);
}

async function withLink(purpose: LinkPurpose) {
  const rig = await browserRig(under);
  const person = await newPerson(rig, [rig.here.clientId]);
  return { rig, person, tokenHash: await mailed(rig, person, purpose) };
}

function redeem(rig: BrowserRig, tokenHash: string, password = NEW_PASSWORD) {
  return redeemPasswordLink(rig.signOn, new TestBrowser(rig).browser, { tokenHash, password });
}

function verify(rig: BrowserRig, tokenHash: string) {
  return redeemEmailLink(rig.signOn, new TestBrowser(rig).browser, tokenHash);
}

async function emailVerifiedAt(rig: BrowserRig, { accountId }: Person) {
  return (await rig.signOn.unitOfWork.rows.accounts.find(accountId))?.emailVerifiedAt;
}

test('a new password is hashed in the turn of its network', async () => {
  const { rig, tokenHash } = await withLink('reset');
  await redeem(rig, tokenHash);
  expect(rig.passwords.networks.at(-1)).toBe('192.0.2.7');
});

test('a link to set a password causes only so many hashes a minute, however many forms are sent at once', async () => {
  const { rig, tokenHash } = await withLink('reset');
  const limit = 3;
  rig.signOn.guesses = new RateLimiter({ limit, windowMs: 60_000 }, rig.clock.now);
  let hashes = 0;
  rig.passwords.meanwhile = async () => {
    hashes += 1;
  };
  const ends = await Promise.allSettled(Array.from({ length: 2 * limit }, () => redeem(rig, tokenHash)));
  expect(hashes).toBe(limit);
  const refused = ends.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(limit);
  expect(refused[0]).toMatchObject({
    reason: { code: ErrorCode.RATE_LIMITED, message: 'This link was used too often.', retryAfterSeconds: 60 },
  });
});

test('a link to set a password causes only so many checks of weak passwords a minute, more than a person tries', async () => {
  const { rig, tokenHash } = await withLink('reset');
  const { limit } = RATES.guesses;
  expect(limit).toBeGreaterThan(100);
  for (let time = 0; time < limit; time += 1) {
    expect(await redeem(rig, tokenHash, 'fourteen rooks')).toMatchObject({ problem: 'too_short' });
  }
  await expect(redeem(rig, tokenHash, 'fourteen rooks')).rejects.toMatchObject({
    code: ErrorCode.RATE_LIMITED,
  });
  rig.clock.advance(RATES.guesses.windowMs);
  expect(await redeem(rig, tokenHash)).toMatchObject({ page: 'password_set' });
});

describe.each(['invitation', 'reset'] as const)('a link to set a password (%s)', (purpose) => {
  test('can be looked at any number of times', async () => {
    const { rig, person, tokenHash } = await withLink(purpose);
    for (const _ of [1, 2, 3]) {
      expect(await showPasswordLink(rig.signOn, tokenHash)).toEqual({
        email: person.email,
        purpose,
      });
    }
  });

  test('sets it once, verifies the address and ends what was under way with the old one', async () => {
    const { rig, person, tokenHash } = await withLink(purpose);
    const browser = await signedInBrowser(rig, person);
    const code = codeOf(await browser.authorize());
    const earlier = await mailed(rig, person, purpose === 'reset' ? 'invitation' : 'reset');
    rig.clock.advance(1_000);
    expect(await redeem(rig, tokenHash)).toEqual({
      kind: 'page',
      page: 'password_set',
      interaction: '',
      device: expect.any(String),
      entrances: [{ applicationId: rig.applicationId, instanceId: rig.here.instanceId }],
    });
    expect(await emailVerifiedAt(rig, person)).toBe(rig.clock.now());
    expect(answerOf(await browser.authorize({ prompt: 'none' }))).toMatchObject({ error: 'login_required' });
    const { codes } = rig.signOn.unitOfWork.rows;
    expect(await codes.find(storedHash(code))).toMatchObject({ status: 'EXPIRED' });
    for (const over of [tokenHash, earlier]) {
      expect(errorPageOf(await redeem(rig, over, 'yet another harbour')).kind).toBe('link');
    }
    await browser.authorize();
    await browser.signIn(person);
    expect(await browser.show('sign_in')).toMatchObject({ refusals: [expect.anything()] });
    codeOf(await browser.signIn(person, { password: NEW_PASSWORD }));
    const whats = (await audited(rig)).map(({ what }) => what);
    expect(whats).toEqual(expect.arrayContaining(['password.set succeeded', 'email.verified succeeded']));
  });
});

test('a link to set a password is counted where its form comes after its end, and not where its page does', async () => {
  const { rig, person, tokenHash } = await withLink('reset');
  await redeem(rig, tokenHash);
  await showPasswordLink(rig.signOn, tokenHash);
  expect(rig.observed).toEqual([]);
  await redeem(rig, tokenHash);
  expect(rig.observed).toEqual([
    {
      type: 'link.refused',
      outcome: 'refused',
      actor: { ...STRANGER, requestId: 'request-1', remoteAddress: '192.0.2.7' },
      subject: { type: 'account', id: person.accountId },
      attributes: { purpose: 'reset', reason: 'ended' },
    },
  ]);
});

describe('a new password', () => {
  test.each([
    ['fourteen rooks', 'too_short'],
    ['p'.repeat(257), 'too_long'],
    ['password', 'too_common'],
    ['Tallowfern 2026', 'too_personal'],
  ])('is refused, and the link is good still: %s', async (password, problem) => {
    const { rig, tokenHash } = await withLink('reset');
    expect(await redeem(rig, tokenHash, password)).toEqual({
      kind: 'page',
      page: 'set_password',
      interaction: '',
      problem,
    });
    expect(await redeem(rig, tokenHash)).toMatchObject({ page: 'password_set' });
  });

  test('admits its owner although strangers have guessed too often', async () => {
    const { rig, person, tokenHash } = await withLink('reset');
    const stranger = new TestBrowser(rig, '203.0.113.9');
    await stranger.authorize();
    for (let time = 0; time < 10; time += 1) {
      await stranger.signIn(person, { password: 'a wrong guess' });
    }
    const browser = new TestBrowser(rig);
    browser.device = (await redeem(rig, tokenHash)).device;
    await browser.authorize();
    codeOf(await browser.signIn(person, { password: NEW_PASSWORD }));
  });
});

describe('a link to verify an address', () => {
  test('verifies it once, and nothing else', async () => {
    const { rig, person, tokenHash } = await withLink('verify_email');
    expect(await showEmailLink(rig.signOn, tokenHash)).toMatchObject({ email: person.email });
    expect(await emailVerifiedAt(rig, person)).toBeNull();
    expect(await verify(rig, tokenHash)).toEqual({ kind: 'page', page: 'email_verified', interaction: '' });
    expect(await emailVerifiedAt(rig, person)).toBe(rig.clock.now());
    codeOf(await signedInBrowser(rig, person).then((browser) => browser.authorize()));
  });

  test('says the same to a form that is sent twice, and changes nothing again', async () => {
    const { rig, person, tokenHash } = await withLink('verify_email');
    const answers = await Promise.all([verify(rig, tokenHash), verify(rig, tokenHash)]);
    expect(answers).toEqual([1, 2].map(() => ({ kind: 'page', page: 'email_verified', interaction: '' })));
    const verifiedAt = await emailVerifiedAt(rig, person);
    rig.clock.advance(1_000);
    expect(await verify(rig, tokenHash)).toMatchObject({ page: 'email_verified' });
    expect(await emailVerifiedAt(rig, person)).toBe(verifiedAt);
    expect((await audited(rig)).map(({ what }) => what)).toEqual(['email.verified succeeded']);
    expect(await showEmailLink(rig.signOn, tokenHash)).toBeUndefined();
  });

  test('that was used, or replaced, opens no write', async () => {
    const { rig, person, tokenHash } = await withLink('verify_email');
    const later = await mailed(rig, person, 'verify_email');
    await verify(rig, later);
    const run = () => Promise.reject(new Error('It asks for a transaction.'));
    rig.signOn.unitOfWork = { ...rig.signOn.unitOfWork, run };
    for (const ended of [tokenHash, later]) {
      expect(await verify(rig, ended)).toMatchObject({ page: 'email_verified' });
    }
  });

  test('that was used says so once it is over, or the account has another address', async () => {
    const { rig, person, tokenHash } = await withLink('verify_email');
    const later = await mailed(rig, person, 'verify_email');
    // Replaced before it was used.
    expect(errorPageOf(await verify(rig, tokenHash)).kind).toBe('link');
    await verify(rig, later);
    await rig.run(async (changes) => {
      await changes.lock(person.accountId);
      await takeEmail(changes, person.accountId, 'elsewhere@example.com', { isProved: true });
    });
    expect(errorPageOf(await verify(rig, later)).kind).toBe('link');
  });
});

describe('a link is good for nothing', () => {
  const IS_OVER = 'once it is over';
  const countedIn = ({ observed }: BrowserRig) =>
    observed.map(({ type, attributes }) => type === 'link.refused' && attributes.reason);
  type Case = (rig: BrowserRig, person: Person) => Promise<unknown>;
  const cases: [string, Case][] = [
    [IS_OVER, async (rig) => rig.clock.advance(HOUR_MS)],
    [
      'once the account has another address',
      (rig, { accountId }) =>
        rig.run(async (changes) => {
          await changes.lock(accountId);
          await takeEmail(changes, accountId, 'elsewhere@example.com', { isProved: false });
        }),
    ],
    [
      'once it turns out to have been mailed elsewhere',
      (rig) =>
        rig.database.write((writer) =>
          writer.updateTable('account_links').set({ email_key: 'elsewhere@example.com' }).execute(),
        ),
    ],
    [
      'once the account is disabled',
      (rig, { accountId }) => rig.run((changes) => disableAccount(changes, accountId)),
    ],
    [
      'once a newer one is mailed',
      async (rig, person) => {
        await mailed(rig, person, 'reset');
        await mailed(rig, person, 'verify_email');
      },
    ],
  ];

  test.each(cases)('%s', async (title, spoil) => {
    const { rig, person, tokenHash } = await withLink('reset');
    const emailLink = await mailed(rig, person, 'verify_email');
    await spoil(rig, person);
    expect(await showPasswordLink(rig.signOn, tokenHash)).toBeUndefined();
    expect(await showEmailLink(rig.signOn, emailLink)).toBeUndefined();
    expect(errorPageOf(await redeem(rig, tokenHash)).kind).toBe('link');
    expect(errorPageOf(await verify(rig, emailLink)).kind).toBe('link');
    expect(await emailVerifiedAt(rig, person)).toBeNull();
    expect(countedIn(rig)).toEqual([title === IS_OVER ? 'expired' : 'ended']);
  });

  test.each(cases)('%s, although it was good when the password was sent', async (title, spoil) => {
    const { rig, person, tokenHash } = await withLink('reset');
    const before = await rig.signOn.unitOfWork.rows.passwords.find(person.accountId);
    rig.passwords.meanwhile = () => spoil(rig, person);
    expect(errorPageOf(await redeem(rig, tokenHash)).kind).toBe('link');
    expect(await rig.signOn.unitOfWork.rows.passwords.find(person.accountId)).toEqual(before);
    expect(countedIn(rig)).toEqual([title === IS_OVER ? 'expired' : 'ended']);
  });

  test('that was never mailed, and its form opens no write', async () => {
    const { rig } = await withLink('reset');
    let writes = 0;
    const { unitOfWork } = rig.signOn;
    const run: typeof unitOfWork.run = (work, ...more) => {
      writes += 1;
      return unitOfWork.run(work, ...more);
    };
    rig.signOn.unitOfWork = { ...unitOfWork, run };
    for (const send of [redeem, verify]) {
      expect(errorPageOf(await send(rig, storedHash('it was never mailed'))).kind).toBe('link');
    }
    expect(writes).toBe(0);
    expect(rig.observed).toEqual([]);
  });

  test('of another purpose, and one that was never mailed', async () => {
    const { rig, person, tokenHash } = await withLink('reset');
    const emailLink = await mailed(rig, person, 'verify_email');
    for (const hash of [emailLink, '', storedHash('it was never mailed')]) {
      expect(errorPageOf(await redeem(rig, hash)).kind).toBe('link');
    }
    for (const hash of [tokenHash, '', storedHash('it was never mailed')]) {
      expect(errorPageOf(await verify(rig, hash)).kind).toBe('link');
    }
    expect(await redeem(rig, tokenHash)).toMatchObject({ page: 'password_set' });
    expect(rig.observed).toEqual([]);
  });
});
