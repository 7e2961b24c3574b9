import type { InstanceId } from '../../../../generated/ids.js';
import { endAccess } from '../../credentials/access.js';
import { PLATFORM } from '../../credentials/email-changes.js';
import { LINK_PURPOSES } from '../../credentials/links.js';
import { UNMATCHED_HASH } from '../../credentials/passwords.js';
import { assertExpectedVersion, trimmed, type Update, updatedFields } from '../changes.js';
import type { Account, AccountContext } from '../rows/people.js';
import type { Changes } from '../unit-of-work.js';
import { assertNotErased, fullNameOf, getAccount, validatedPerson, writeAccount } from './accounts.js';
import { askForEmail, type EmailPorts, pendingEmails } from './email-changes.js';

/** What a change of status uses of a write. */
type StatusPorts = Pick<
  Changes,
  'accounts' | 'emailChanges' | 'grants' | 'links' | 'lock' | 'now' | 'sessions'
>;

export interface AccountUpdate extends Update {
  accountId: string;
  email?: string;
  firstName?: string;
  lastName?: string;
}

/**
 * Changes the names of the account only: its users and workers keep theirs. A new address, which its users
 * share, may have to wait until its mailbox is proved (`askForEmail`).
 */
export async function updateAccount(changes: EmailPorts, update: AccountUpdate): Promise<Account> {
  const given = trimmed(update, 'email', 'firstName', 'lastName');
  const fields = updatedFields(given, ['email'], ['firstName', 'lastName']);
  const { email, ...names } = await validatedPerson(fields, () => changes.accounts.find(update.accountId));
  const { id } = await getAccount(changes, update.accountId);
  await changes.lock(id);
  const present = await getAccount(changes, id);
  assertNotErased(present);
  assertExpectedVersion(present, update.expectedVersion);
  await writeAccount(changes, present, names);
  if (email !== undefined) {
    await askForEmail(changes, present, { asker: PLATFORM, email, mayWait: true });
  }
  return getAccount(changes, id);
}

export async function enableAccount(changes: StatusPorts, accountId: string): Promise<Account> {
  return setDisabled(changes, accountId, false);
}

/** Later reads see the account as disabled; all access ends and stays ended when it is enabled again. */
export async function disableAccount(changes: StatusPorts, accountId: string): Promise<Account> {
  return setDisabled(changes, accountId, true);
}

async function setDisabled(changes: StatusPorts, accountId: string, disabled: boolean): Promise<Account> {
  await changes.lock((await getAccount(changes, accountId)).id);
  const present = await getAccount(changes, accountId);
  if ((present.disabledAt !== null) === disabled) {
    return present;
  }
  assertNotErased(present);
  if (disabled) {
    await changes.links.endOfAccount(present.id, LINK_PURPOSES, changes.now);
    await changes.emailChanges.end(present.id);
    await endAccess(changes, present.id);
  }
  return writeAccount(changes, present, { disabledAt: disabled ? changes.now : null });
}

/** Includes when the password was set and which addresses wait. */
export async function accountView(
  changes: Pick<Changes, 'passwords' | 'emailChanges' | 'now'>,
  account: Account,
) {
  const password = await changes.passwords.find(account.id);
  const pending = await pendingEmails(changes, account.id);
  return {
    ...account,
    emailVerified: account.emailVerifiedAt !== null,
    fullName: fullNameOf(account.firstName, account.lastName),
    passwordSetAt: password?.hash === UNMATCHED_HASH ? undefined : password?.setAt,
    pendingEmails: pending.map((change) => ({
      ...change,
      clientId: change.asker === PLATFORM ? undefined : change.asker,
    })),
  };
}

/** Hidden from a token of one instance, because other instances may have caused them. So is the status. */
export const UNSEEN_BY_ONE_INSTANCE = {
  emailVerified: false,
  version: '',
  firstName: undefined,
  lastName: undefined,
  fullName: undefined,
  passwordSetAt: undefined,
  createdAt: undefined,
  updatedAt: undefined,
} satisfies { [Fact in keyof Awaited<ReturnType<typeof accountView>>]?: unknown };

/** For a token of one instance regardless of the account's status, which it may not see. */
export function allowsSignIn(
  { disabledAt }: Account,
  { enabled }: AccountContext,
  instanceId: InstanceId | undefined,
): boolean {
  return enabled && (instanceId !== undefined || disabledAt === null);
}
