import { newVersion } from '../../version.js';
import { linkToUser } from '../links.js';
import type { User, UserFields, UserView } from '../rows/people.js';
import type { Changes } from '../unit-of-work.js';
import { contractEmailOf } from './email-addresses.js';

/** What these rules use of a write. */
type Ports = Pick<Changes, 'now' | 'recordEvent' | 'touch' | 'users'>;

/** Writes the same fields of these users, with an event for each user. */
export async function writeUsers(
  changes: Ports,
  users: readonly User[],
  fields: UserFields = {},
): Promise<UserView[]> {
  for (const { id } of users) {
    await changes.users.update({ id, ...fields, version: newVersion(), updatedAt: changes.now });
  }
  await changes.touch(...users.map(({ clientId }) => clientId));
  const written: UserView[] = [];
  // After all of them are written: one may be the manager of another.
  for (const { id } of users) {
    written.push(await recordUser(changes, 'user.updated', id));
  }
  return written;
}

/** Records an event with the user's present state. */
export async function recordUser(
  changes: Pick<Changes, 'recordEvent' | 'users'>,
  type: 'user.created' | 'user.updated',
  id: User['id'],
): Promise<UserView> {
  const user = await changes.users.find(id);
  if (!user) {
    throw new Error(`The user ${id} was written a moment ago and is not there.`);
  }
  await changes.recordEvent({
    type,
    instanceId: user.instanceId,
    clientId: user.clientId,
    entity: { type: 'user', id: user.id },
    data: {
      userId: user.id,
      clientId: user.clientId,
      email: contractEmailOf(user.email),
      firstName: user.firstName,
      lastName: user.lastName,
      fullName: user.fullName,
      status: user.status,
      manager: user.manager && { ...user.manager, email: contractEmailOf(user.manager.email) },
      role: user.role && { id: user.role.id, name: user.role.name },
      createdAt: new Date(user.createdAt).toISOString(),
      links: { self: linkToUser(user.clientId, user.id) },
    },
  });
  return user;
}
