import type { Command } from 'commander';
import type { User, UserStatus } from '../../../../../generated/proto/integration/platform/v1/users.js';
import { UsageError } from '../../errors.js';
import { commaSeparatedOf, idOf } from '../../options.js';
import { printableLine } from '../../output/printable.js';
import { asEnum, asWord } from '../../output/table.js';
import { addGroup, addVerb, EXPECTED_VERSION, LIMIT, making } from '../group.js';
import type { Action, Session } from '../session.js';
import { CHANGES, columnsOf, type Facts, showing, shownPages } from '../showing.js';
import { membersWith, neededClient, shownFirst } from './people.js';

const STATUSES = ['active', 'inactive', 'invited', 'deleted'];

export function addUserCommands(program: Command): void {
  const group = addGroup(
    program,
    'user',
    'Users: the people who sign in to the dashboard for a client',
    'user list --email ada@example.com',
    'user list --client cli_… --status invited',
    'user disable usr_…',
  );
  const request = '{"clientId": "cli_…", "email": "ada@example.com", "withoutManager": true}';
  group.addHelpText('after', making('CreateUser', request));
  addVerb(group, 'list', list, {
    about: 'List the users of a client, or of the person with an address',
    example: '--email ada@example.com',
  })
    .option('--client <client>', 'only those of this client', idOf('cli'))
    .option('--email <address>', 'only those of the person who signs in with this address')
    .option(
      '--status <statuses>',
      `only those with one of these statuses: ${STATUSES.join(', ')}`,
      commaSeparatedOf(STATUSES),
    )
    .option(...LIMIT, 50);
  addVerb(group, 'show <user>', show, { about: 'Show one user' });
  addVerb(group, 'disable <user>', disable, {
    about: 'Keep an active user from signing in',
    demoToken: 'platform',
  }).option(...EXPECTED_VERSION);
  addVerb(group, 'enable <user>', enable, {
    about: 'Let a disabled user sign in again',
    demoToken: 'platform',
  }).option(...EXPECTED_VERSION);
}

const FACTS = {
  User: ({ id }) => id,
  Email: ({ email }) => printableLine(email),
  'New email': ({ pendingEmail }) => printableLine(pendingEmail?.email ?? '') || '-',
  Name: ({ fullName }) => printableLine(fullName ?? '') || '-',
  Status: ({ status }) => asWord(status, 'USER_STATUS_'),
  Role: ({ role }) => printableLine(role?.name ?? '') || '-',
  Manager: ({ manager }) => (manager ? printableLine(`${manager.id} ${manager.email}`) : '-'),
  Client: ({ clientId }) => clientId,
  Account: ({ accountId }) => accountId,
  ...CHANGES,
} satisfies Facts<User>;

const COLUMNS = columnsOf(FACTS, 'User', 'Email', 'Name', 'Status', 'Role', 'Client', 'Created');

const list: Action<{ status?: readonly string[] }> = async (
  session,
  _,
  { status = [], client, email, limit },
) => {
  const statuses = status.map((name) => asEnum<UserStatus>(name, 'USER_STATUS_'));
  if (email !== undefined && client === undefined) {
    if (status.includes('deleted')) {
      throw new UsageError('Deleted users are found in a client only: add --client with its id.');
    }
    return shownFirst(await usersOfPerson(session, email, statuses), COLUMNS, limit);
  }
  const filter = { clientId: neededClient({ client }), email, statuses };
  return shownPages(limit, 'users', (page) => session.platform.listUsers({ ...filter, ...page }), COLUMNS);
};

async function usersOfPerson(session: Session, email: string, statuses: readonly UserStatus[]) {
  const users = await membersWith(session, { email }, async (member) =>
    member.$case === 'userId' ? (await session.platform.getUser({ userId: member.value })).user : undefined,
  );
  return users.filter(({ status }) => statuses.length === 0 || statuses.includes(status));
}

const shown = showing('user', FACTS);

const show: Action = async ({ platform }, [userId]) => shown(await platform.getUser({ userId }));

const disable: Action = async ({ platform }, [userId], { expectedVersion }) =>
  shown(await platform.disableUser({ userId, expectedVersion }));

const enable: Action = async ({ platform }, [userId], { expectedVersion }) =>
  shown(await platform.enableUser({ userId, expectedVersion }));
