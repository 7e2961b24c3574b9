import { expect, test } from '@jest/globals';
import { takeEmail } from '../../../../src/domain/platform/people/email-changes.js';
import {
  deleteUser,
  disableUser,
  enableUser,
  updateUser,
} from '../../../../src/domain/platform/people/user-updates.js';
import type { UserView } from '../../../../src/domain/platform/rows/people.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { inStatus, invite, newClient, newPlatform, readUser, staffed, updateAs } from './people.js';

const moves = { enableUser, disableUser, deleteUser };

type Fields = Parameters<typeof updateAs>[2];

describeEachDatabase('updating a user', (under) => {
  test.each<{ what: string; fields: (staff: Record<string, UserView>) => Fields; expected: object }>([
    { what: 'the address', fields: () => ({ email: ' B@x.example ' }), expected: { email: 'B@x.example' } },
    {
      what: 'the first name',
      fields: () => ({ firstName: ' Bo ' }),
      expected: { firstName: 'Bo', fullName: 'Bo Okafor' },
    },
    {
      what: 'a name that is cleared',
      fields: () => ({ updateMask: ['first_name'], lastName: 'is not in the mask' }),
      expected: { firstName: null, fullName: 'Okafor' },
    },
    {
      what: 'both names that are cleared',
      fields: () => ({ updateMask: ['first_name', 'last_name'] }),
      expected: { firstName: null, lastName: null, fullName: null },
    },
    {
      what: 'the manager',
      fields: ({ lead }) => ({ managerUserId: lead?.id }),
      expected: { manager: { fullName: 'Cleo', lastName: null } },
    },
    { what: 'no manager', fields: () => ({ updateMask: ['manager_user_id'] }), expected: { manager: null } },
    {
      what: 'the role',
      fields: ({ owner }) => ({ roleId: owner?.roleId as string }),
      expected: { role: { name: 'Owner' } },
    },
    {
      what: 'several things at once',
      fields: () => ({ email: 'b@x.example', lastName: 'Oyelaran' }),
      expected: { email: 'b@x.example', fullName: 'Ben Oyelaran' },
    },
  ])(
    'writes $what, with a new version of it and of its client, and one event',
    async ({ fields, expected }) => {
      const platform = await newPlatform(under);
      const staff = await staffed(platform);
      const before = await platform.dataVersions();
      const updated = await updateAs(platform, staff.user, fields(staff));

      expect(updated).toMatchObject({
        ...expected,
        createdAt: staff.user.createdAt,
        updatedAt: platform.now(),
      });
      expect(await readUser(platform, staff.user)).toEqual(updated);
      expect(updated.version).not.toBe(staff.user.version);
      const at = updated.updatedAt;
      expect(await platform.newEvents()).toMatchObject([
        {
          type: 'user.updated',
          occurredAt: at,
          entity: { id: updated.id },
          data: { status: 'INVITED', ...expected },
        },
      ]);
      const after = await platform.dataVersions();
      expect(after[platform.client.id]).not.toBe(before[platform.client.id]);
      expect(after[platform.instance.id]).toBe(before[platform.instance.id]);
    },
  );

  test.each<{ what: string; fields: (user: UserView) => Fields }>([
    { what: 'no field', fields: () => ({}) },
    { what: 'an empty mask', fields: () => ({ updateMask: [], firstName: 'Bo' }) },
    { what: 'the present address', fields: ({ email }) => ({ email }) },
    { what: 'the present names', fields: () => ({ firstName: 'Ben ', lastName: 'Okafor' }) },
    {
      what: 'the present manager and no role',
      fields: ({ managerId }) => ({
        managerUserId: managerId as string,
        updateMask: ['manager_user_id', 'role_id'],
      }),
    },
  ])('with $what changes nothing and records nothing', async ({ fields }) => {
    const platform = await newPlatform(under);
    const { user } = await staffed(platform);
    const before = await platform.dataVersions();
    expect(await updateAs(platform, user, fields(user))).toEqual(user);
    expect(await readUser(platform, user)).toEqual(user);
    expect(await platform.newEvents()).toEqual([]);
    const after = await platform.dataVersions();
    expect(after[platform.client.id]).toBe(before[platform.client.id]);
  });

  test.each<{
    what: string;
    fields: (staff: Record<string, UserView>) => Fields;
    code: string;
    faults: string[];
  }>([
    {
      what: 'several faulty fields',
      fields: () => ({ email: 'ben@', firstName: '', lastName: 'a\u0007b' }),
      code: 'INVALID_REQUEST',
      faults: [
        'email must be an e-mail address',
        'first_name must not be empty',
        'last_name must not contain control characters',
      ],
    },
    {
      what: 'a mask that clears the address, and one of an unknown field',
      fields: () => ({ updateMask: ['email', 'status'] }),
      code: 'INVALID_REQUEST',
      faults: ['update_mask does not know status', 'email cannot be cleared'],
    },
    {
      what: 'the address of another person',
      fields: ({ owner }) => ({ email: owner?.email.toUpperCase(), firstName: 'Bo' }),
      code: 'ALREADY_EXISTS',
      faults: ['email must not be the address of another account'],
    },
    {
      what: 'oneself for a manager',
      fields: ({ user }) => ({ managerUserId: user?.id }),
      code: 'INVALID_REQUEST',
      faults: ['manager_user_id must not be the user or a person who reports to the user'],
    },
    {
      what: 'a manager and a role that are not there',
      fields: () => ({ managerUserId: 'usr_missing', roleId: 'role_missing' }),
      code: 'USER_NOT_FOUND',
      faults: [
        'manager_user_id must be a user of the same client, not a DELETED one',
        'role_id must be a role of the same client',
      ],
    },
    {
      what: 'a version that is not the present one',
      fields: () => ({ firstName: 'Bo', expectedVersion: 'another' }),
      code: 'VERSION_CONFLICT',
      faults: [],
    },
  ])('with $what is refused and leaves everything as it was', async ({ fields, code, faults }) => {
    const platform = await newPlatform(under);
    const staff = await staffed(platform);
    const before = await platform.dataVersions();
    expect(await refusalOf(updateAs(platform, staff.user, fields(staff)))).toEqual({ code, faults });
    expect(await readUser(platform, staff.user)).toEqual(staff.user);
    expect(await platform.newEvents()).toEqual([]);
    expect(await platform.dataVersions()).toEqual(before);
  });

  test('takes the present manager back after they were DELETED, as a form sends it, but no other DELETED one', async () => {
    const platform = await newPlatform(under);
    const { owner, user, lead } = await staffed(platform);
    for (const { id } of [owner, lead]) {
      await platform.run((changes) => deleteUser(changes, { userId: id }));
    }
    const changed = await updateAs(platform, user, { managerUserId: owner.id, lastName: 'Oyelaran' });
    expect(changed).toMatchObject({ lastName: 'Oyelaran', managerId: owner.id });
    expect(await refusalOf(updateAs(platform, user, { managerUserId: lead.id }))).toEqual({
      code: 'USER_NOT_FOUND',
      faults: ['manager_user_id must be a user of the same client, not a DELETED one'],
    });
  });

  test('no user reports to themselves, even indirectly', async () => {
    const platform = await newPlatform(under);
    const { owner, user, lead } = await staffed(platform);
    await updateAs(platform, lead, { managerUserId: user.id });
    expect(await refusalOf(updateAs(platform, owner, { managerUserId: lead.id }))).toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });

  test('a manager is judged in one read, however many are above', async () => {
    const platform = await newPlatform(under);
    const { user, lead } = await staffed(platform);
    let managerId = lead.id;
    for (let above = 0; above < 12; above += 1) {
      managerId = (await invite(platform, platform.client.id, { managerUserId: managerId })).id;
    }
    const finds: string[] = [];
    await platform.run((changes) => {
      const find = (id: string) => {
        finds.push(id);
        return changes.users.find(id);
      };
      const counted = { ...changes, users: { ...changes.users, find } };
      return updateUser(counted, { userId: user.id, managerUserId: managerId });
    });
    expect(new Set(finds)).toEqual(new Set([user.id, managerId]));
  });

  test('of a new address, which waits, writes the other fields and shows the address to the client that asked', async () => {
    const platform = await newPlatform(under);
    const other = await newClient(platform, platform.instance.id, 'Quillmere');
    const { user } = await staffed(platform);
    const elsewhere = await invite(platform, other.id, { email: user.email });
    await inStatus(platform, user, 'ACTIVE');
    await platform.newEvents();
    const updated = await updateAs(platform, user, { email: 'new@example.com', firstName: 'Bo' });
    const at = updated.updatedAt;
    const pendingEmail = { email: 'new@example.com', askedAt: at, expiresAt: at + 7 * 86_400_000 };
    expect(updated).toMatchObject({ email: user.email, firstName: 'Bo', pendingEmail });
    expect(await readUser(platform, user)).toEqual(updated);
    expect(await readUser(platform, elsewhere)).toEqual(elsewhere);
    expect((await platform.newEvents()).map(({ data }) => [data.email, data.firstName])).toEqual([
      [user.email, 'Bo'],
    ]);
    // Asked for again it is the same wish; the present address takes it back.
    const again = await updateAs(platform, user, { email: 'new@example.com' });
    expect(again).toEqual(updated);
    const back = await updateAs(platform, user, { email: user.email });
    expect(back).toEqual({ ...updated, pendingEmail: null });
    expect(await platform.newEvents()).toEqual([]);
  });

  test('ends the address request of its client when it is deleted, and no other request', async () => {
    const platform = await newPlatform(under);
    const other = await newClient(platform, platform.instance.id, 'Quillmere');
    const { user } = await staffed(platform);
    const elsewhere = await invite(platform, other.id, { email: user.email });
    await inStatus(platform, user, 'ACTIVE');
    await inStatus(platform, elsewhere, 'ACTIVE');
    await updateAs(platform, user, { email: 'new@example.com' });
    await updateAs(platform, elsewhere, { email: 'newer@example.com' });
    await platform.run((changes) => deleteUser(changes, { userId: user.id }));
    const left = await platform.run((changes) => changes.emailChanges.ofAccount(user.accountId));
    expect(left.map(({ asker }) => asker)).toEqual([other.id]);
  });

  test('of an address that takes effect reports every user the person is, changes former ones too, and makes it unverified', async () => {
    const platform = await newPlatform(under);
    const other = await newClient(platform, platform.instance.id, 'Quillmere');
    const aside = await newClient(platform, platform.instance.id, 'Aside');
    const { user, lead } = await staffed(platform);
    await updateAs(platform, lead, { managerUserId: user.id });
    const { email } = user;
    const elsewhere = await invite(platform, other.id, { email });
    await inStatus(platform, elsewhere, 'DELETED');
    await platform.database.write((writer) =>
      writer.updateTable('accounts').set({ email_verified_at: 1 }).where('email', '=', email).execute(),
    );
    await platform.newEvents();
    const before = await platform.dataVersions();

    await platform.run(async (changes) => {
      await changes.lock(user.accountId);
      await takeEmail(changes, user.accountId, 'new@example.com', { isProved: false });
    });
    const events = await platform.newEvents();
    expect(events).toMatchObject([
      { type: 'user.updated', data: { userId: user.id, email: 'new@example.com', firstName: 'Ben' } },
    ]);
    const former = await readUser(platform, elsewhere);
    expect(former.email).toBe('new@example.com');
    expect(former.version).not.toBe(elsewhere.version);
    expect(await readUser(platform, lead)).toMatchObject({ manager: { email: 'new@example.com' } });
    const after = await platform.dataVersions();
    for (const { id } of [platform.client, other]) {
      expect(after[id]).not.toBe(before[id]);
    }
    expect(after[aside.id]).toBe(before[aside.id]);
    const account = platform.database.reader.selectFrom('accounts').where('id', '=', user.accountId);
    expect(await account.selectAll().executeTakeFirst()).toMatchObject({
      email_key: 'new@example.com',
      email_verified_at: null,
      first_name: 'Ben',
    });
  });

  test.each(['usr_missing', ''])(
    'that does not exist (%j) is refused, whatever is asked of it',
    async (id) => {
      const platform = await newPlatform(under);
      const missing = { code: 'USER_NOT_FOUND', faults: [] };
      expect(await refusalOf(updateAs(platform, { id }, { firstName: 'Bo' }))).toEqual(missing);
      for (const move of Object.values(moves)) {
        expect(await refusalOf(platform.run((changes) => move(changes, { userId: id })))).toEqual(missing);
      }
    },
  );
});
