import { type User, UserStatus } from '../../../../../generated/proto/integration/platform/v1/users.js';
import { printableLine } from '../../output/printable.js';
import { asFacts, asTime, asWord } from '../../output/table.js';
import { UsageError } from '../../usage-error.js';
import { listed, shownList } from '../listing.js';
import type { Action, Session, Shown } from '../session.js';
import { firstOf, membersWith, neededClient, type PeopleFilter } from './people.js';

const STATUSES = {
  active: UserStatus.ACTIVE,
  inactive: UserStatus.INACTIVE,
  invited: UserStatus.INVITED,
  deleted: UserStatus.DELETED,
};

export const list: Action<PeopleFilter & { status?: readonly (keyof typeof STATUSES)[] }> = async (
  session,
  _,
  { status = [], ...filter },
) => {
  const statuses = status.map((name) => STATUSES[name]);
  const found =
    filter.email !== undefined && filter.client === undefined
      ? await usersOfPerson(session, filter, statuses)
      : await usersOfClient(session, filter, statuses);
  return shownList(found, ['user', 'email', 'name', 'status', 'role', 'client', 'created'], (user) => [
    user.id,
    printableLine(user.email),
    printableLine(user.fullName ?? '') || '-',
    statusWord(user),
    printableLine(user.role?.name ?? '') || '-',
    user.clientId,
    asTime(user.createdAt),
  ]);
};

export const show: Action = async ({ platform, call }, [userId = '']) => {
  return shown(await platform.getUser({ userId }, call));
};

type Switch = Action<{ expectedVersion?: string }>;

export const disable: Switch = async ({ platform, call }, [userId = ''], { expectedVersion }) => {
  return shown(await platform.disableUser({ userId, expectedVersion }, call));
};

export const enable: Switch = async ({ platform, call }, [userId = ''], { expectedVersion }) => {
  return shown(await platform.enableUser({ userId, expectedVersion }, call));
};

async function usersOfPerson(session: Session, filter: PeopleFilter, statuses: readonly UserStatus[]) {
  if (statuses.includes(UserStatus.DELETED)) {
    throw new UsageError('Deleted users are found in a client only: add --client with its id.');
  }
  const { platform, call } = session;
  const users = await membersWith(session, filter, async (member) =>
    member.$case === 'userId' ? (await platform.getUser({ userId: member.value }, call)).user : undefined,
  );
  const wanted = users.filter(({ status }) => statuses.length === 0 || statuses.includes(status));
  return firstOf(wanted, filter.limit);
}

function usersOfClient(
  { platform, call }: Session,
  { limit, email, ...filter }: PeopleFilter,
  statuses: UserStatus[],
) {
  const clientId = neededClient(filter);
  return listed(limit, 'users', (page) => platform.listUsers({ clientId, email, statuses, ...page }, call));
}

function shown(answer: { user?: User | undefined }): Shown {
  const user = answer.user as User;
  const { manager, pendingEmail } = user;
  const text = asFacts([
    ['User', user.id],
    ['E-mail', printableLine(user.email)],
    ['Waits for proof', printableLine(pendingEmail?.email ?? '') || '-'],
    ['Name', printableLine(user.fullName ?? '') || '-'],
    ['Status', statusWord(user)],
    ['Role', printableLine(user.role?.name ?? '') || '-'],
    ['Manager', manager ? printableLine(`${manager.id} ${manager.email}`) : '-'],
    ['Client', user.clientId],
    ['Account', user.accountId],
    ['Created', asTime(user.createdAt)],
    ['Changed', asTime(user.updatedAt)],
    ['Version', user.version],
  ]);
  return { json: answer, text };
}

function statusWord({ status }: User): string {
  return asWord(status, 'USER_STATUS_');
}
