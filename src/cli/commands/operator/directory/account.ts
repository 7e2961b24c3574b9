import type { Command } from 'commander';
import type {
  Account,
  AccountContext,
  GetAccountRequest,
  GetAccountResponse,
  PendingEmail,
} from '../../../../../generated/proto/integration/platform/v1/accounts.js';
import { confirmation } from '../../confirm.js';
import { assertIs } from '../../options.js';
import { printableLine } from '../../output/printable.js';
import { asColumns, asTime, asWord } from '../../output/table.js';
import { addGroup, addVerb, LIMIT, YES } from '../group.js';
import type { Action, Session } from '../session.js';
import { CHANGES, type Facts, showing, shownPages } from '../showing.js';

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
    about: 'Show an account with the users and workers that the person is or was',
    example: 'ada@example.com',
  }).argument(...ACCOUNT);
  addVerb(group, 'disable', disable, {
    about: 'Keep a person from signing in anywhere, and end their sessions',
    example: 'acc_…',
    demoToken: 'platform',
  }).argument(...ACCOUNT);
  addVerb(group, 'enable', enable, {
    about: 'Let a person sign in again',
    example: 'acc_…',
    demoToken: 'platform',
  }).argument(...ACCOUNT);
  addVerb(group, 'erase <account>', erase, {
    about: 'Erase names, addresses and credentials of a person who is no user and no worker, permanently',
    demoToken: 'platform',
  }).option(...YES);
}

const ACCOUNT = ['<account>', 'its id, or the address that the person signs in with', accountKey] as const;

type AccountKey = NonNullable<GetAccountRequest['key']>;

function accountKey(value: string): AccountKey {
  const $case = value.includes('@') ? 'email' : 'accountId';
  assertIs($case === 'email' || value.startsWith('acc_'), 'It must be an id such as acc_…, or an address.');
  return { $case, value };
}

const shown = showing('account', {
  Account: ({ id }) => id,
  Email: emailOf,
  'New email': ({ pendingEmails }) => pendingEmails.map(pending),
  Name: ({ fullName }) => printableLine(fullName ?? '') || '-',
  Status: ({ status }) => asWord(status, 'ACCOUNT_STATUS_'),
  'Password set': ({ passwordSetAt }) => asTime(passwordSetAt, 'never'),
  'Worker profile': ({ workerProfileId }) => workerProfileId,
  ...CHANGES,
  Version: ({ version }) => version || '-',
} satisfies Facts<Account>);

const list: Action = async ({ platform }, _, { email: emailPrefix, limit }) =>
  shownPages(limit, 'accounts', (page) => platform.listAccounts({ emailPrefix, ...page }), {
    account: ({ id }) => id,
    email: emailOf,
    name: ({ fullName = '' }) => printableLine(fullName) || '-',
    status: ({ status }) => asWord(status, 'ACCOUNT_STATUS_'),
    created: ({ createdAt }) => asTime(createdAt),
  });

type AccountAction = Action<object, readonly [account: AccountKey]>;

const show: AccountAction = async ({ platform }, [key]) => {
  const answer = await platform.getAccount({ key });
  return shown(answer, contextTable(answer));
};

const disable: AccountAction = async ({ platform }, [key]) =>
  shown(await platform.disableAccount({ accountId: await idBy(key, platform) }));

const enable: AccountAction = async ({ platform }, [key]) =>
  shown(await platform.enableAccount({ accountId: await idBy(key, platform) }));

async function idBy(key: AccountKey, platform: Session['platform']): Promise<string> {
  return key.$case === 'accountId' ? key.value : ((await platform.getAccount({ key })).account?.id ?? '');
}

const erase: Action = async ({ platform }, [accountId], { yes }) => {
  const confirm = confirmation({ yes });
  const { account } = await platform.getAccount({ key: { $case: 'accountId', value: accountId } });
  const name = printableLine(`${account?.fullName ?? ''} <${account?.email}>`);
  await confirm(`Erase ${name}, the person of ${accountId}? This cannot be undone.`);
  // The service reads all stored answers to calls, and events.
  return shown(await platform.eraseAccount({ accountId }, { deadlineMs: Number.POSITIVE_INFINITY }));
};

function emailOf({ email, emailVerified }: Pick<Account, 'email' | 'emailVerified'>): string {
  return `${printableLine(email)}${emailVerified ? ', verified' : ''}`;
}

function pending({ email, clientId = 'the platform', expiresAt }: PendingEmail): string {
  return `${printableLine(email)}, asked by ${clientId}, until ${asTime(expiresAt)}`;
}

function contextTable({ contexts, formerContexts }: GetAccountResponse): string {
  const isFormer = new Set(formerContexts);
  const all = [...contexts, ...formerContexts];
  return all.length === 0
    ? 'The person is not a user or worker, and never was one.'
    : asColumns(all, {
        is: (context) => (isFormer.has(context) ? `former ${kindOf(context)}` : kindOf(context)),
        id: ({ member }) => member?.value ?? '-',
        client: ({ clientId }) => clientId,
        instance: ({ instanceId }) => instanceId,
        'may sign in': ({ allowsSignIn }) => (allowsSignIn ? 'yes' : 'no'),
      });
}

function kindOf({ member }: AccountContext): 'user' | 'worker' {
  return member?.$case === 'workerId' ? 'worker' : 'user';
}
