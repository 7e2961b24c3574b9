import { expect, test } from '@jest/globals';
import type { Kysely } from 'kysely';
import type { AccountId } from '../../../../generated/ids.js';
import { createClient } from '../../../../src/domain/platform/organization/clients.js';
import { createInstance } from '../../../../src/domain/platform/organization/instances.js';
import { getAccountByEmail } from '../../../../src/domain/platform/people/accounts.js';
import { emailKeysOf } from '../../../../src/domain/platform/people/email-keys.js';
import { ALL_BUT_DELETED, createUser } from '../../../../src/domain/platform/people/users.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { keyByMailbox } from '../../../../src/store/migrations/0008-bounded-sign-on.js';
import { describeEachDatabase } from '../../../support/databases.js';

const COMPOSED = 'jos\u00e9@example.com';
const DECOMPOSED = 'jose\u0301@example.com';
const WIDE = '\uff41da@example.com';
const PLAIN = 'ada@example.com';

describeEachDatabase('accounts of before', (under) => {
  /** As the releases before left them: keys in lower case and nothing more. */
  async function ofBefore() {
    const database = await under.openMigrated();
    const add = (number: number, email: string) =>
      database.write((writer) =>
        writer
          .insertInto('accounts')
          .values({
            id: `acc_${number}` as AccountId,
            worker_profile_id: `wpf_${number}`,
            email,
            email_key: email.toLowerCase(),
            same_mailbox_as: null,
            email_verified_at: null,
            first_name: null,
            last_name: null,
            disabled_at: null,
            version: 'v',
            created_at: number,
            updated_at: number,
          })
          .execute(),
      );
    await add(1, WIDE);
    await add(2, PLAIN);
    await add(4, DECOMPOSED);
    await add(3, COMPOSED);
    await add(5, 'Grace@b\u00fccher.example');
    await database.write((writer) =>
      writer
        .insertInto('account_links')
        .values({
          ...{
            token_hash: 'hash',
            account_id: 'acc_5',
            purpose: 'reset',
            email_key: 'grace@b\u00fccher.example',
          },
          ...{ created_at: 1, expires_at: 2, ended_at: null },
        })
        .execute(),
    );
    await keyByMailbox(database.patient as unknown as Kysely<unknown>);
    return { database, run: platformUnitOfWork(database).run };
  }

  test('are known by their mailbox, and none is lost where two have one', async () => {
    const { database, run } = await ofBefore();
    const idOf = async (email: string) => (await run((changes) => getAccountByEmail(changes, email))).id;
    // The one that is written plainly, or was there first, is found however its address is written.
    expect(await idOf(PLAIN)).toBe('acc_2');
    expect(await idOf('ADA\u200b@EXAMPLE.com')).toBe('acc_2');
    expect(await idOf(COMPOSED)).toBe('acc_3');
    // The other one by its very address.
    expect(await idOf(WIDE)).toBe('acc_1');
    expect(await idOf(DECOMPOSED)).toBe('acc_4');
    expect(await idOf('grace@xn--bcher-kva.example')).toBe('acc_5');
    const shared = await database.reader
      .selectFrom('accounts')
      .where('same_mailbox_as', 'is not', null)
      .orderBy('id')
      .select(['id', 'same_mailbox_as'])
      .execute();
    expect(shared).toEqual([
      { id: 'acc_1', same_mailbox_as: 'acc_2' },
      { id: 'acc_4', same_mailbox_as: 'acc_3' },
    ]);
    const [link] = await database.reader.selectFrom('account_links').select('email_key').execute();
    expect(link?.email_key).toBe('grace@xn--bcher-kva.example');
  });

  test('have users who are listed by their address', async () => {
    const { run } = await ofBefore();
    const { id: instanceId } = await run((changes) => createInstance(changes, { name: 'Harborlight' }));
    const { id: clientId } = await run((changes) =>
      createClient(changes, { instanceId, name: 'Tallowfern' }),
    );
    const invite = (email: string) =>
      run((changes) => createUser(changes, { clientId, email, withoutManager: true }));
    const users = [await invite(COMPOSED), await invite(DECOMPOSED)];
    expect(users.map(({ accountId }) => accountId)).toEqual(['acc_3', 'acc_4']);
    const listed = async (email: string) => {
      const filter = { clientId, statuses: ALL_BUT_DELETED, emailKeys: emailKeysOf(email) };
      const found = await run((changes) => changes.users.page({ limit: 9, after: undefined }, filter));
      return found.map(({ accountId }) => accountId).sort();
    };
    expect(await listed(COMPOSED)).toEqual(['acc_3']);
    expect(await listed(DECOMPOSED)).toEqual(['acc_3', 'acc_4']);
  });

  test('can be changed, and have a mailbox of their own once they get another address', async () => {
    const { database, run } = await ofBefore();
    const change = (fields: { email?: string; firstName?: string }) =>
      run(async (changes) => {
        const present = await changes.accounts.find('acc_4');
        await changes.accounts.update({ ...(present as NonNullable<typeof present>), ...fields });
      });
    const row = () =>
      database.reader
        .selectFrom('accounts')
        .where('id', '=', 'acc_4')
        .select(['email_key', 'same_mailbox_as'])
        .executeTakeFirstOrThrow();
    await change({ firstName: 'Jos\u00e9' });
    expect(await row()).toEqual({ email_key: DECOMPOSED, same_mailbox_as: 'acc_3' });
    await change({ email: 'JOSE.own@example.com' });
    expect(await row()).toEqual({ email_key: 'jose.own@example.com', same_mailbox_as: null });
  });
});
