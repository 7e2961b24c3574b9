import type { ClientId, UserId } from '../../../../generated/ids.js';
import { ErrorCode } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import type { UserStatus } from '../../directory/names.js';
import { getterOf } from '../../unit-of-work.js';
import { madeAt, newVersion } from '../../version.js';
import { BATCH_ROWS } from '../changes.js';
import { lockClient } from '../organization/clients.js';
import type { User, UserFields, UserView } from '../rows/people.js';
import { type Changes, eventOn, linkToUser } from '../unit-of-work.js';
import { Violations } from '../violations.js';
import {
  accountByEmail,
  assertNoMember,
  fullNameOf,
  validateEmailOfPerson,
  validatePersonNames,
} from './accounts.js';
import { contractEmailOf } from './email-addresses.js';
import { resolveUserReferences } from './user-references.js';

type Ports = Pick<
  Changes,
  'accounts' | 'clients' | 'instanceId' | 'lock' | 'now' | 'recordEvent' | 'roles' | 'touch' | 'users'
>;

export const ALL_BUT_DELETED: readonly UserStatus[] = ['ACTIVE', 'INACTIVE', 'INVITED'];

export interface UserCreation {
  clientId: string;
  email: string;
  firstName?: string;
  lastName?: string;
  managerUserId?: string;
  withoutManager: boolean;
  roleId?: string;
}

/** Invites a person to a client. A person whose user there is DELETED can be invited again. */
export async function createUser(changes: Ports, creation: UserCreation): Promise<UserView> {
  await validate(changes, creation);
  const firstName = creation.firstName?.trim() ?? null;
  const lastName = creation.lastName?.trim() ?? null;
  const account = await accountByEmail(changes, creation.email, { firstName, lastName });
  const client = await lockClient(changes, creation.clientId);
  const [managerId, firstRoleId] = await Promise.all([
    creation.withoutManager
      ? null
      : ((creation.managerUserId as UserId | undefined) ?? changes.users.firstOwner(client.id)),
    creation.roleId === undefined ? initialRole(changes, client.id) : null,
    account.isNew || assertNoMember(changes, account.id, client, 'user'),
  ]);
  await resolveUserReferences(changes, { clientId: client.id }, creation);
  const user: User = {
    id: newPublicId('UserId'),
    clientId: client.id,
    accountId: account.id,
    firstName,
    lastName,
    fullName: fullNameOf(firstName, lastName),
    status: 'INVITED',
    managerId: managerId ?? null,
    roleId: creation.roleId ?? firstRoleId,
    knownEmail: null,
    ...madeAt(changes.now),
  };
  await changes.users.insert(user);
  await changes.touch(client.id);
  const [created] = await recordUsers(changes, 'user.created', [user.id]);
  return created as UserView;
}

export const getUser = getterOf('users', ErrorCode.USER_NOT_FOUND, 'user');

/** The first user of a client, or the first after all were deleted, becomes its Owner, to assign roles. */
async function initialRole(
  changes: Pick<Changes, 'roles' | 'users'>,
  clientId: ClientId,
): Promise<string | null> {
  const [hasUsers, owner] = await Promise.all([
    changes.users.anyOf(clientId),
    changes.roles.ownerOf(clientId),
  ]);
  return hasUsers ? null : (owner ?? null);
}

async function validate(
  changes: Ports,
  { clientId, email, withoutManager, managerUserId, ...names }: UserCreation,
): Promise<void> {
  const violations = new Violations();
  violations.requiredId('client_id', clientId);
  await validateEmailOfPerson(changes, violations, email.trim());
  validatePersonNames(violations, names);
  if (withoutManager && managerUserId !== undefined) {
    violations.add('without_manager', 'must not be set together with manager_user_id');
  }
  violations.throwIfAny();
}

/**
 * Writes the same fields of these users, with events: for those who were DELETED before only if the write
 * tells of former users, because receivers must not get their data again.
 */
export async function writeUsers(
  changes: Pick<Changes, 'now' | 'recordEvent' | 'touch' | 'users'>,
  users: readonly User[],
  fields: UserFields = {},
  { tellsOfFormer = false } = {},
): Promise<UserView[]> {
  await changes.users.rewrite(
    users.map(({ id }) => ({ id, ...fields, version: newVersion(), updatedAt: changes.now })),
  );
  await changes.touch(...users.map(({ clientId }) => clientId));
  const written: UserView[] = [];
  // Only after all are written: the event of a user contains its manager, who may be one of them.
  const told = users.filter(({ status }) => tellsOfFormer || status !== 'DELETED');
  for (let from = 0; from < told.length; from += BATCH_ROWS) {
    const ids = told.slice(from, from + BATCH_ROWS).map(({ id }) => id);
    written.push(...(await recordUsers(changes, 'user.updated', ids)));
  }
  return written;
}

async function recordUsers(
  changes: Pick<Changes, 'recordEvent' | 'users'>,
  type: 'user.created' | 'user.updated',
  ids: readonly UserId[],
): Promise<UserView[]> {
  const users = await changes.users.findAll(ids);
  if (users.length !== ids.length) {
    throw new Error(
      `Only ${users.length} of the ${ids.length} users just written were found: ${ids.join()}.`,
    );
  }
  await changes.recordEvent(
    ...users.map((user) =>
      eventOn(user.instanceId, type, {
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
      }),
    ),
  );
  return users;
}
