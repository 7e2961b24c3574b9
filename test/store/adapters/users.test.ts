import { expect, test } from '@jest/globals';
import { userStore } from '../../../src/store/adapters/directory.js';
import { describeEachDatabase } from '../../support/databases.js';
import { valueIn, valuesIn } from '../../support/gateway/contract-rows.js';
import { plantAccount, plantClient, plantRole, plantUser } from '../directory-rows.js';
import { CREATED_AT } from '../rows.js';

const ALL = { after: undefined, limit: 100 };

describeEachDatabase('users', (under) => {
  test('come with the address of their credential, their manager with theirs, and their role', async () => {
    const database = await under.openMigrated();
    const { id: client_id } = await plantClient(database);
    const role = await plantRole(database, client_id, 'Payroll "clerk"');
    const owner = await plantUser(
      database,
      { client_id, first_name: null, last_name: 'Lindqvist', full_name: null },
      'Owner@Example.com',
    );
    const { id, email } = await plantUser(database, {
      client_id,
      status: 'INVITED',
      manager_id: owner.id,
      role_id: role.id,
      created_at: CREATED_AT + 1,
    });
    const expected = {
      userId: id,
      clientId: client_id,
      email,
      firstName: 'Eliseo',
      lastName: 'Brandt',
      fullName: 'Eliseo Brandt',
      status: 'INVITED',
      manager: {
        id: owner.id,
        firstName: null,
        lastName: 'Lindqvist',
        fullName: null,
        email: 'Owner@Example.com',
      },
      role,
      createdAt: new Date(CREATED_AT + 1).toISOString(),
    };
    const users = userStore(database);
    await expect(valueIn(users.find(client_id, id))).resolves.toStrictEqual(expected);
    expect((await valuesIn(users.page(client_id, ALL)))[1]).toStrictEqual(expected);
  });

  test('without names, manager and role have nulls in their places, and stay in the list', async () => {
    const database = await under.openMigrated();
    const { id: client_id } = await plantClient(database);
    const nameless = { first_name: null, last_name: null, full_name: null };
    const { id } = await plantUser(database, { client_id, ...nameless });
    const nulls = { firstName: null, lastName: null, fullName: null, manager: null, role: null };
    await expect(valuesIn(userStore(database).page(client_id, ALL))).resolves.toMatchObject([
      { userId: id, ...nulls },
    ]);
  });

  test('a DELETED user leaves the list, is found by id, and remains the manager of others', async () => {
    const database = await under.openMigrated();
    const { id: client_id } = await plantClient(database);
    const statuses = ['ACTIVE', 'INACTIVE', 'INVITED', 'DELETED'] as const;
    const ids: Record<string, string> = {};
    let manager_id: string | null = null;
    for (const [index, status] of [...statuses].reverse().entries()) {
      const { id } = await plantUser(database, {
        client_id,
        status,
        manager_id,
        created_at: CREATED_AT + index,
      });
      ids[status] = id;
      manager_id ??= id;
    }
    const users = userStore(database);
    const listed = await valuesIn(users.page(client_id, ALL));
    expect(listed.map(({ status }) => status)).toEqual(['INVITED', 'INACTIVE', 'ACTIVE']);
    expect(listed.map(({ manager }) => manager?.id)).toEqual(Array(3).fill(ids.DELETED));
    const deleted = await valueIn(users.find(client_id, ids.DELETED as 'usr_'));
    expect(deleted).toMatchObject({ status: 'DELETED' });
  });

  test('of another client are not found, also where one person is a user of both', async () => {
    const database = await under.openMigrated();
    const [mine, theirs] = [await plantClient(database), await plantClient(database)];
    const account = await plantAccount(database, 'both@example.com');
    const [here, there] = [
      await plantUser(database, { client_id: mine.id, account_id: account.id }),
      await plantUser(database, { client_id: theirs.id, account_id: account.id }),
    ];
    const users = userStore(database);
    await expect(users.find(mine.id, there.id)).resolves.toBeUndefined();
    await expect(users.find(mine.id, 'usr_missing')).resolves.toBeUndefined();
    await expect(valueIn(users.find(mine.id, here.id))).resolves.toMatchObject({ email: 'both@example.com' });
    expect((await users.page(theirs.id, ALL)).map(({ id }) => id)).toEqual([there.id]);
  });
});
