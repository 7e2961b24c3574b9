import { expect, test } from '@jest/globals';
import type { AccountId } from '../../../generated/ids.js';
import { LINK_PURPOSES } from '../../../src/domain/credentials/links.js';
import {
  assertPasswordAcceptable,
  createLink,
  type LinkCreation,
  setPassword,
} from '../../../src/domain/platform/people/account-credentials.js';
import {
  disableAccount,
  enableAccount,
  updateAccount,
} from '../../../src/domain/platform/people/account-updates.js';
import type { Changes } from '../../../src/domain/platform/unit-of-work.js';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { invite } from '../../store/adapters/platform/people.js';
import { describeEachDatabase } from '../../support/databases.js';
import { refusalOf } from '../../support/platform-writes.js';
import {
  ACTOR,
  allVerified,
  auditTrail,
  link,
  signedIn,
  type WithPerson,
  withPerson,
  works,
} from './credential-rows.js';

const ALL = { session: true, grant: true };
const NOTHING = { session: false, grant: false };
const DAY_MS = 86_400_000;

function passwordOf({ run, accountId }: WithPerson) {
  return run((changes) => changes.passwords.find(accountId));
}

function set({ run, accountId }: WithPerson, passwordHash: string) {
  return run((changes) => setPassword(changes, ACTOR, { accountId, passwordHash }));
}

describeEachDatabase('a password that the platform sets', (under) => {
  test('replaces the one before, ends what that one gave, and is recorded in the audit log', async () => {
    const person = await withPerson(under);
    const other = await invite(person, person.client.id);
    await set(person, 'first');
    const [mine, theirs] = [
      await signedIn(person, person.accountId, 'mine'),
      await signedIn(person, other.accountId, 'theirs'),
    ];
    expect(await mine.left()).toEqual(ALL);

    await set(person, 'second');
    expect(await passwordOf(person)).toEqual({ hash: 'second', setAt: person.now() - 1 });
    expect(await mine.left()).toEqual(NOTHING);
    expect(await theirs.left()).toEqual(ALL);
    const told = {
      type: 'password.set',
      outcome: 'succeeded',
      actor_id: ACTOR.id,
      subject_id: person.accountId,
      attributes: {},
    };
    expect(await auditTrail(person)).toEqual([told, told]);
  });

  test('ends the links that would set another, and leaves the one that verifies the address', async () => {
    const person = await withPerson(under);
    const links = {
      invitation: await link(person, 'invitation'),
      reset: await link(person, 'reset'),
      verification: await link(person, 'verify_email'),
    };
    await set(person, 'first');
    expect(await works(person, links.invitation)).toBe(false);
    expect(await works(person, links.reset)).toBe(false);
    expect(await works(person, links.verification)).toBe(true);
  });

  test.each([
    { what: 'short', password: 'fourteen rooks', fault: 'must have at least 15 characters' },
    { what: 'long', password: 'x'.repeat(257), fault: 'must not have more than 256 characters' },
    {
      what: 'common',
      password: 'password',
      fault: 'must not be one of the most common passwords, nor close to one',
    },
    {
      what: 'much like the address',
      password: 'Ada@example.com',
      fault: 'must not consist of names related to the person, such as theirs or their company’s',
    },
  ])('is refused when it is too $what', async ({ password, fault }) => {
    const { run, accountId } = await withPerson(under);
    const refused = run((changes) => assertPasswordAcceptable(changes, accountId, password));
    expect(await refusalOf(refused)).toEqual({ code: 'INVALID_REQUEST', faults: [`password ${fault}`] });
  });

  test('needs an account', async () => {
    const { run } = await withPerson(under);
    const missing = { code: 'ACCOUNT_NOT_FOUND', faults: [] };
    const accountId = 'acc_missing';
    const attempts: ((changes: Changes) => Promise<unknown>)[] = [
      (changes) => assertPasswordAcceptable(changes, accountId, 'a good long one'),
      (changes) => setPassword(changes, ACTOR, { accountId, passwordHash: 'hash' }),
      (changes) => createLink(changes, ACTOR, { accountId, purpose: 'reset', lifetimeSeconds: 60 }),
    ];
    for (const attempt of attempts) {
      expect(await refusalOf(run(attempt))).toEqual(missing);
    }
  });
});

describeEachDatabase('a link that the platform mails', (under) => {
  test.each([
    { purpose: 'invitation', days: 7 },
    { purpose: 'reset', days: 1 / 24 },
    { purpose: 'verify_email', days: 1 },
  ] as const)('for $purpose lives $days days unless told otherwise, and is kept as a hash', async (kind) => {
    const person = await withPerson(under);
    const { purpose, days } = kind;
    const made = await link(person, purpose);
    expect(made).toEqual({
      token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      expiresAt: person.now() + days * DAY_MS,
      email: 'ada@example.com',
    });
    const rows = await person.database.reader.selectFrom('account_links').selectAll().execute();
    expect(rows).toEqual([
      {
        token_hash: hashSecret(made.token).toString('base64url'),
        account_id: person.accountId,
        purpose,
        email_key: 'ada@example.com',
        created_at: person.now(),
        expires_at: made.expiresAt,
        ended_at: null,
      },
    ]);
    expect(await auditTrail(person)).toMatchObject([
      { type: 'link.created', subject_id: person.accountId, attributes: { purpose } },
    ]);
    expect((await link(person, purpose, 90)).expiresAt).toBe(person.now() + 90_000);
  });

  test('ends those of its purpose that were mailed to the person before, and no others', async () => {
    const person = await withPerson(under);
    const other = { ...person, accountId: (await invite(person, person.client.id)).accountId };
    await allVerified(person);
    const links = { first: await link(person, 'reset'), invitation: await link(person, 'invitation') };
    const theirs = await link(other, 'reset');
    const second = await link(person, 'reset');
    expect(await works(person, links.first)).toBe(false);
    for (const live of [second, links.invitation, theirs]) {
      expect(await works(person, live)).toBe(true);
    }
  });

  test('is one of the purpose, however many are made at once', async () => {
    const person = await withPerson(under);
    const made = await Promise.all(Array.from({ length: 10 }, () => link(person, 'reset')));
    const working: boolean[] = [];
    for (const one of made) {
      working.push(await works(person, one));
    }
    expect(working.filter(Boolean)).toHaveLength(1);
  });

  test.each<{ what: string; creation: Partial<LinkCreation>; faults: string[] }>([
    {
      what: 'without a purpose',
      creation: { purpose: undefined },
      faults: ['purpose must be INVITATION or RESET'],
    },
    {
      what: 'that is over at once',
      creation: { lifetimeSeconds: 0 },
      faults: ['lifetime_seconds must be between 1 and 2592000'],
    },
    {
      what: 'that lives longer than 30 days',
      creation: { lifetimeSeconds: 2_592_001 },
      faults: ['lifetime_seconds must be between 1 and 2592000'],
    },
  ])('$what is refused, and those before stay', async ({ creation, faults }) => {
    const person = await withPerson(under);
    const before = await link(person, 'reset');
    const { accountId } = person;
    const refused = person.run((changes) =>
      createLink(changes, ACTOR, { accountId, purpose: 'reset', lifetimeSeconds: undefined, ...creation }),
    );
    expect(await refusalOf(refused)).toEqual({ code: 'INVALID_REQUEST', faults });
    expect(await works(person, before)).toBe(true);
  });
});

describeEachDatabase('an unverified address', (under) => {
  async function withTypedAddress(hasPassword: boolean) {
    const person = await withPerson(under);
    await person.database.write((writer) =>
      writer.updateTable('accounts').set({ email_verified_at: null }).execute(),
    );
    if (hasPassword) {
      await set(person, 'first');
    }
    return person;
  }

  test.each([
    { purpose: 'invitation', hasPassword: false, refused: false },
    { purpose: 'invitation', hasPassword: true, refused: true },
    { purpose: 'reset', hasPassword: false, refused: true },
    { purpose: 'reset', hasPassword: true, refused: true },
    { purpose: 'verify_email', hasPassword: false, refused: false },
    { purpose: 'verify_email', hasPassword: true, refused: false },
  ] as const)('gets a link for $purpose, with a password ($hasPassword): refused $refused', async (row) => {
    const person = await withTypedAddress(row.hasPassword);
    const made = link(person, row.purpose);
    if (row.refused) {
      expect(await refusalOf(made)).toEqual({ code: 'TRANSITION_REFUSED', faults: [] });
      expect(await person.database.reader.selectFrom('account_links').selectAll().execute()).toEqual([]);
    } else {
      expect(await made).toMatchObject({ email: 'ada@example.com' });
    }
  });
});

describeEachDatabase('a change of the account', (under) => {
  test('that disables it ends sessions, grants and links, for good', async () => {
    const person = await withPerson(under);
    const { run, accountId } = person;
    const mine = await signedIn(person, accountId, 'mine');
    const links = await Promise.all(LINK_PURPOSES.map((purpose) => link(person, purpose)));
    await run((changes) => disableAccount(changes, accountId));
    expect(await mine.left()).toEqual(NOTHING);
    expect(await refusalOf(link(person, 'invitation'))).toEqual({ code: 'TRANSITION_REFUSED', faults: [] });

    await run((changes) => enableAccount(changes, accountId));
    expect(await mine.left()).toEqual(NOTHING);
    for (const ended of links) {
      expect(await works(person, ended)).toBe(false);
    }
    expect(await works(person, await link(person, 'invitation'))).toBe(true);
  });

  test('to another address ends its links, even after a change back', async () => {
    const person = await withPerson(under);
    const { run, accountId } = person;
    const links = await Promise.all(LINK_PURPOSES.map((purpose) => link(person, purpose)));
    for (const email of ['moreau@example.com', 'ada@example.com']) {
      await run((changes) => updateAccount(changes, { accountId, email }));
    }
    for (const ended of links) {
      expect(await works(person, ended)).toBe(false);
    }
  });

  test('that spells its address in another case, or names it anew, leaves the links', async () => {
    const person = await withPerson(under);
    const verification = await link(person, 'verify_email');
    const { accountId } = person as { accountId: AccountId };
    await person.run((changes) =>
      updateAccount(changes, { accountId, email: 'ADA@example.com', firstName: 'Ada' }),
    );
    expect(await works(person, verification)).toBe(true);
  });
});
