import type {
  Account,
  AccountContext,
  PendingEmail,
} from '../../../../../generated/proto/integration/platform/v1/accounts.js';
import { printableLine } from '../../output/printable.js';
import { asColumns, asFacts, asTime, asWord } from '../../output/table.js';
import { listed, shownList } from '../listing.js';
import type { Action } from '../session.js';

export const list: Action<{ email?: string; limit: number }> = async (
  { platform, call },
  _,
  { email, limit },
) => {
  const found = await listed(limit, 'accounts', (page) =>
    platform.listAccounts({ emailPrefix: email, ...page }, call),
  );
  return shownList(found, ['account', 'email', 'name', 'status', 'created'], (account) => [
    account.id,
    `${printableLine(account.email)}${account.emailVerified ? ', verified' : ''}`,
    printableLine(account.fullName ?? '') || '-',
    asWord(account.status, 'ACCOUNT_STATUS_'),
    asTime(account.createdAt),
  ]);
};

export const show: Action = async ({ platform, call }, [known = '']) => {
  const key = known.includes('@')
    ? { $case: 'email' as const, value: known }
    : { $case: 'accountId' as const, value: known };
  const answer = await platform.getAccount({ key }, call);
  const { account, contexts } = answer;
  return { json: answer, text: `${facts(account as Account)}\n\n${contextTable(contexts)}` };
};

export const disable: Action = async ({ platform, call }, [accountId = '']) => {
  const answer = await platform.disableAccount({ accountId }, call);
  return { json: answer, text: facts(answer.account as Account) };
};

export const enable: Action = async ({ platform, call }, [accountId = '']) => {
  const answer = await platform.enableAccount({ accountId }, call);
  return { json: answer, text: facts(answer.account as Account) };
};

function facts(account: Account): string {
  return asFacts([
    ['Account', account.id],
    ['E-mail', `${printableLine(account.email)}${account.emailVerified ? ', verified' : ''}`],
    ['Waits for proof', account.pendingEmails.map(pending)],
    ['Name', printableLine(account.fullName ?? '') || '-'],
    ['Status', asWord(account.status, 'ACCOUNT_STATUS_')],
    ['Password set', asTime(account.passwordSetAt, 'never')],
    ['Worker profile', account.workerProfileId],
    ['Created', asTime(account.createdAt)],
    ['Changed', asTime(account.updatedAt)],
    ['Version', account.version || '-'],
  ]);
}

function pending({ email, clientId = 'the platform', expiresAt }: PendingEmail): string {
  return `${printableLine(email)}, asked by ${clientId}, until ${asTime(expiresAt)}`;
}

function contextTable(contexts: readonly AccountContext[]): string {
  return contexts.length === 0
    ? 'The person is no user and no worker.'
    : asColumns(
        ['is', 'id', 'client', 'instance', 'may sign in'],
        contexts.map(({ member, clientId, instanceId, allowsSignIn }) => [
          member?.$case === 'workerId' ? 'worker' : 'user',
          member?.value ?? '-',
          clientId,
          instanceId,
          allowsSignIn ? 'yes' : 'no',
        ]),
      );
}
