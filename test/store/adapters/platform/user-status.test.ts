import { expect, test } from '@jest/globals';
import type { UserStatus } from '../../../../src/domain/directory/names.js';
import { deleteUser, disableUser, enableUser } from '../../../../src/domain/platform/people/user-updates.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { inStatus, invite, newClient, newPlatform, readUser, staffed, updateAs } from './people.js';

const STATUSES: readonly UserStatus[] = ['ACTIVE', 'INACTIVE', 'INVITED', 'DELETED'];
const moves = { enableUser, disableUser, deleteUser };

describeEachDatabase('the status of a user', (under) => {
  const allowed: Record<keyof typeof moves, { [From in UserStatus]?: UserStatus }> = {
    enableUser: { INACTIVE: 'ACTIVE', ACTIVE: 'ACTIVE' },
    disableUser: { ACTIVE: 'INACTIVE', INACTIVE: 'INACTIVE' },
    deleteUser: { ACTIVE: 'DELETED', INACTIVE: 'DELETED', INVITED: 'DELETED', DELETED: 'DELETED' },
  };
  const names = Object.keys(moves) as (keyof typeof moves)[];

  test.each(names)('is changed by %s from where that is allowed, and is refused elsewhere', async (name) => {
    const platform = await newPlatform(under);
    for (const from of STATUSES) {
      const to = allowed[name][from];
      const user = await invite(platform, platform.client.id);
      await inStatus(platform, user, from);
      await platform.newEvents();
      const before = await platform.dataVersions();
      const transition = { userId: user.id, expectedVersion: user.version };
      const move = platform.run((changes) => moves[name](changes, transition));
      if (to === undefined) {
        expect(await refusalOf(move)).toEqual({ code: 'TRANSITION_REFUSED', faults: [] });
      } else {
        expect(await move).toMatchObject({ status: to, role: user.role, manager: user.manager });
      }

      const changed = to !== undefined && to !== from;
      const now = await readUser(platform, user);
      expect(now.status).toBe(to ?? from);
      expect(now.version === user.version).toBe(!changed);
      const after = await platform.dataVersions();
      expect(after[platform.client.id] === before[platform.client.id]).toBe(!changed);
      const events = (await platform.newEvents()).map(({ type, data }) => [type, data.status]);
      expect(events).toEqual(changed ? [['user.updated', to]] : []);
    }
  });

  test.each(names)('is not changed by %s when the expected version is not the present one', async (name) => {
    const platform = await newPlatform(under);
    const { user } = await staffed(platform);
    await inStatus(platform, user, name === 'enableUser' ? 'INACTIVE' : 'ACTIVE');
    const move = platform.run((changes) =>
      moves[name](changes, { userId: user.id, expectedVersion: 'another' }),
    );
    expect(await refusalOf(move)).toEqual({ code: 'VERSION_CONFLICT', faults: [] });
    expect(await platform.newEvents()).toEqual([]);
  });

  test('DELETED, when it is written again, ends no address request of a later user of the person', async () => {
    const platform = await newPlatform(under);
    const email = 'ada@example.com';
    const elsewhere = await newClient(platform, platform.instance.id, 'Quillmere');
    await invite(platform, elsewhere.id, { email });
    const earlier = await invite(platform, platform.client.id, { email });
    const deleteEarlier = () => platform.run((changes) => deleteUser(changes, { userId: earlier.id }));
    await deleteEarlier();
    const later = await invite(platform, platform.client.id, { email });
    await inStatus(platform, later, 'ACTIVE');
    await updateAs(platform, later, { email: 'moreau@example.com' });
    await deleteEarlier();
    expect(await readUser(platform, later)).toMatchObject({ pendingEmail: { email: 'moreau@example.com' } });
  });

  test('of a DELETED user is final: it cannot be updated either', async () => {
    const platform = await newPlatform(under);
    const { user } = await staffed(platform);
    await platform.run((changes) => deleteUser(changes, { userId: user.id }));
    await platform.newEvents();
    for (const fields of [{ firstName: 'Bo' }, { email: 'bo@example.com' }, {}]) {
      expect(await refusalOf(updateAs(platform, user, fields))).toMatchObject({ code: 'TRANSITION_REFUSED' });
    }
    expect(await platform.newEvents()).toEqual([]);
  });
});
