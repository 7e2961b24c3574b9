import { newVersion } from '../version.js';
import { linkToUser } from './links.js';
import type { Changes } from './unit-of-work.js';
import type { User, UserView } from './users.js';

/** Writes users that something of was changed, here or in their account, and tells of each. */
export async function writeUsers(changes: Changes, users: readonly User[]): Promise<UserView[]> {
  for (const user of users) {
    await changes.users.update({ ...user, version: newVersion(), updatedAt: changes.now });
  }
  await changes.touch(...users.map(({ clientId }) => clientId));
  const written: UserView[] = [];
  // Only after all of them are written: one may be the manager of another.
  for (const { id } of users) {
    written.push(await recordUser(changes, 'user.updated', id));
  }
  return written;
}

/** Tells of a user as it now stands. */
export async function recordUser(
  changes: Changes,
  type: 'user.created' | 'user.updated',
  id: User['id'],
): Promise<UserView> {
  const user = await changes.users.find(id);
  if (!user) {
    throw new Error(`The user ${id} was written a moment ago and is not there.`);
  }
  await changes.record({
    type,
    instanceId: user.instanceId,
    clientId: user.clientId,
    entity: { type: 'user', id: user.id },
    data: {
      userId: user.id,
      clientId: user.clientId,
      email: user.email,
      firstName: user.firstName,
      lastName: user.lastName,
      fullName: user.fullName,
      status: user.status,
      manager: user.manager,
      role: user.role && { id: user.role.id, name: user.role.name },
      createdAt: new Date(user.createdAt).toISOString(),
      links: { self: linkToUser(user.clientId, user.id) },
    },
  });
  return user;
}
