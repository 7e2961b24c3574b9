import { expect, test } from '@jest/globals';
import type { UserStatus } from '../../../src/domain/directory/names.js';
import { setPassword } from '../../../src/domain/platform/people/account-credentials.js';
import { takeEmail } from '../../../src/domain/platform/people/email-changes.js';
import type { UserView } from '../../../src/domain/platform/rows/people.js';
import { userStore } from '../../../src/store/adapters/directory.js';
import {
  inStatus,
  invite,
  newClient,
  newPlatform,
  type Platform,
  readUser,
  updateAs,
} from '../../store/adapters/platform/people.js';
import { mirrorOf } from '../../support/changes/mirror.js';
import { describeEachDatabase } from '../../support/databases.js';
import { valueIn } from '../../support/gateway/contract-rows.js';
import { ACTOR } from './credential-rows.js';

/** Who of the users of a person shows a later address. */

const FIRST = 'ada@example.com';
const NEW = 'moreau@example.com';
const NEWER = 'ada.moreau@example.com';
const STATUSES = ['ACTIVE', 'INACTIVE', 'INVITED', 'DELETED'] as const satisfies readonly UserStatus[];

/** A user of the person, and one whose manager that is. */
interface Pair {
  user: UserView;
  report: UserView;
}

describeEachDatabase('a person proves another address', (under) => {
  /** A person with a password is a user of four clients, in each status once. */
  async function person() {
    const platform = await newPlatform(under);
    const pairs = {} as Record<UserStatus, Pair>;
    for (const status of STATUSES) {
      const client = await newClient(platform, platform.instance.id, status);
      const user = await invite(platform, client.id, { email: FIRST });
      pairs[status] = { user, report: await invite(platform, client.id, { managerUserId: user.id }) };
      await inStatus(platform, user, status);
    }
    const { accountId } = pairs.ACTIVE.user;
    await platform.run((changes) => setPassword(changes, ACTOR, { accountId, passwordHash: 'hash' }));
    await platform.newEvents();
    const prove = (email: string) =>
      platform.run(async (changes) => {
        await changes.lock(accountId);
        await takeEmail(changes, accountId, email, { isProved: true });
      });
    return { platform, pairs, accountId, prove };
  }

  /** What is shown of each user, by the platform, by the gateway, and as a manager by both. */
  async function shown(platform: Platform, pairs: Record<UserStatus, Pair>) {
    const gateway = userStore(platform.database);
    const addresses = async ({ user, report }: Pair) => [
      (await readUser(platform, user)).email,
      (await valueIn(gateway.find(user.clientId, user.id)))?.email,
      (await readUser(platform, report)).manager?.email,
      (await valueIn(gateway.find(report.clientId, report.id)))?.manager?.email,
    ];
    const entries = STATUSES.map(async (status) => {
      const all = new Set(await addresses(pairs[status]));
      expect([status, all.size]).toEqual([status, 1]);
      return [status, [...all][0]];
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  const eventsOf = async (platform: Platform) =>
    (await platform.newEvents()).map(({ type, entity, data }) => [type, entity.id, data.email]);

  test('users as whom they have signed in show it; INVITED and DELETED ones keep theirs, and do not change', async () => {
    const { platform, pairs, prove } = await person();
    const { ACTIVE, INACTIVE, INVITED, DELETED } = pairs;
    const mirror = mirrorOf(platform.database, platform.instance.id);
    await mirror.follow();
    const before = await Promise.all([INVITED, DELETED].map(({ user }) => readUser(platform, user)));
    const versions = await platform.dataVersions();
    await prove(NEW);
    expect(await shown(platform, pairs)).toEqual({
      ...{ ACTIVE: NEW, INACTIVE: NEW },
      ...{ INVITED: FIRST, DELETED: FIRST },
    });
    expect(await eventsOf(platform)).toEqual([
      ['user.updated', ACTIVE.user.id, NEW],
      ['user.updated', INACTIVE.user.id, NEW],
    ]);
    const changed = (await mirror.follow()).map(({ entity }) => entity.id);
    const expected = [ACTIVE, INACTIVE].flatMap(({ user, report }) => [user.id, report.id]);
    expect(changed.sort()).toEqual(expected.sort());
    const after = await Promise.all([INVITED, DELETED].map(({ user }) => readUser(platform, user)));
    expect(after).toEqual(before.map((user) => ({ ...user, knownEmail: FIRST })));
    const later = await platform.dataVersions();
    const untouched = [INVITED, DELETED].map(({ user }) => user.clientId);
    expect(untouched.map((id) => later[id])).toEqual(untouched.map((id) => versions[id]));
  });

  test('and a third one: INVITED and DELETED users keep the first', async () => {
    const { platform, pairs, prove } = await person();
    await prove(NEW);
    await inStatus(platform, pairs.INACTIVE.user, 'DELETED');
    await platform.newEvents();
    await prove(NEWER);
    expect(await shown(platform, pairs)).toEqual({
      ...{ ACTIVE: NEWER, INACTIVE: NEW },
      ...{ INVITED: FIRST, DELETED: FIRST },
    });
    expect(await eventsOf(platform)).toEqual([['user.updated', pairs.ACTIVE.user.id, NEWER]]);
  });

  test('later events of a user who keeps an address, and of those whose manager that is, have the kept one', async () => {
    const { platform, pairs, prove } = await person();
    await prove(NEW);
    await platform.newEvents();
    const { user, report } = pairs.INVITED;
    await updateAs(platform, user, { firstName: 'Ada' });
    await updateAs(platform, report, { firstName: 'Ben' });
    const events = (await platform.newEvents()).map(({ data }) => [data.email, data.manager?.email]);
    expect(events).toEqual([
      [FIRST, undefined],
      [report.email, FIRST],
    ]);
  });

  test('UpdateUser takes the kept address for the present one, and refuses that of the account as any other', async () => {
    const { platform, pairs, accountId, prove } = await person();
    await prove(NEW);
    await platform.newEvents();
    const { user } = pairs.INVITED;
    const present = await readUser(platform, user);
    expect(await updateAs(platform, user, { email: FIRST })).toEqual(present);
    const asked = ['other@example.com', NEW].map((email) => updateAs(platform, user, { email }));
    const messages = asked.map((update) => update.catch((error: Error) => error.message));
    const refusal = expect.stringContaining('has not signed in as this user');
    expect(await Promise.all(messages)).toEqual([refusal, refusal]);
    expect(await updateAs(platform, user, { email: FIRST })).toEqual(present);
    expect(await platform.newEvents()).toEqual([]);
    const account = await platform.run((changes) => changes.accounts.find(accountId));
    expect(account?.email).toBe(NEW);
  });

  test('a kept address from before the rule is shown as the contracts show it, and may be sent back', async () => {
    const { platform, pairs, accountId, prove } = await person();
    await platform.database.write((writer) =>
      writer
        .updateTable('accounts')
        .set({ email: 'ada..moreau@Example.com', email_key: 'ada..moreau@example.com' })
        .where('id', '=', accountId)
        .execute(),
    );
    await prove(NEW);
    const { user } = pairs.INVITED;
    const kept = await readUser(platform, user);
    expect(kept.email).toMatch(/^[0-9a-f]{24}@address\.invalid$/);
    expect(await updateAs(platform, user, { email: kept.email })).toEqual(kept);
  });

  /** The statuses of the users that a search by this address finds, each at its own client. */
  async function found(platform: Platform, pairs: Record<UserStatus, Pair>, email: string) {
    const page = { after: undefined, limit: 9 };
    const entries = STATUSES.map(async (status) => {
      const filter = { clientId: pairs[status].user.clientId, statuses: STATUSES, emailKeys: [email] };
      const users = await platform.run((changes) => changes.users.page(page, filter));
      return users.length > 0 ? [status] : [];
    });
    return (await Promise.all(entries)).flat();
  }

  test('the list of users finds those who show it by it, and no other', async () => {
    const { platform, pairs, prove } = await person();
    await prove(NEW);
    expect(await found(platform, pairs, NEW)).toEqual(['ACTIVE', 'INACTIVE']);
  });

  test('and then the first one again: the list of users finds all of them by it', async () => {
    const { platform, pairs, prove } = await person();
    await prove(NEW);
    await prove(FIRST);
    expect(await found(platform, pairs, FIRST)).toEqual(STATUSES);
  });

  test('an address that takes effect without a proof is shown by all users', async () => {
    const { platform, pairs, accountId, prove } = await person();
    await prove(NEW);
    await platform.run(async (changes) => {
      await changes.lock(accountId);
      await takeEmail(changes, accountId, NEWER, { isProved: false });
    });
    expect(new Set(Object.values(await shown(platform, pairs)))).toEqual(new Set([NEWER]));
  });
});
