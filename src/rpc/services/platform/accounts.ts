import {
  type AccountContext as AccountContextMessage,
  type Account as AccountMessage,
  AccountStatus,
  type GetAccountRequest,
} from '../../../../generated/proto/integration/platform/v1/accounts.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { disableAccount, enableAccount, updateAccount } from '../../../domain/platform/account-updates.js';
import {
  type Account,
  type AccountContext,
  getAccount,
  getAccountByEmail,
} from '../../../domain/platform/accounts.js';
import { fullNameOf } from '../../../domain/platform/person-names.js';
import type { Changes, UnitOfWork } from '../../../domain/platform/unit-of-work.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { Handlers } from '../../handlers.js';
import { write } from './write.js';

export function accountHandlers(unitOfWork: UnitOfWork): Handlers<typeof methods> {
  return {
    getAccount: ({ key }) =>
      unitOfWork.run(async (changes) => {
        const account = await find(changes, key);
        const contexts = await changes.accounts.contextsOf(account.id);
        return {
          account: toMessage(account),
          contexts: contexts.map((context) => toContextMessage(account, context)),
        };
      }),
    updateAccount: (request) =>
      write(unitOfWork, methods.updateAccount, request, async (changes) => ({
        account: toMessage(await updateAccount(changes, request)),
      })),
    enableAccount: (request) =>
      write(unitOfWork, methods.enableAccount, request, async (changes) => ({
        account: toMessage(await enableAccount(changes, request.accountId)),
      })),
    disableAccount: (request) =>
      write(unitOfWork, methods.disableAccount, request, async (changes) => ({
        account: toMessage(await disableAccount(changes, request.accountId)),
      })),
  };
}

function find(changes: Changes, key: GetAccountRequest['key']): Promise<Account> {
  switch (key?.$case) {
    case 'accountId':
      return getAccount(changes, key.value);
    case 'email':
      return getAccountByEmail(changes, key.value);
    default:
      throw new ServiceError(ErrorCode.INVALID_REQUEST, 'Nothing says which account is meant.', {
        fieldViolations: [{ path: 'key', message: 'must be account_id or email' }],
      });
  }
}

function toMessage(account: Account): AccountMessage {
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
    createdAt: new Date(account.createdAt),
    updatedAt: new Date(account.updatedAt),
    version,
  };
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
