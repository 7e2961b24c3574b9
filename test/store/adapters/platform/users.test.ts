import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createRole } from '../../../../src/domain/platform/organization/roles.js';
import { deleteUser } from '../../../../src/domain/platform/people/user-updates.js';
import { createUser } from '../../../../src/domain/platform/people/users.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { inStatus, invite, newClient, newPlatform } from './people.js';

describeEachDatabase('creating users', (under) => {
  test('the first user of a client is INVITED as its Owner, has no manager, and is reported with both', async () => {
    const platform = await newPlatform(under);
    const { client, instance } = platform;
    const before = await platform.dataVersions();
    const email = 'Ada.Moreau@Example.com';
    const user = await invite(platform, client.id, {
      email: ` ${email} `,
      firstName: ' Ada ',
      lastName: 'Moreau',
    });

    expect(user).toMatchObject({
      id: expect.stringMatching(/^usr_[0-9A-Za-z]{22}$/),
      clientId: client.id,
      email,
      fullName: 'Ada Moreau',
      status: 'INVITED',
      manager: null,
      role: { name: 'Owner' },
      createdAt: platform.now(),
      updatedAt: platform.now(),
    });
    expect(await platform.newEvents()).toEqual([
      {
        type: 'user.created',
        occurredAt: platform.now(),
        sequence: platform.now(),
        instanceId: instance.id,
        clientId: client.id,
        entity: { type: 'user', id: user.id },
        data: {
          userId: user.id,
          clientId: client.id,
          email,
          firstName: 'Ada',
          lastName: 'Moreau',
          fullName: 'Ada Moreau',
          status: 'INVITED',
          manager: null,
          role: { id: user.roleId, name: 'Owner' },
          createdAt: new Date(platform.now()).toISOString(),
          links: {
            self: `/v1/instance-integrations/{instanceIntegrationId}/clients/${client.id}/users/${user.id}`,
          },
        },
      },
    ]);
    const after = await platform.dataVersions();
    expect(after[client.id]).not.toBe(before[client.id]);
    expect(after[instance.id]).toBe(before[instance.id]);
  });

  test('the others have the first Owner for a manager and no role, unless they are given others', async () => {
    const platform = await newPlatform(under);
    const { client } = platform;
    const owner = await invite(platform, client.id, { lastName: 'Moreau' });
    const clerk = await platform.run((changes) =>
      createRole(changes, { clientId: client.id, name: 'Clerk', permissions: [] }),
    );
    const byDefault = await invite(platform, client.id);
    const given = await invite(platform, client.id, { managerUserId: byDefault.id, roleId: clerk.id });
    const alone = await invite(platform, client.id, { withoutManager: true });

    const { id, email } = owner;
    const manager = { id, email, firstName: null, lastName: 'Moreau', fullName: 'Moreau' };
    expect(byDefault).toMatchObject({ manager, role: null, fullName: null });
    expect(given).toMatchObject({ manager: { id: byDefault.id }, role: { id: clerk.id, name: 'Clerk' } });
    expect(alone).toMatchObject({ manager: null, role: null });
    const events = await platform.newEvents();
    expect(events.map(({ data }) => [data.manager?.id, data.role?.name])).toEqual([
      [undefined, 'Owner'],
      [owner.id, undefined],
      [byDefault.id, 'Clerk'],
      [undefined, undefined],
    ]);
  });

  test('a DELETED Owner is never the default manager, and the next user is the Owner if there is no other', async () => {
    const platform = await newPlatform(under);
    const mistyped = await invite(platform, platform.client.id);
    await platform.run((changes) => deleteUser(changes, { userId: mistyped.id }));
    const owner = await invite(platform, platform.client.id);
    expect(owner).toMatchObject({ manager: null, role: { name: 'Owner' } });
    const other = await invite(platform, platform.client.id);
    expect(other).toMatchObject({ manager: { id: owner.id }, role: null });
    await platform.run((changes) => deleteUser(changes, { userId: owner.id }));
    expect(await invite(platform, platform.client.id)).toMatchObject({ manager: null, role: null });
  });

  test('a person is one account, however the address is written, and once a user of a client', async () => {
    const platform = await newPlatform(under);
    const other = await newClient(platform, platform.instance.id, 'Quillmere');
    const user = await invite(platform, platform.client.id, { email: 'ada@example.com', firstName: 'Ada' });
    const elsewhere = await invite(platform, other.id, { email: 'ADA@example.com', firstName: 'Adeline' });
    expect(elsewhere.accountId).toBe(user.accountId);
    expect(elsewhere).toMatchObject({
      email: 'ada@example.com',
      firstName: 'Adeline',
      role: { name: 'Owner' },
    });
    await platform.newEvents();

    const versions = await platform.dataVersions();
    const again = invite(platform, other.id, { email: 'Ada@Example.com' });
    expect(await refusalOf(again)).toEqual({
      code: 'ALREADY_EXISTS',
      faults: ['email must not be the address of a user of the same client'],
    });
    expect(await platform.newEvents()).toEqual([]);
    expect(await platform.dataVersions()).toEqual(versions);

    await platform.run((changes) => deleteUser(changes, { userId: elsewhere.id }));
    const back = await invite(platform, other.id, { email: 'ada@example.com' });
    expect(back).toMatchObject({ accountId: user.accountId, status: 'INVITED' });
    expect(back.id).not.toBe(elsewhere.id);
    const accounts = await platform.database.reader.selectFrom('accounts').selectAll().execute();
    expect(accounts).toMatchObject([{ email: 'ada@example.com', first_name: 'Ada', disabled_at: null }]);
  });

  test('calls at once for one new person make one account and one user', async () => {
    const platform = await newPlatform(under);
    const other = await newClient(platform, platform.instance.id, 'Quillmere');
    const email = 'ada@example.com';
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) =>
        invite(platform, index % 2 === 0 ? platform.client.id : other.id, { email }),
      ),
    );
    const created = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(created).toHaveLength(2);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({ code: 'ERROR_CODE_ALREADY_EXISTS' });
      }
    }
    expect(await platform.newEvents()).toHaveLength(3);
    expect(await platform.database.reader.selectFrom('accounts').select('id').execute()).toHaveLength(1);
  });

  test('all faults of the fields are told at once, and nothing is written', async () => {
    const platform = await newPlatform(under);
    const write = platform.run((changes) =>
      createUser(changes, {
        clientId: '',
        email: 'nobody',
        firstName: ' ',
        lastName: 'x'.repeat(201),
        managerUserId: 'usr_missing',
        withoutManager: true,
      }),
    );
    expect(await refusalOf(write)).toEqual({
      code: 'INVALID_REQUEST',
      faults: [
        'client_id must not be empty',
        'email must be an e-mail address',
        'first_name must not be empty',
        'last_name must not be longer than 200 characters',
        'without_manager must not be set together with manager_user_id',
      ],
    });
  });

  test('a client that does not exist is refused, however long its id, and no account is left behind', async () => {
    const platform = await newPlatform(under);
    // PostgreSQL cannot index it.
    const long = `cli_${randomBytes(6_000).toString('base64url')}`;
    for (const clientId of ['cli_missing', long]) {
      expect(await refusalOf(invite(platform, clientId))).toMatchObject({ code: 'CLIENT_NOT_FOUND' });
    }
    expect(await platform.database.reader.selectFrom('accounts').select('id').execute()).toEqual([]);
    expect(await platform.newEvents()).toEqual([]);
  });

  test('a manager and a role are of the same client, and both are named when neither is', async () => {
    const platform = await newPlatform(under);
    const { client } = platform;
    const other = await newClient(platform, platform.instance.id, 'Quillmere');
    const stranger = await invite(platform, other.id);
    const gone = await invite(platform, client.id);
    await inStatus(platform, gone, 'DELETED');
    const manager = 'manager_user_id must be a user of the same client, not a DELETED one';
    const role = 'role_id must be a role of the same client';

    const foreign = { managerUserId: stranger.id, roleId: stranger.roleId as string };
    expect(await refusalOf(invite(platform, client.id, foreign))).toEqual({
      code: 'USER_NOT_FOUND',
      faults: [manager, role],
    });
    expect(await refusalOf(invite(platform, client.id, { managerUserId: gone.id }))).toEqual({
      code: 'USER_NOT_FOUND',
      faults: [manager],
    });
    expect(await refusalOf(invite(platform, client.id, { roleId: 'role_missing' }))).toEqual({
      code: 'ROLE_NOT_FOUND',
      faults: [role],
    });
  });
});
