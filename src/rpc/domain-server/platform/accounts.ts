import {
  AccountStatus,
  type GetAccountRequest,
} from '../../../../generated/proto/integration/platform/v1/accounts.js';
import { isLonger } from '../../../domain/characters.js';
import { textPage } from '../../../domain/platform/listing.js';
import {
  type Access,
  accountAccess,
  withdrawConsent,
} from '../../../domain/platform/people/account-access.js';
import {
  accountView,
  allowsSignIn,
  disableAccount,
  enableAccount,
  UNSEEN_BY_ONE_INSTANCE,
  updateAccount,
} from '../../../domain/platform/people/account-updates.js';
import { fullNameOf, getAccount, getAccountByEmail } from '../../../domain/platform/people/accounts.js';
import { beginningKeyOf } from '../../../domain/platform/people/email-keys.js';
import { eraseWithCopies } from '../../../domain/platform/people/erasure.js';
import type { Account, AccountContext } from '../../../domain/platform/rows/people.js';
import type { PlatformRows } from '../../../domain/platform/unit-of-work.js';
import { invalidField } from '../../../errors/service-error.js';
import { actorOf } from '../../call-audit.js';
import { type HandlerDependencies, type PlatformHandlers, write, writing } from './write.js';

export function accountHandlers(platform: HandlerDependencies): PlatformHandlers {
  const { hashRequest } = platform;
  return {
    ...writing(platform, {
      updateAccount: (changes, request) => accountAnswer(changes, updateAccount(changes, request)),
      enableAccount: (changes, { accountId }) => accountAnswer(changes, enableAccount(changes, accountId)),
      disableAccount: (changes, { accountId }) => accountAnswer(changes, disableAccount(changes, accountId)),
    }),
    eraseAccount: (request, unitOfWork, context) =>
      eraseWithCopies(
        (erase) =>
          write({ unitOfWork, hashRequest }, 'eraseAccount', request, context, (changes) =>
            accountAnswer(changes, erase(changes, actorOf(context), request.accountId)),
          ),
        platform.forgetCopies,
      ),
    listAccounts: async ({ emailPrefix, ...listing }, { rows: { accounts } }) => {
      const prefix = prefixKeyOf(emailPrefix) || undefined;
      const { rows, nextPageToken } = await textPage(
        listing,
        (after, limit) => accounts.page(after, limit, prefix),
        ({ emailKey }) => emailKey,
      );
      return { accounts: rows.map(toEntry), nextPageToken };
    },
    listAccountAccess: async ({ accountId, ...listing }, { rows }) => {
      const page = await accountAccess(rows, accountId, listing);
      return { ...toAccessMessages(page.rows), nextPageToken: page.nextPageToken };
    },
    withdrawConsent: async (request, unitOfWork, context) => ({
      withdrawn: await unitOfWork.run((changes) => withdrawConsent(changes, actorOf(context), request)),
    }),
    getAccount: async ({ key }, { rows }, { identity: { instanceId } }) => {
      const account = await find(rows, key);
      const contexts = await rows.accounts.contextsOf(account.id);
      const formerContexts = await rows.accounts.formerContextsOf(account.id);
      const toContext = (context: AccountContext) => ({
        ...context,
        member: { $case: `${context.member.kind}Id` as const, value: context.member.id },
        allowsSignIn: allowsSignIn(account, context, instanceId),
      });
      const { account: message } = await accountAnswer({ ...rows, now: platform.clock() }, account);
      return {
        account:
          instanceId === undefined
            ? message
            : { ...message, ...UNSEEN_BY_ONE_INSTANCE, status: AccountStatus.UNSPECIFIED },
        contexts: contexts.map(toContext),
        formerContexts: formerContexts.map(toContext),
      };
    },
  };
}

/** The longest address that the contracts accept. */
const MAX_PREFIX_LENGTH = 254;

/** As addresses are compared, but for domains that their keys write in Punycode. */
function prefixKeyOf(prefix: string | undefined): string | undefined {
  if (prefix !== undefined && isLonger(prefix, MAX_PREFIX_LENGTH)) {
    const fault = `must not be longer than ${MAX_PREFIX_LENGTH} characters`;
    throw invalidField('The beginning of an address is too long.', 'email_prefix', fault);
  }
  return prefix && beginningKeyOf(prefix);
}

function statusOf({ disabledAt }: Account): AccountStatus {
  return disabledAt === null ? AccountStatus.ENABLED : AccountStatus.DISABLED;
}

function toEntry(account: Account) {
  return {
    ...account,
    emailVerified: account.emailVerifiedAt !== null,
    fullName: fullNameOf(account.firstName, account.lastName),
    status: statusOf(account),
  };
}

function toAccessMessages(access: readonly Access[]) {
  return {
    sessions: access.flatMap(({ kind, row }) =>
      kind === 'session' ? [{ ...row, authenticatedAt: row.account?.authenticatedAt }] : [],
    ),
    consents: access.flatMap(({ kind, row }) => (kind === 'consent' ? [row] : [])),
    grants: access.flatMap(({ kind, row }) =>
      kind === 'grant' ? [{ ...row, lastTokenAt: row.rotatedAt }] : [],
    ),
  };
}

function find(rows: Pick<PlatformRows, 'accounts'>, key: GetAccountRequest['key']): Promise<Account> {
  switch (key?.$case) {
    case 'accountId':
      return getAccount(rows, key.value);
    case 'email':
      return getAccountByEmail(rows, key.value);
    default:
      throw invalidField('The request names no account.', 'key', 'must be account_id or email');
  }
}

export async function accountAnswer(
  changes: Parameters<typeof accountView>[0],
  changed: Account | Promise<Account>,
) {
  const account = await changed;
  return { account: { ...(await accountView(changes, account)), status: statusOf(account) } };
}
