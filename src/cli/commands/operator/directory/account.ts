import type { Command } from 'commander';
import type {
  Account,
  AccountContext,
  PendingEmail,
} from '../../../../../generated/proto/integration/platform/v1/accounts.js';
import { confirmation } from '../../confirm.js';
import { printableLine } from '../../output/printable.js';
import { asColumns, asTime, asWord } from '../../output/table.js';
import { addGroup, addVerb, LIMIT, YES } from '../group.js';
import type { Action } from '../session.js';
import { showing, shownPages } from '../showing.js';

export function addAccountCommands(program: Command): void {
  const group = addGroup(
    program,
    'account',
    'Accounts: the people behind users and workers, with what they sign in with',
    'account list --email ada@',
    'account show ada@example.com',
    'account disable acc_…',
    'account erase acc_…',
  );
  addVerb(group, 'list', list, {
    about: 'List accounts; --email selects those whose address begins with a text',
    example: '--email ada@',
  })
    .option('--email <beginning>', 'only those whose email address begins with this; case is ignored')
    .option(...LIMIT, 50);
  addVerb(group, 'show', show, {
    about: 'Show a person with all their users and workers',
    example: 'ada@example.com',
  }).argument('<account>', 'its id, or the address that the person signs in with');
  addVerb(group, 'disable <account>', disable, {
    about: 'Keep a person from signing in anywhere, and end their sessions (needs a platform token)',
    demoToken: 'platform',
  });
  addVerb(group, 'enable <account>', enable, {
    about: 'Let a person sign in again (needs a platform token)',
    demoToken: 'platform',
  });
  addVerb(group, 'erase <account>', erase, { about: ERASING, demoToken: 'platform' }).option(...YES);
}

const ERASING =
  'Erase names, addresses and credentials of a person who is no user and no worker, permanently (needs a platform token)';

const shown = showing('account', (account: Account) => [
  ['Account', account.id],
  ['E-mail', emailOf(account)],
  ['Waits for proof', account.pendingEmails.map(pending)],
  ['Name', printableLine(account.fullName ?? '') || '-'],
  ['Status', asWord(account.status, 'ACCOUNT_STATUS_')],
  ['Password set', asTime(account.passwordSetAt, 'never')],
  ['Worker profile', account.workerProfileId],
  ['Created', asTime(account.createdAt)],
  ['Changed', asTime(account.updatedAt)],
  ['Version', account.version || '-'],
]);

const list: Action = async ({ platform }, _, { email: emailPrefix, limit }) =>
  shownPages(limit, 'accounts', (page) => platform.listAccounts({ emailPrefix, ...page }), {
    account: ({ id }) => id,
    email: emailOf,
    name: ({ fullName = '' }) => printableLine(fullName) || '-',
    status: ({ status }) => asWord(status, 'ACCOUNT_STATUS_'),
    created: ({ createdAt }) => asTime(createdAt),
  });

const show: Action = async ({ platform }, [known]) => {
  const $case = known.includes('@') ? ('email' as const) : ('accountId' as const);
  const answer = await platform.getAccount({ key: { $case, value: known } });
  return shown(answer, contextTable(answer.contexts));
};

const disable: Action = async ({ platform }, [accountId]) =>
  shown(await platform.disableAccount({ accountId }));

const enable: Action = async ({ platform }, [accountId]) =>
  shown(await platform.enableAccount({ accountId }));

const erase: Action = async ({ platform }, [accountId], { yes }) => {
  const confirm = confirmation({ yes });
  await confirm(`Erase the person of ${accountId}? This cannot be undone.`);
  return shown(await platform.eraseAccount({ accountId }));
};

function emailOf({ email, emailVerified }: Pick<Account, 'email' | 'emailVerified'>): string {
  return `${printableLine(email)}${emailVerified ? ', verified' : ''}`;
}

function pending({ email, clientId = 'the platform', expiresAt }: PendingEmail): string {
  return `${printableLine(email)}, asked by ${clientId}, until ${asTime(expiresAt)}`;
}

function contextTable(contexts: readonly AccountContext[]): string {
  return contexts.length === 0
    ? 'The person is no user and no worker.'
    : asColumns(contexts, {
        is: ({ member }) => (member?.$case === 'workerId' ? 'worker' : 'user'),
        id: ({ member }) => member?.value ?? '-',
        client: ({ clientId }) => clientId,
        instance: ({ instanceId }) => instanceId,
        'may sign in': ({ allowsSignIn }) => (allowsSignIn ? 'yes' : 'no'),
      });
}
