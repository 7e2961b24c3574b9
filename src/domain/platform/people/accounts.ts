import type { AccountId } from '../../../../generated/ids.js';
import { ErrorCode, existing, ServiceError } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import { newVersion } from '../../version.js';
import type { Account } from '../rows/accounts.js';
import type { Changes } from '../unit-of-work.js';
import { emailKeyOf } from './email-keys.js';

export { emailKeyOf };

export interface PersonNames {
  firstName?: string | null;
  lastName?: string | null;
}

/** Finds or makes the account of a valid address, and locks it, which must precede instances and clients. */
export async function accountByEmail(
  changes: Pick<Changes, 'accounts' | 'lock' | 'now'>,
  email: string,
  names: PersonNames = {},
): Promise<{ id: AccountId; isNew: boolean }> {
  const emailKey = emailKeyOf(email);
  // Until the lock, another write may make the account or move the address; then look again.
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

function newAccount(
  { now }: Pick<Changes, 'now'>,
  email: string,
  { firstName, lastName }: PersonNames,
): Account {
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
  return existing(await changes.accounts.find(id), ErrorCode.ACCOUNT_NOT_FOUND, 'account');
}

export async function getAccountByEmail(changes: Pick<Changes, 'accounts'>, email: string): Promise<Account> {
  return existing(await changes.accounts.findByEmail(email), ErrorCode.ACCOUNT_NOT_FOUND, 'account');
}

/** Two people cannot share an address, because each signs in with theirs. */
export function emailTaken(cause?: unknown): ServiceError {
  return new ServiceError(ErrorCode.ALREADY_EXISTS, 'Another account has this e-mail address.', {
    fieldViolations: [{ path: 'email', message: 'must not be the address of another account' }],
    cause,
  });
}
