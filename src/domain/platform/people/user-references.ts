import type { ClientId, UserId } from '../../../../generated/ids.js';
import { ErrorCode, type FieldViolation, ServiceError } from '../../../errors/service-error.js';
import { isFoundAbove } from '../instance-limit.js';
import type { Changes } from '../unit-of-work.js';

interface References {
  managerUserId?: string | null;
  roleId?: string | null;
}

type Fault = FieldViolation & { code: ErrorCode };

/** Refuses an impossible manager or role, and reports both. */
export async function resolveUserReferences(
  changes: Pick<Changes, 'instanceId' | 'roles' | 'users'>,
  user: { id?: UserId; clientId: ClientId; managerId?: UserId | null },
  references: References,
): Promise<void> {
  const faults = [
    await managerFault(changes, user, references.managerUserId),
    await roleFault(changes, user, references.roleId),
  ].filter((fault) => fault !== undefined);
  const [first] = faults;
  if (first) {
    const fieldViolations = faults.map(({ path, message }) => ({ path, message }));
    throw new ServiceError(first.code, `The user cannot be written: ${first.path} ${first.message}.`, {
      fieldViolations,
    });
  }
}

async function managerFault(
  changes: Pick<Changes, 'instanceId' | 'users'>,
  user: { id?: UserId; clientId: ClientId; managerId?: UserId | null },
  managerId: string | null | undefined,
): Promise<Fault | undefined> {
  // The present manager may be DELETED, and comes back from forms that send all fields that they have read.
  if (managerId === undefined || managerId === null || managerId === user.managerId) {
    return undefined;
  }
  const path = 'manager_user_id';
  const manager = await changes.users.find(managerId);
  if (!manager || manager.clientId !== user.clientId || manager.status === 'DELETED') {
    return {
      code: ErrorCode.USER_NOT_FOUND,
      path,
      message: 'must be a user of the same client, not a DELETED one',
    };
  }
  const { id } = user;
  if (id === undefined) {
    return undefined;
  }
  const reportsTo = (limit?: number) => changes.users.reportsTo(manager.id, id, limit);
  return (await isFoundAbove(changes, 'users', reportsTo))
    ? {
        code: ErrorCode.INVALID_REQUEST,
        path,
        message: 'must not be the user or a person who reports to the user',
      }
    : undefined;
}

async function roleFault(
  changes: Pick<Changes, 'roles'>,
  { clientId }: { clientId: ClientId },
  roleId: string | null | undefined,
): Promise<Fault | undefined> {
  if (roleId === undefined || roleId === null) {
    return undefined;
  }
  const role = await changes.roles.find(roleId);
  return role?.clientId === clientId
    ? undefined
    : { code: ErrorCode.ROLE_NOT_FOUND, path: 'role_id', message: 'must be a role of the same client' };
}
