import type { ClientId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { PageRequest } from '../directory/page.js';
import { assertExpectedVersion } from './changes.js';
import { lockClient } from './clients.js';
import { newRole } from './new-role.js';
import type { Changes } from './unit-of-work.js';
import { writeUsers } from './user-changes.js';
import { MAX_NAME_LENGTH, Violations } from './violations.js';

/** What the users of a client may do who have it. Roles have no public id. */
export interface Role {
  id: string;
  clientId: ClientId;
  name: string;
  /** Came with the client, and is never changed. */
  builtIn: boolean;
  /** The platform's own words. */
  permissions: string[];
  version: string;
  createdAt: number;
}

export interface RoleRows {
  find(id: string): Promise<Role | undefined>;
  /** The built-in ones first. */
  page(page: PageRequest, clientId: ClientId): Promise<Role[]>;
  names(clientId: ClientId): Promise<Set<string>>;
  /** The built-in role Owner. */
  ownerOf(clientId: ClientId): Promise<string | undefined>;
  insert(role: Role): Promise<void>;
  delete(id: string): Promise<void>;
}

const MAX_PERMISSIONS = 500;

export interface RoleCreation {
  clientId: string;
  name: string;
  permissions: readonly string[];
}

/** No answer of the gateway shows a role that nobody has, so nothing is touched. */
export async function createRole(
  changes: Changes,
  { clientId, name, permissions }: RoleCreation,
): Promise<Role> {
  const violations = new Violations();
  violations.requiredText('name', name, MAX_NAME_LENGTH);
  validatePermissions(violations, permissions);
  violations.throwIfAny();
  const client = await lockClient(changes, clientId);
  return addCustomRole(changes, client.id, name.trim(), permissions);
}

/** To a locked client. */
export async function addCustomRole(
  changes: Changes,
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
  const role = await changes.roles.find(id);
  if (!role) {
    throw new ServiceError(ErrorCode.ROLE_NOT_FOUND, 'There is no such role.');
  }
  return role;
}

/** The role as it stands once its client, which never changes, is locked. */
export async function lockRole(
  changes: Changes,
  { roleId, expectedVersion }: { roleId: string; expectedVersion?: string },
): Promise<Role> {
  await changes.lock((await getRole(changes, roleId)).clientId);
  const role = await getRole(changes, roleId);
  assertExpectedVersion(role, expectedVersion);
  return role;
}

/** What DELETED users had for a role does not keep it; they lose it, and are told of like anybody whose role changes. */
export async function deleteRole(
  changes: Changes,
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
