import { isDeepStrictEqual } from 'node:util';
import type { ClientId } from '../../../../generated/ids.js';
import { writeUsers } from '../people/user-changes.js';
import type { Role } from '../rows/roles.js';
import type { UserView } from '../rows/users.js';
import type { Changes } from '../unit-of-work.js';
import { MAX_NAME_LENGTH, Violations } from '../violations.js';
import { distinctPermissions } from './new-role.js';
import { addCustomRole, lockRole, validatePermissions } from './roles.js';

/** What these rules use of a write. */
type Ports = Pick<Changes, 'lock' | 'now' | 'recordEvent' | 'roles' | 'touch' | 'users'>;

export interface RoleEdit {
  roleId: string;
  permissions: readonly string[];
  name?: string;
  userIds: readonly string[];
  expectedVersion?: string;
}

export interface EditedRole {
  role: Role;
  repointedUsers: number;
}

/** Roles are immutable: users with other permissions get a new custom role. */
export async function editRolePermissions(changes: Ports, edit: RoleEdit): Promise<EditedRole> {
  validate(edit);
  const role = await lockRole(changes, edit);
  const users = chosenUsers(edit.userIds, await changes.users.withRole(role.id));
  if (edit.name === undefined && isSame(role.permissions, edit.permissions)) {
    return { role, repointedUsers: 0 };
  }
  const name = edit.name?.trim() ?? (await nameAfter(changes, role.clientId, role.name));
  const edited = await addCustomRole(changes, role.clientId, name, edit.permissions);
  if (users.length > 0) {
    await writeUsers(
      changes,
      users.map((user) => ({ ...user, roleId: edited.id })),
    );
  }
  return { role: edited, repointedUsers: users.length };
}

/** A DELETED user keeps its role and still answers with it. */
function chosenUsers(userIds: readonly string[], holders: readonly UserView[]): UserView[] {
  const living = holders.filter(({ status }) => status !== 'DELETED');
  const ids = new Set<string>(living.map(({ id }) => id));
  const violations = new Violations();
  for (const [index, id] of userIds.entries()) {
    if (!ids.has(id)) {
      violations.add(`user_ids[${index}]`, 'must be a user who has the role');
    }
  }
  violations.throwIfAny();
  return userIds.length === 0 ? living : living.filter(({ id }) => userIds.includes(id));
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
    const candidate = base.slice(0, MAX_NAME_LENGTH - suffix.length) + suffix;
    if (!taken.has(candidate)) {
      return candidate;
    }
  }
}

function validate({ name, permissions }: RoleEdit): void {
  const violations = new Violations();
  if (name !== undefined) {
    violations.requiredText('name', name, MAX_NAME_LENGTH);
  }
  validatePermissions(violations, permissions);
  violations.throwIfAny();
}
