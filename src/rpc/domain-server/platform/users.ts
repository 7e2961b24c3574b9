import { UserStatus as UserStatusMessage } from '../../../../generated/proto/integration/platform/v1/users.js';
import type { UserStatus } from '../../../domain/directory/names.js';
import { listPage } from '../../../domain/platform/listing.js';
import { getClient } from '../../../domain/platform/organization/clients.js';
import { emailKeysOf } from '../../../domain/platform/people/email-keys.js';
import {
  deleteUser,
  disableUser,
  enableUser,
  updateUser,
} from '../../../domain/platform/people/user-updates.js';
import { ALL_BUT_DELETED, createUser, getUser } from '../../../domain/platform/people/users.js';
import type { UserView } from '../../../domain/platform/rows/people.js';
import { filterOf, fromEnum } from '../fields.js';
import { type HandlerDependencies, type PlatformHandlers, writing } from './write.js';

export function userHandlers(platform: HandlerDependencies): PlatformHandlers {
  const { clock } = platform;
  return {
    ...writing(platform, {
      createUser: (changes, request) => answerOf(createUser(changes, request), changes.now),
      updateUser: (changes, request) => answerOf(updateUser(changes, request), changes.now),
      enableUser: (changes, request) => answerOf(enableUser(changes, request), changes.now),
      disableUser: (changes, request) => answerOf(disableUser(changes, request), changes.now),
      deleteUser: (changes, request) => answerOf(deleteUser(changes, request), changes.now),
    }),
    getUser: async ({ userId }, { rows }) => ({ user: toMessage(await getUser(rows, userId), clock()) }),
    listUsers: async ({ clientId, statuses, email, ...listing }, { rows }) => {
      const filter = {
        clientId,
        statuses: statuses.length === 0 ? ALL_BUT_DELETED : toStatuses(statuses),
        emailKeys: email === undefined ? undefined : emailKeysOf(email),
      };
      await getClient(rows, clientId);
      const { rows: found, nextPageToken } = await listPage(listing, (page) => rows.users.page(page, filter));
      const now = clock();
      return { users: found.map((user) => toMessage(user, now)), nextPageToken };
    },
  };
}

const statusOf = fromEnum(UserStatusMessage);

function toStatuses(values: readonly UserStatusMessage[]): UserStatus[] {
  return [...new Set(filterOf(values, statusOf, 'must be ACTIVE, INACTIVE, INVITED or DELETED'))];
}

async function answerOf(changed: Promise<UserView>, now: number) {
  return { user: toMessage(await changed, now) };
}

function toMessage(user: UserView, now: number) {
  const { clientId, pendingEmail } = user;
  return {
    ...user,
    status: UserStatusMessage[user.status],
    pendingEmail: pendingEmail && pendingEmail.expiresAt > now ? { ...pendingEmail, clientId } : undefined,
  };
}
