import type { AccountId, ClientId, InstanceId, UserId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { newPublicId } from '../../identifiers/public-id.js';
import type { EmailChange } from '../credentials/email-changes.js';
import type { Named } from '../directory/names.js';
import type { PageRequest } from '../directory/page.js';
import type { Manager, UserStatus } from '../directory/users.js';
import { newVersion } from '../version.js';
import { accountByEmail } from './accounts.js';
import { lockClient } from './clients.js';
import { fullNameOf, validatePersonNames } from './person-names.js';
import type { Changes } from './unit-of-work.js';
import { recordUser } from './user-changes.js';
import { resolveUserReferences } from './user-references.js';
import { Violations } from './violations.js';

/** A person who can sign in to the dashboard on behalf of one client. */
export interface User {
  id: UserId;
  clientId: ClientId;
  accountId: AccountId;
  firstName: string | null;
  lastName: string | null;
  fullName: string | null;
  status: UserStatus;
  managerId: UserId | null;
  roleId: string | null;
  /** Rewritten by each change of what a reader sees of the user, the address of the account included. */
  version: string;
  createdAt: number;
  updatedAt: number;
}

/** A user with what stands in other rows. */
export interface UserView extends User {
  instanceId: InstanceId;
  email: string;
  /** What the user's client asked for, over or not. */
  pendingEmail: Pick<EmailChange, 'email' | 'askedAt' | 'expiresAt'> | null;
  manager: Manager | null;
  role: Named | null;
}

export interface UserFilter {
  clientId: string;
  statuses: readonly UserStatus[];
  emailKey: string | undefined;
}

export interface UserRows {
  find(id: string): Promise<UserView | undefined>;
  page(page: PageRequest, filter: UserFilter): Promise<UserView[]>;
  /** Every user the person is or was, oldest first. */
  ofAccount(id: AccountId): Promise<UserView[]>;
  /** Those who have the role, the DELETED ones too, oldest first. */
  withRole(roleId: string): Promise<UserView[]>;
  /** Whether the client has or had any user. */
  anyOf(clientId: ClientId): Promise<boolean>;
  /** The oldest user of the client with its built-in role Owner who is not DELETED. */
  firstOwner(clientId: ClientId): Promise<UserId | undefined>;
  insert(user: User): Promise<void>;
  update(user: User): Promise<void>;
}

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

/** A person is invited to a client: once, whatever they were there before. */
export async function createUser(changes: Changes, creation: UserCreation): Promise<UserView> {
  validate(creation);
  const firstName = creation.firstName?.trim() ?? null;
  const lastName = creation.lastName?.trim() ?? null;
  const account = await accountByEmail(changes, creation.email, { firstName, lastName });
  const client = await lockClient(changes, creation.clientId);
  await assertNotYetUser(changes, account.id, client.id);
  await resolveUserReferences(changes, { clientId: client.id }, creation);
  const user: User = {
    id: newPublicId('UserId'),
    clientId: client.id,
    accountId: account.id,
    firstName,
    lastName,
    fullName: fullNameOf(firstName, lastName),
    status: 'INVITED',
    managerId: await initialManager(changes, client.id, creation),
    roleId: creation.roleId ?? (await initialRole(changes, client.id)),
    version: newVersion(),
    createdAt: changes.now,
    updatedAt: changes.now,
  };
  await changes.users.insert(user);
  await changes.touch(client.id);
  return recordUser(changes, 'user.created', user.id);
}

export async function getUser(changes: Pick<Changes, 'users'>, id: string): Promise<UserView> {
  const user = await changes.users.find(id);
  if (!user) {
    throw new ServiceError(ErrorCode.USER_NOT_FOUND, 'There is no such user.');
  }
  return user;
}

async function assertNotYetUser(changes: Changes, accountId: AccountId, clientId: ClientId): Promise<void> {
  const users = await changes.users.ofAccount(accountId);
  if (users.some((user) => user.clientId === clientId && user.status !== 'DELETED')) {
    throw new ServiceError(ErrorCode.ALREADY_EXISTS, 'The person is a user of this client already.', {
      fieldViolations: [{ path: 'email', message: 'must not be the address of a user of the same client' }],
    });
  }
}

async function initialManager(
  changes: Changes,
  clientId: ClientId,
  { managerUserId, withoutManager }: UserCreation,
): Promise<UserId | null> {
  if (withoutManager) {
    return null;
  }
  return (managerUserId as UserId | undefined) ?? (await changes.users.firstOwner(clientId)) ?? null;
}

/** Somebody has to be able to give the others their roles: the first user of a client owns it. */
async function initialRole(changes: Changes, clientId: ClientId): Promise<string | null> {
  if (await changes.users.anyOf(clientId)) {
    return null;
  }
  return (await changes.roles.ownerOf(clientId)) ?? null;
}

function validate({ email, withoutManager, managerUserId, ...names }: UserCreation): void {
  const violations = new Violations();
  violations.email('email', email.trim());
  validatePersonNames(violations, names);
  if (withoutManager && managerUserId !== undefined) {
    violations.add('without_manager', 'must not be set together with manager_user_id');
  }
  violations.throwIfAny();
}
