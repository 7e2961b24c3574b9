import type { ClientId } from '../../../../generated/ids.js';
import type { Changes } from '../unit-of-work.js';
import { newRole } from './new-role.js';

export const OWNER = 'Owner';

const BUILT_IN_ROLES = [
  { name: OWNER, permissions: ['*'] },
  { name: 'Admin', permissions: ['people:*', 'organization:*'] },
];

/** Every client has them from the beginning. */
export async function createBuiltInRoles(
  changes: Pick<Changes, 'now' | 'roles'>,
  clientId: ClientId,
): Promise<void> {
  for (const role of BUILT_IN_ROLES) {
    await changes.roles.insert(newRole(changes, { clientId, ...role, builtIn: true }));
  }
}
