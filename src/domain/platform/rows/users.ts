import type { AccountId, ClientId, InstanceId, UserId } from '../../../../generated/ids.js';
import type { EmailChange } from '../../credentials/email-changes.js';
import type { Manager, Named, UserStatus } from '../../directory/names.js';
import type { PageRequest } from '../../directory/page.js';

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
  /** Changes with everything that readers see of the user, including the address of the account. */
  version: string;
  createdAt: number;
  updatedAt: number;
}

/** A user with joined fields. */
export interface UserView extends User {
  instanceId: InstanceId;
  email: string;
  /** The request of the user's client, expired or not. */
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
  /** Every user that the person is or was, oldest first. */
  ofAccount(id: AccountId): Promise<UserView[]>;
  /** Users with the role, including DELETED ones, oldest first. */
  withRole(roleId: string): Promise<UserView[]>;
  /** Whether the client has or had any user. */
  anyOf(clientId: ClientId): Promise<boolean>;
  /** The oldest user with the client's built-in role Owner who is not DELETED. */
  firstOwner(clientId: ClientId): Promise<UserId | undefined>;
  insert(user: User): Promise<void>;
  update(user: User): Promise<void>;
}
