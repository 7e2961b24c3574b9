import type {
  AccountId,
  ClientId,
  InstanceId,
  UserId,
  WorkerId,
  WorkerProfileId,
} from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { newPublicId } from '../../identifiers/public-id.js';
import { newVersion } from '../version.js';
import { emailKeyOf } from './email-keys.js';
import type { Changes } from './unit-of-work.js';

/** A person, whoever they work for or sign in for. */
export interface Account {
  id: AccountId;
  workerProfileId: WorkerProfileId;
  /** As it was given; it is known without regard to case. */
  email: string;
  /** When the person showed that the address is theirs; null until then. */
  emailVerifiedAt: number | null;
  firstName: string | null;
  lastName: string | null;
  /** Null while the person may sign in. */
  disabledAt: number | null;
  version: string;
  createdAt: number;
  updatedAt: number;
}

/** What a person is at one client; what was deleted or offboarded is none of it. */
export interface AccountContext {
  member: { kind: 'user'; id: UserId } | { kind: 'worker'; id: WorkerId };
  clientId: ClientId;
  instanceId: InstanceId;
  /** Whether it alone lets the person in; a disabled account lets nobody in. */
  enabled: boolean;
}

export interface AccountRows {
  /** By the address or its key. Of two accounts of one mailbox, that of the very address. */
  findByEmail(email: string): Promise<Account | undefined>;
  find(id: string): Promise<Account | undefined>;
  /** Whether it could be made: of two that make an account of one address at once, one hears no. */
  insert(account: Account): Promise<boolean>;
  /** Throws `emailTaken` when another account has the address. */
  update(account: Account): Promise<void>;
  contextsOf(id: AccountId): Promise<AccountContext[]>;
  /** Each client whose user or worker the person is or was. */
  clientsOf(id: AccountId): Promise<ClientId[]>;
  /** What others know of the person: their names and address, their clients and instances, and the applications there. */
  namesAround(id: string): Promise<string[]>;
}

export { emailKeyOf };

export interface PersonNames {
  firstName?: string | null;
  lastName?: string | null;
}

/**
 * Finds or makes the account of an address that was found valid, and locks it; so it comes before anything of an instance or a client is locked.
 * The names are for an account that has to be made.
 */
export async function accountByEmail(
  changes: Changes,
  email: string,
  names: PersonNames = {},
): Promise<{ id: AccountId; isNew: boolean }> {
  const emailKey = emailKeyOf(email);
  // Somebody may make the same account, or move it to another address, until it is locked: then look again.
  for (;;) {
    const found = await changes.accounts.findByEmail(email);
    const account = found ?? newAccount(changes, email, names);
    if (!found && !(await changes.accounts.insert(account))) {
      continue;
    }
    await changes.lock(account.id);
    const locked = await changes.accounts.find(account.id);
    if (locked && emailKeyOf(locked.email) === emailKey) {
      return { id: account.id, isNew: !found };
    }
  }
}

function newAccount({ now }: Changes, email: string, { firstName, lastName }: PersonNames): Account {
  return {
    id: newPublicId('AccountId'),
    workerProfileId: newPublicId('WorkerProfileId'),
    email: email.trim(),
    emailVerifiedAt: null,
    firstName: firstName ?? null,
    lastName: lastName ?? null,
    disabledAt: null,
    version: newVersion(),
    createdAt: now,
    updatedAt: now,
  };
}

export async function getAccount(changes: Pick<Changes, 'accounts'>, id: string): Promise<Account> {
  return existing(await changes.accounts.find(id));
}

export async function getAccountByEmail(changes: Pick<Changes, 'accounts'>, email: string): Promise<Account> {
  return existing(await changes.accounts.findByEmail(email));
}

function existing(account: Account | undefined): Account {
  if (!account) {
    throw new ServiceError(ErrorCode.ACCOUNT_NOT_FOUND, 'There is no such account.');
  }
  return account;
}

/** Two people cannot share one address, because each signs in with theirs. */
export function emailTaken(cause?: unknown): ServiceError {
  return new ServiceError(ErrorCode.ALREADY_EXISTS, 'Another account has this e-mail address.', {
    fieldViolations: [{ path: 'email', message: 'must not be the address of another account' }],
    cause,
  });
}
