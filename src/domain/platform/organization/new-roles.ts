import type { ClientId } from '../../../../generated/ids.js';
import { randomBase62 } from '../../../identifiers/base62.js';
import { newVersion } from '../../version.js';
import type { Role } from '../rows/organization.js';
import type { Changes } from '../unit-of-work.js';

/** Without a prefix, which would make it look like a public id. */
const ID_LENGTH = 22;

/** A role that is not written yet. */
export function newRole(
  { now }: Pick<Changes, 'now'>,
  role: Pick<Role, 'clientId' | 'name' | 'builtIn'> & { permissions: readonly string[] },
): Role {
  return {
    ...role,
    id: randomBase62(ID_LENGTH),
    permissions: distinctPermissions(role.permissions),
    version: newVersion(),
    createdAt: now,
  };
}

export function distinctPermissions(permissions: readonly string[]): string[] {
  return [...new Set(permissions.map((permission) => permission.trim()))];
}

export const OWNER = 'Owner';

export const BUILT_IN_ROLES = [
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
