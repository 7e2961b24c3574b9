import type { NamedLocation, NamedUnit } from '../../../../generated/asyncapi/events.js';
import type {
  AccountId,
  ClientId,
  InstanceId,
  UnitId,
  UserId,
  WorkerId,
  WorkerProfileId,
} from '../../../../generated/ids.js';
import type { EmailChange } from '../../credentials/email-changes.js';
import type { Address, Manager, Named, UserStatus } from '../../directory/names.js';
import type { PageRequest } from '../../directory/page.js';
import type { Versioned } from '../../version.js';
import type { SizedPosition } from '../listing.js';

/** A person, with all their clients. */
export interface Account extends Versioned {
  id: AccountId;
  workerProfileId: WorkerProfileId;
  /** As given; compared by `emailKeyOf`. */
  email: string;
  /** When the person proved that the address is theirs; null until then. */
  emailVerifiedAt: number | null;
  firstName: string | null;
  lastName: string | null;
  /** Null while the person may sign in. */
  disabledAt: number | null;
}

/** What a person is or was at one client. */
export interface AccountContext {
  member: { kind: 'user'; id: UserId } | { kind: 'worker'; id: WorkerId };
  clientId: ClientId;
  instanceId: InstanceId;
  /** Whether it admits the person, if the account is enabled. */
  enabled: boolean;
  /** The address by which the client knows the person. For a user, null stands for the account's. */
  knownEmail: string | null;
}

export interface AccountRows {
  /** By address or key. Of two accounts of one mailbox, the one with exactly this address. */
  findByEmail(email: string): Promise<Account | undefined>;
  find(id: string): Promise<Account | undefined>;
  /** Whether it was inserted: of concurrent inserts of one address, one returns false. */
  insert(account: Account): Promise<boolean>;
  /** Throws `emailTaken` when another account has the address. */
  update(account: Account): Promise<void>;
  /** In the order of their keys, behind one; only those whose address begins with a text, if one is given. */
  page(
    after: string | undefined,
    limit: number,
    emailPrefix: string | undefined,
  ): Promise<(Account & { emailKey: string })[]>;
  /** What the person is: no DELETED users or offboarded workers. */
  contextsOf(id: AccountId): Promise<AccountContext[]>;
  /** What the person was: the newest DELETED users and offboarded workers, on one instance or on all. */
  formerContextsOf(id: AccountId, instanceId?: InstanceId): Promise<AccountContext[]>;
  /** Each client of which the person is or was a user or worker. */
  clientsOf(id: AccountId): Promise<ClientId[]>;
  /** Names related to the person: own names and address, clients, instances, and applications there. */
  namesAround(id: string): Promise<string[]>;
}

/**
 * A person who can sign in to the dashboard on behalf of one client. The version changes with everything that
 * readers see of the user, including the address of the account.
 */
export interface User extends Versioned {
  id: UserId;
  clientId: ClientId;
  accountId: AccountId;
  firstName: string | null;
  lastName: string | null;
  fullName: string | null;
  status: UserStatus;
  managerId: UserId | null;
  roleId: string | null;
  /**
   * What is shown in the place of the account's address: for an INVITED or DELETED user, the last one before
   * the person proved another, unless the client asked for that.
   */
  knownEmail: string | null;
}

/** A user with joined fields. */
export interface UserView extends User {
  instanceId: InstanceId;
  /** The known address, otherwise that of the account. */
  email: string;
  /** The request of the user's client, expired or not. */
  pendingEmail: Pick<EmailChange, 'email' | 'askedAt' | 'expiresAt'> | null;
  manager: Manager | null;
  role: Named | null;
}

/** Fields of a user to write, with nothing that a view adds. */
export type UserFields = Partial<User> & { [Added in Exclude<keyof UserView, keyof User>]?: never };

interface UserFilter {
  clientId: string;
  statuses: readonly UserStatus[];
  /** Any of these. */
  emailKeys: readonly string[] | undefined;
}

/** Users with a role: either the DELETED ones or the others. */
export interface RoleHolders {
  roleId: string;
  areDeleted: boolean;
  /** Only those of these ids. */
  among?: readonly string[];
}

export interface UserRows {
  find(id: string): Promise<UserView | undefined>;
  /** Oldest first. */
  findAll(ids: readonly UserId[]): Promise<UserView[]>;
  page(page: PageRequest, filter: UserFilter): Promise<UserView[]>;
  /** Every user that the person is or was, oldest first. */
  ofAccount(id: AccountId): Promise<UserView[]>;
  /** Oldest first. */
  withRole(holders: RoleHolders): Promise<UserView[]>;
  /** No further than the limit, if there is one. */
  countWithRole(holders: RoleHolders, limit?: number): Promise<number>;
  /** How many have the user as manager, without DELETED ones; no further than the limit. */
  countReports(id: UserId, limit: number): Promise<number>;
  /** Whether the client has a user who is not DELETED. */
  anyOf(clientId: ClientId): Promise<boolean>;
  /** The oldest user with the client's built-in role Owner who is not DELETED. */
  firstOwner(clientId: ClientId): Promise<UserId | undefined>;
  /**
   * One statement: whether the user is the other one, or reports to it directly or indirectly. Looks at so
   * many users at most, from the user upwards; undefined if there are more.
   */
  reportsTo(id: UserId, other: UserId, limit?: number): Promise<boolean | undefined>;
  insert(user: User): Promise<void>;
  /** Changes these fields only: SQLite writes the index of every column that a statement names. */
  update(user: Pick<User, 'id'> & UserFields): Promise<void>;
  /** The same for many with few statements. All name the same fields and time. */
  rewrite(users: readonly (Pick<User, 'id' | 'updatedAt'> & UserFields)[]): Promise<void>;
}

export type WorkerStatus = 'ACTIVE' | 'OFFBOARDED';

/** An employee or contractor of one client. */
export interface Worker extends Versioned {
  id: WorkerId;
  clientId: ClientId;
  accountId: AccountId;
  firstName: string;
  lastName: string;
  fullName: string;
  email: string;
  phone: string | null;
  jobTitles: string[];
  address: Address;
  /** In the order of assignment. */
  units: NamedUnit[];
  primaryUnit: NamedUnit | null;
  location: NamedLocation | null;
  offboardedAt: number | null;
}

export interface WorkerFilter {
  /** In one of these; in any if absent. */
  statuses?: readonly WorkerStatus[];
  unitId?: string;
  locationId?: string;
  jobTitle?: string;
}

export interface WorkerOfInstance extends Worker {
  instanceId: InstanceId;
}

/** New values of fields of a worker, for a write of many. */
export type WorkerRewrite = Pick<Worker, 'id' | 'version' | 'updatedAt'> &
  Partial<Omit<Worker, 'accountId' | 'clientId' | 'createdAt' | 'offboardedAt'>>;

export interface WorkerRows {
  find(id: string): Promise<Worker | undefined>;
  /** Oldest first. */
  ids(clientId: ClientId, filter: WorkerFilter): Promise<WorkerId[]>;
  /** Does not count further than the limit. */
  countUpTo(limit: number, clientId: ClientId, filter: WorkerFilter): Promise<number>;
  /** About how many bytes the event about each has, 0 without one. Of so many workers at most. */
  eventBytesUpTo(
    limit: number,
    clientId: ClientId,
    filter: WorkerFilter,
    told: { tellsOfFormer?: boolean },
  ): Promise<number[]>;
  /** The places and sizes of a page. */
  sizes(page: PageRequest, clientId: ClientId, filter: WorkerFilter): Promise<SizedPosition[]>;
  /** Those of the ids that are workers of the client, oldest first. */
  findAll(clientId: ClientId, ids: readonly string[]): Promise<Worker[]>;
  /** Every worker that the person is or was, oldest first. */
  ofAccount(id: AccountId): Promise<WorkerOfInstance[]>;
  /** With the units. */
  insert(worker: Worker): Promise<void>;
  /** Everything but the units, except the primary one. */
  update(worker: Worker): Promise<void>;
  /** Everything named but the units, of many with few statements. All name the same fields and time. */
  rewrite(workers: readonly WorkerRewrite[]): Promise<void>;
  /** Replaces the worker's units. */
  assign(worker: Pick<Worker, 'id' | 'units'>): Promise<void>;
  /** Takes the unit from all workers; it must be the primary one of none. */
  unassign(unitId: UnitId): Promise<void>;
}
