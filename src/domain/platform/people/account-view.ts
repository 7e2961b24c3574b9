import type { InstanceId } from '../../../../generated/ids.js';
import { PLATFORM } from '../../credentials/email-changes.js';
import type { Account, AccountContext } from '../rows/people.js';
import type { Changes } from '../unit-of-work.js';
import { fullNameOf } from './accounts.js';
import { pendingEmails } from './email-changes.js';

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
    passwordSetAt: password?.setAt,
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
