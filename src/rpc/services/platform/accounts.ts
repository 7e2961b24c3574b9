import {
  type AccountContext as AccountContextMessage,
  type Account as AccountMessage,
  AccountStatus,
  type GetAccountRequest,
  type PendingEmail,
} from '../../../../generated/proto/integration/platform/v1/accounts.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { type EmailChange, PLATFORM } from '../../../domain/credentials/email-changes.js';
import { disableAccount, enableAccount, updateAccount } from '../../../domain/platform/account-updates.js';
import {
  type Account,
  type AccountContext,
  getAccount,
  getAccountByEmail,
} from '../../../domain/platform/accounts.js';
import { pendingEmails } from '../../../domain/platform/email-changes.js';
import { fullNameOf } from '../../../domain/platform/person-names.js';
import type { Changes, PlatformRows } from '../../../domain/platform/unit-of-work.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

/** What other instances may have made of the account, and when. */
const UNSEEN_BY_ONE_INSTANCE = {
  firstName: undefined,
  lastName: undefined,
  fullName: undefined,
  passwordSetAt: undefined,
  createdAt: undefined,
  updatedAt: undefined,
} satisfies Partial<AccountMessage>;

export function accountHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  return {
    getAccount: async ({ key }, { instanceId }) => {
      const { rows } = platform.unitOfWork;
      const account = await find(rows, key);
      const contexts = await rows.accounts.contextsOf(account.id);
      const message = await toAccountMessage({ ...rows, now: platform.clock() }, account);
      return {
        account: instanceId === undefined ? message : { ...message, ...UNSEEN_BY_ONE_INSTANCE },
        contexts: contexts.map((context) => toContextMessage(account, context)),
      };
    },
    updateAccount: (request, context) =>
      write(platform, methods.updateAccount, request, context, async (changes) => ({
        account: await toAccountMessage(changes, await updateAccount(changes, request)),
      })),
    enableAccount: (request, context) =>
      write(platform, methods.enableAccount, request, context, async (changes) => ({
        account: await toAccountMessage(changes, await enableAccount(changes, request.accountId)),
      })),
    disableAccount: (request, context) =>
      write(platform, methods.disableAccount, request, context, async (changes) => ({
        account: await toAccountMessage(changes, await disableAccount(changes, request.accountId)),
      })),
  };
}

function find(rows: Pick<PlatformRows, 'accounts'>, key: GetAccountRequest['key']): Promise<Account> {
  switch (key?.$case) {
    case 'accountId':
      return getAccount(rows, key.value);
    case 'email':
      return getAccountByEmail(rows, key.value);
    default:
      throw new ServiceError(ErrorCode.INVALID_REQUEST, 'Nothing says which account is meant.', {
        fieldViolations: [{ path: 'key', message: 'must be account_id or email' }],
      });
  }
}

/** With what stands beside the account: when its password was set, and what addresses wait. */
export async function toAccountMessage(
  changes: Pick<Changes, 'passwords' | 'emailChanges' | 'now'>,
  account: Account,
): Promise<AccountMessage> {
  const password = await changes.passwords.find(account.id);
  const pending = await pendingEmails(changes, account.id);
  const { id, email, firstName, lastName, workerProfileId, version } = account;
  return {
    id,
    email,
    emailVerified: account.emailVerifiedAt !== null,
    firstName: firstName ?? undefined,
    lastName: lastName ?? undefined,
    fullName: fullNameOf(firstName, lastName) ?? undefined,
    workerProfileId,
    status: account.disabledAt === null ? AccountStatus.ENABLED : AccountStatus.DISABLED,
    passwordSetAt: password && new Date(password.setAt),
    createdAt: new Date(account.createdAt),
    updatedAt: new Date(account.updatedAt),
    version,
    pendingEmails: pending.map((change) =>
      toPendingEmail(change, change.asker === PLATFORM ? undefined : change.asker),
    ),
  };
}

export function toPendingEmail(
  { email, askedAt, expiresAt }: Pick<EmailChange, 'email' | 'askedAt' | 'expiresAt'>,
  clientId: string | undefined,
): PendingEmail {
  return { email, clientId, askedAt: new Date(askedAt), expiresAt: new Date(expiresAt) };
}

function toContextMessage(
  { disabledAt }: Account,
  { member, clientId, instanceId, enabled }: AccountContext,
): AccountContextMessage {
  return {
    member:
      member.kind === 'user'
        ? { $case: 'userId', value: member.id }
        : { $case: 'workerId', value: member.id },
    clientId,
    instanceId,
    allowsSignIn: enabled && disabledAt === null,
  };
}
