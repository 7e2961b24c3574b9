import { expect, test } from '@jest/globals';
import { listLargePage } from '../../../../src/domain/platform/listing.js';
import {
  createRole,
  deleteRole,
  editRolePermissions,
  getRole,
  type RoleEdit,
} from '../../../../src/domain/platform/organization/roles.js';
import { getUser } from '../../../../src/domain/platform/people/users.js';
import type { Changes } from '../../../../src/domain/platform/unit-of-work.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { inStatus, invite, newClient, newPlatform, type Platform } from './people.js';

function create({ run, client }: Platform, name = 'Clerk', permissions = ['payroll:read']) {
  return run((changes) => createRole(changes, { clientId: client.id, name, permissions }));
}

function edit({ run }: Platform, roleId: string, fields: Partial<RoleEdit>) {
  return run((changes) => editRolePermissions(changes, { roleId, permissions: [], userIds: [], ...fields }));
}

async function names({ run, client }: Platform, pageSize = 50): Promise<string[]> {
  const found: string[] = [];
  let pageToken = '';
  do {
    const page = await run((changes) =>
      listLargePage(
        { pageSize, pageToken },
        (request) => changes.roles.sizes(request, client.id),
        (ids) => changes.roles.findAll(client.id, ids),
      ),
    );
    found.push(...page.rows.map(({ name }) => name));
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return found;
}

describeEachDatabase('roles', (under) => {
  test('a client begins with Owner and Admin, and both stand before every other, page after page', async () => {
    const platform = await newPlatform(under);
    for (const name of ['Clerk', 'Auditor', 'Baker']) {
      await create(platform, name);
    }
    // Older than the built-in ones, as after a clock was set back.
    await platform.database.write((writer) =>
      writer.updateTable('roles').set({ created_at: 1 }).where('name', '=', 'Baker').execute(),
    );
    for (const pageSize of [1, 2, 3, 50]) {
      const [first, second, ...others] = await names(platform, pageSize);
      expect([first, second].sort()).toEqual(['Admin', 'Owner']);
      expect(others).toEqual(['Baker', 'Clerk', 'Auditor']);
    }
    const rows = await platform.database.reader.selectFrom('roles').selectAll().execute();
    expect(
      rows
        .filter(({ built_in }) => built_in === 1)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['Admin', 'Owner']);
  });

  test('a custom role is made of trimmed and distinct words, and no event is recorded', async () => {
    const platform = await newPlatform(under);
    const role = await create(platform, ' Clerk ', ['payroll:read', ' payroll:read', 'people:read']);
    expect(role).toMatchObject({
      id: expect.stringMatching(/^[0-9A-Za-z]{22}$/),
      name: 'Clerk',
      builtIn: false,
      permissions: ['payroll:read', 'people:read'],
      createdAt: platform.now(),
    });
    expect(await platform.run((changes) => getRole(changes, role.id))).toEqual(role);
    expect(await platform.newEvents()).toEqual([]);
  });

  test('faults of a role are told at once', async () => {
    const platform = await newPlatform(under);
    expect(await refusalOf(create(platform, ' ', ['a', '', 'c\u0000']))).toEqual({
      code: 'INVALID_REQUEST',
      faults: [
        'name must not be empty',
        'permissions[1] must not be empty',
        'permissions[2] must not contain control characters',
      ],
    });
    expect(await refusalOf(create(platform, 'Clerk', Array(501).fill('a')))).toMatchObject({
      faults: ['permissions must not have more than 500 items'],
    });
  });

  test('a name is one role’s of a client; another client may use it', async () => {
    const platform = await newPlatform(under);
    expect(await refusalOf(create(platform, 'Owner '))).toEqual({
      code: 'ALREADY_EXISTS',
      faults: ['name must not be the name of another role of the client'],
    });
    await create(platform, 'Clerk');
    const client = await newClient(platform, platform.instance.id, 'Quillmere');
    await expect(create({ ...platform, client }, 'Clerk')).resolves.toMatchObject({ clientId: client.id });
    expect(await refusalOf(create({ ...platform, client: { ...client, id: 'cli_missing' } }))).toMatchObject({
      code: 'CLIENT_NOT_FOUND',
    });
  });

  test('an edit of permissions re-points the role’s users at a new custom role, with one event each', async () => {
    const platform = await newPlatform(under);
    const { client } = platform;
    const role = await create(platform);
    const [one, two, gone] = [
      await invite(platform, client.id, { roleId: role.id }),
      await invite(platform, client.id, { roleId: role.id }),
      await invite(platform, client.id, { roleId: role.id }),
    ];
    await inStatus(platform, gone, 'DELETED');
    const aside = await invite(platform, client.id);
    await platform.newEvents();
    const before = await platform.dataVersions();

    const edited = await edit(platform, role.id, { permissions: ['payroll:*'] });
    expect(edited).toMatchObject({
      repointedUsers: 2,
      role: { name: 'Clerk (2)', permissions: ['payroll:*'], builtIn: false, clientId: client.id },
    });
    expect(await platform.run((changes) => getRole(changes, role.id))).toEqual(role);
    const events = await platform.newEvents();
    expect(events.map(({ type, entity }) => [type, entity.id]).sort()).toEqual(
      [one, two].map(({ id }) => ['user.updated', id]).sort(),
    );
    for (const { data } of events) {
      expect(data.role).toEqual({ id: edited.role.id, name: 'Clerk (2)' });
    }
    expect((await platform.dataVersions())[client.id]).not.toBe(before[client.id]);
    const roleOf = async ({ id }: { id: string }) => platform.run((changes) => getUser(changes, id));
    expect((await roleOf(one)).roleId).toBe(edited.role.id);
    expect((await roleOf(one)).version).not.toBe(one.version);
    expect((await roleOf(gone)).roleId).toBe(role.id);
    expect(await roleOf(aside)).toEqual(aside);
  });

  test('an edit can be of a built-in role, for some of its users, under another name', async () => {
    const platform = await newPlatform(under);
    const owner = await invite(platform, platform.client.id);
    const ownerRoleId = owner.roleId as string;
    const second = await invite(platform, platform.client.id, { roleId: ownerRoleId });
    await platform.newEvents();
    const some = { permissions: ['people:*'], name: ' Co-owner ', userIds: [second.id, second.id] };
    expect(await edit(platform, ownerRoleId, some)).toMatchObject({
      repointedUsers: 1,
      role: { name: 'Co-owner', builtIn: false },
    });
    const told = (await platform.newEvents()).map(({ entity, data }) => [entity.id, data.role.name]);
    expect(told).toEqual([[second.id, 'Co-owner']]);
    expect((await edit(platform, ownerRoleId, {})).role.name).toBe('Owner (2)');
    const after = await platform.run((changes) => changes.users.firstOwner(platform.client.id));
    expect(after).toBeUndefined();
  });

  test('an edit that changes no permission makes nothing', async () => {
    const platform = await newPlatform(under);
    const role = await create(platform, 'Clerk', ['a', 'b']);
    await invite(platform, platform.client.id, { roleId: role.id });
    await platform.newEvents();
    const before = await platform.dataVersions();
    expect(await edit(platform, role.id, { permissions: ['b', 'a', 'b'] })).toEqual({
      role,
      repointedUsers: 0,
    });
    expect(await platform.newEvents()).toEqual([]);
    expect(await names(platform)).toHaveLength(3);
    expect(await platform.dataVersions()).toEqual(before);
  });

  test.each<{ what: string; fields: Partial<RoleEdit>; code: string; faults: string[] }>([
    {
      what: 'users who do not have the role',
      fields: { userIds: ['usr_missing', 'usr_other'] },
      code: 'INVALID_REQUEST',
      faults: ['user_ids[0] must be a user who has the role', 'user_ids[1] must be a user who has the role'],
    },
    {
      what: 'a name that is taken',
      fields: { name: 'Clerk' },
      code: 'ALREADY_EXISTS',
      faults: ['name must not be the name of another role of the client'],
    },
    {
      what: 'faulty fields',
      fields: { name: '', permissions: [' '] },
      code: 'INVALID_REQUEST',
      faults: ['name must not be empty', 'permissions[0] must not be empty'],
    },
    {
      what: 'a version that is not the present one',
      fields: { expectedVersion: 'another' },
      code: 'VERSION_CONFLICT',
      faults: [],
    },
  ])('an edit with $what is refused', async ({ fields, code, faults }) => {
    const platform = await newPlatform(under);
    const role = await create(platform);
    expect(await refusalOf(edit(platform, role.id, fields))).toEqual({ code, faults });
    expect(await names(platform)).toHaveLength(3);
  });

  test('a role is deleted when no user has it; DELETED users lose it and are reported', async () => {
    const platform = await newPlatform(under);
    const role = await create(platform);
    const user = await invite(platform, platform.client.id, { roleId: role.id });
    await platform.newEvents();
    const remove = (fields = {}) =>
      platform.run((changes) => deleteRole(changes, { roleId: role.id, ...fields }));
    expect(await refusalOf(remove())).toEqual({ code: 'RESOURCE_IN_USE', faults: [] });
    expect(await refusalOf(remove({ expectedVersion: 'another' }))).toMatchObject({
      code: 'VERSION_CONFLICT',
    });
    await inStatus(platform, user, 'DELETED');

    await remove({ expectedVersion: role.version });
    expect(await platform.newEvents()).toMatchObject([
      { type: 'user.updated', data: { userId: user.id, status: 'DELETED', role: null } },
    ]);
    expect(await refusalOf(remove())).toEqual({ code: 'ROLE_NOT_FOUND', faults: [] });
  });

  test('an edit for named users, one without changes and a refused deletion do not read all who have the role', async () => {
    const platform = await newPlatform(under);
    const role = await create(platform);
    const user = await invite(platform, platform.client.id, { roleId: role.id });
    const withoutAll = <T>(work: (changes: Changes) => Promise<T>) =>
      platform.run((changes) => {
        const withRole: Changes['users']['withRole'] = (holders) =>
          holders.among
            ? changes.users.withRole(holders)
            : Promise.reject(new Error('They may be very many.'));
        return work({ ...changes, users: { ...changes.users, withRole } });
      });
    const roleId = role.id;
    const refused = withoutAll((changes) => deleteRole(changes, { roleId }));
    await expect(refused).rejects.toThrow('A user has this role; give them another one first.');
    const { permissions } = role;
    const same = await withoutAll((changes) =>
      editRolePermissions(changes, { roleId, permissions, userIds: [] }),
    );
    expect(same).toEqual({ role, repointedUsers: 0 });
    const named = { roleId, permissions: [], userIds: [user.id] };
    expect(await withoutAll((changes) => editRolePermissions(changes, named))).toMatchObject({
      repointedUsers: 1,
    });
  });

  test('a built-in role is not deleted', async () => {
    const platform = await newPlatform(under);
    const rows = await platform.database.reader.selectFrom('roles').selectAll().execute();
    for (const { id } of rows) {
      const write = platform.run((changes) => deleteRole(changes, { roleId: id }));
      expect(await refusalOf(write)).toEqual({ code: 'RESOURCE_BUILT_IN', faults: [] });
    }
    expect(await names(platform)).toHaveLength(2);
  });

  test('a long name keeps its characters whole when it gets a number', async () => {
    const platform = await newPlatform(under);
    const role = await create(platform, `${'🔑'.repeat(196)}${'b'.repeat(4)}`);
    const first = await edit(platform, role.id, { permissions: ['people:read'] });
    const second = await edit(platform, role.id, { permissions: ['people:write'] });
    expect([first.role.name, second.role.name]).toEqual([
      `${'🔑'.repeat(196)} (2)`,
      `${'🔑'.repeat(196)} (3)`,
    ]);
    expect(await platform.run((changes) => getRole(changes, first.role.id))).toEqual(first.role);
  });
});
