import type { ClientId } from '../../../../generated/ids.js';
import { ErrorCode, existing, ServiceError } from '../../../errors/service-error.js';
import { assertExpectedVersion } from '../changes.js';
import { writeUsers } from '../people/user-changes.js';
import type { Role } from '../rows/roles.js';
import type { Changes } from '../unit-of-work.js';
import { MAX_NAME_LENGTH, Violations } from '../violations.js';
import { lockClient } from './clients.js';
import { newRole } from './new-role.js';

/** What these rules use of a write. */
type Ports = Pick<Changes, 'clients' | 'lock' | 'now' | 'recordEvent' | 'roles' | 'touch' | 'users'>;

const MAX_PERMISSIONS = 500;

export interface RoleCreation {
  clientId: string;
  name: string;
  permissions: readonly string[];
}

/** The gateway does not show unused roles, so no version changes. */
export async function createRole(
  changes: Ports,
  { clientId, name, permissions }: RoleCreation,
): Promise<Role> {
  const violations = new Violations();
  violations.requiredId('client_id', clientId);
  violations.requiredText('name', name, MAX_NAME_LENGTH);
  validatePermissions(violations, permissions);
  violations.throwIfAny();
  const client = await lockClient(changes, clientId);
  return addCustomRole(changes, client.id, name.trim(), permissions);
}

/** The client must be locked. */
export async function addCustomRole(
  changes: Pick<Changes, 'now' | 'roles'>,
  clientId: ClientId,
  name: string,
  permissions: readonly string[],
): Promise<Role> {
  if ((await changes.roles.names(clientId)).has(name)) {
    throw new ServiceError(ErrorCode.ALREADY_EXISTS, 'The client has a role of this name already.', {
      fieldViolations: [{ path: 'name', message: 'must not be the name of another role of the client' }],
    });
  }
  const role = newRole(changes, { clientId, name, permissions, builtIn: false });
  await changes.roles.insert(role);
  return role;
}

export async function getRole(changes: Pick<Changes, 'roles'>, id: string): Promise<Role> {
  return existing(await changes.roles.find(id), ErrorCode.ROLE_NOT_FOUND, 'role');
}

/** The role, after its client is locked, which never changes. */
export async function lockRole(
  changes: Pick<Changes, 'lock' | 'roles'>,
  { roleId, expectedVersion }: { roleId: string; expectedVersion?: string },
): Promise<Role> {
  await changes.lock((await getRole(changes, roleId)).clientId);
  const role = await getRole(changes, roleId);
  assertExpectedVersion(role, expectedVersion);
  return role;
}

/** DELETED users do not keep it: they lose the role, with an event like others. */
export async function deleteRole(
  changes: Ports,
  deletion: { roleId: string; expectedVersion?: string },
): Promise<void> {
  const role = await lockRole(changes, deletion);
  if (role.builtIn) {
    throw new ServiceError(
      ErrorCode.RESOURCE_BUILT_IN,
      `The role ${role.name} came with the client and stays with it.`,
    );
  }
  const holders = await changes.users.withRole(role.id);
  const living = holders.filter(({ status }) => status !== 'DELETED').length;
  if (living > 0) {
    const who = living === 1 ? 'A user has' : `${living} users have`;
    throw new ServiceError(ErrorCode.RESOURCE_IN_USE, `${who} this role; give them another one first.`);
  }
  if (holders.length > 0) {
    await writeUsers(
      changes,
      holders.map((user) => ({ ...user, roleId: null })),
    );
  }
  await changes.roles.delete(role.id);
}

export function validatePermissions(violations: Violations, permissions: readonly string[]): void {
  if (permissions.length > MAX_PERMISSIONS) {
    violations.add('permissions', `must not be more than ${MAX_PERMISSIONS}`);
  }
  for (const [index, permission] of permissions.slice(0, MAX_PERMISSIONS).entries()) {
    violations.requiredText(`permissions[${index}]`, permission, MAX_NAME_LENGTH);
  }
}
