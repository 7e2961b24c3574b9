import { isDeepStrictEqual } from 'node:util';
import type { ClientId } from '../../../../generated/ids.js';
import { ErrorCode, fieldRefusal, ServiceError } from '../../../errors/service-error.js';
import { getterOf } from '../../unit-of-work.js';
import { assertExpectedVersion } from '../changes.js';
import { assertFewChange } from '../instance-limit.js';
import { writeUsers } from '../people/users.js';
import type { Role } from '../rows/organization.js';
import type { RoleHolders, UserView } from '../rows/people.js';
import type { Changes } from '../unit-of-work.js';
import { MAX_NAME_LENGTH, Violations } from '../violations.js';
import { assertRoom, lockClient } from './clients.js';
import { distinctPermissions, newRole } from './new-roles.js';

type Ports = Pick<
  Changes,
  'clients' | 'instanceId' | 'lock' | 'now' | 'recordEvent' | 'roles' | 'touch' | 'users'
>;

const MAX_PERMISSIONS = 500;

/** The gateway does not show unused roles, so no version changes. */
export async function createRole(
  changes: Ports,
  { clientId, name, permissions }: { clientId: string; name: string; permissions: readonly string[] },
): Promise<Role> {
  const violations = new Violations();
  violations.requiredId('client_id', clientId);
  violations.requiredText('name', name);
  violations.requiredTexts(MAX_PERMISSIONS, 'permissions', permissions);
  violations.throwIfAny();
  const client = await lockClient(changes, clientId);
  return addCustomRole(changes, client.id, name.trim(), permissions);
}

/** The client must be locked. */
async function addCustomRole(
  changes: Pick<Changes, 'now' | 'roles'>,
  clientId: ClientId,
  name: string,
  permissions: readonly string[],
): Promise<Role> {
  if ((await changes.roles.names(clientId)).has(name)) {
    const message = 'The client has a role of this name already.';
    const violation = 'must not be the name of another role of the client';
    throw fieldRefusal(ErrorCode.ALREADY_EXISTS, message, 'name', violation);
  }
  await assertRoom(changes.roles, clientId, 'roles');
  const role = newRole(changes, { clientId, name, permissions, builtIn: false });
  await changes.roles.insert(role);
  return role;
}

export const getRole = getterOf('roles', ErrorCode.ROLE_NOT_FOUND, 'role');

/** The role, after its client is locked, which never changes. */
async function lockRole(
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
  const living = await changes.users.countWithRole({ roleId: role.id, areDeleted: false });
  if (living > 0) {
    const who = living === 1 ? 'A user has' : `${living} users have`;
    throw new ServiceError(ErrorCode.RESOURCE_IN_USE, `${who} this role; give them another one first.`);
  }
  const former = await usersToWrite(changes, { roleId: role.id, areDeleted: true });
  if (former.length > 0) {
    await writeUsers(changes, former, { roleId: null }, { tellsOfFormer: true });
  }
  await changes.roles.delete(role.id);
}

export interface RoleEdit {
  roleId: string;
  permissions: readonly string[];
  name?: string;
  userIds: readonly string[];
  expectedVersion?: string;
}

/** Roles are immutable: users with other permissions get a new custom role. */
export async function editRolePermissions(
  changes: Ports,
  edit: RoleEdit,
): Promise<{ role: Role; repointedUsers: number }> {
  const violations = new Violations();
  violations.givenText('name', edit.name);
  violations.requiredTexts(MAX_PERMISSIONS, 'permissions', edit.permissions);
  violations.throwIfAny();
  const role = await lockRole(changes, edit);
  const chosen = await chosenUsers(changes, role, edit.userIds);
  if (edit.name === undefined && isSame(role.permissions, edit.permissions)) {
    return { role, repointedUsers: 0 };
  }
  const name = edit.name?.trim() ?? (await nameAfter(changes, role.clientId, role.name));
  const edited = await addCustomRole(changes, role.clientId, name, edit.permissions);
  const users = chosen ?? (await usersToWrite(changes, { roleId: role.id, areDeleted: false }));
  if (users.length > 0) {
    await writeUsers(changes, users, { roleId: edited.id });
  }
  return { role: edited, repointedUsers: users.length };
}

/** The users that the request names, if it names any: others may be very many. */
async function chosenUsers(
  changes: Pick<Changes, 'instanceId' | 'users'>,
  role: Role,
  userIds: readonly string[],
): Promise<UserView[] | undefined> {
  if (userIds.length === 0) {
    return undefined;
  }
  const chosen = await usersToWrite(changes, { roleId: role.id, areDeleted: false, among: userIds });
  const ids = new Set<string>(chosen.map(({ id }) => id));
  const violations = new Violations();
  violations.items('user_ids', userIds, (id) =>
    ids.has(id) ? undefined : 'must be a user who has the role',
  );
  violations.throwIfAny();
  return chosen;
}

/** A DELETED user keeps its role and still answers with it. */
async function usersToWrite(
  changes: Pick<Changes, 'instanceId' | 'users'>,
  holders: RoleHolders,
): Promise<UserView[]> {
  await assertFewChange(changes, 'users', (limit) => changes.users.countWithRole(holders, limit));
  return changes.users.withRole(holders);
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return isDeepStrictEqual(new Set(some), new Set(distinctPermissions(others)));
}

/** `Payroll clerk (2)` after `Payroll clerk`, and so on. */
async function nameAfter(changes: Pick<Changes, 'roles'>, clientId: ClientId, name: string): Promise<string> {
  const taken = await changes.roles.names(clientId);
  const base = name.replace(/ \(\d+\)$/, '');
  for (let number = 2; ; number += 1) {
    const suffix = ` (${number})`;
    const candidate = [...base].slice(0, MAX_NAME_LENGTH - suffix.length).join('') + suffix;
    if (!taken.has(candidate)) {
      return candidate;
    }
  }
}
