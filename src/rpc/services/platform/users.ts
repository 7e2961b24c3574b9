import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import {
  type User as UserMessage,
  UserStatus as UserStatusMessage,
} from '../../../../generated/proto/integration/platform/v1/users.js';
import type { UserStatus } from '../../../domain/directory/users.js';
import { emailKeyOf } from '../../../domain/platform/accounts.js';
import { getClient } from '../../../domain/platform/clients.js';
import { listPage } from '../../../domain/platform/listing.js';
import { deleteUser, disableUser, enableUser, updateUser } from '../../../domain/platform/user-updates.js';
import { ALL_BUT_DELETED, createUser, getUser, type UserView } from '../../../domain/platform/users.js';
import { Violations } from '../../../domain/platform/violations.js';
import type { Handlers } from '../../handlers.js';
import { toPendingEmail } from './accounts.js';
import { type PlatformDependencies, write } from './write.js';

export function userHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const {
    clock,
    unitOfWork: { rows },
  } = platform;
  return {
    createUser: (request, context) =>
      write(platform, methods.createUser, request, context, async (changes) => ({
        user: toMessage(await createUser(changes, request), changes.now),
      })),
    getUser: async ({ userId }) => ({ user: toMessage(await getUser(rows, userId), clock()) }),
    listUsers: async ({ clientId, statuses, email, ...listing }) => {
      const filter = {
        clientId,
        statuses: statuses.length === 0 ? ALL_BUT_DELETED : toStatuses(statuses),
        emailKey: email === undefined ? undefined : emailKeyOf(email),
      };
      await getClient(rows, clientId);
      const { rows: found, nextPageToken } = await listPage(listing, (page) => rows.users.page(page, filter));
      const now = clock();
      return { users: found.map((user) => toMessage(user, now)), nextPageToken };
    },
    updateUser: (request, context) =>
      write(platform, methods.updateUser, request, context, async (changes) => ({
        user: toMessage(await updateUser(changes, request), changes.now),
      })),
    enableUser: (request, context) =>
      write(platform, methods.enableUser, request, context, async (changes) => ({
        user: toMessage(await enableUser(changes, request), changes.now),
      })),
    disableUser: (request, context) =>
      write(platform, methods.disableUser, request, context, async (changes) => ({
        user: toMessage(await disableUser(changes, request), changes.now),
      })),
    deleteUser: (request, context) =>
      write(platform, methods.deleteUser, request, context, async (changes) => ({
        user: toMessage(await deleteUser(changes, request), changes.now),
      })),
  };
}

const statusMessages: Record<UserStatus, UserStatusMessage> = {
  ACTIVE: UserStatusMessage.ACTIVE,
  INACTIVE: UserStatusMessage.INACTIVE,
  INVITED: UserStatusMessage.INVITED,
  DELETED: UserStatusMessage.DELETED,
};

const statusesByMessage = new Map(
  Object.entries(statusMessages).map(([status, message]) => [message, status as UserStatus]),
);

function toStatuses(messages: readonly UserStatusMessage[]): UserStatus[] {
  const violations = new Violations();
  const statuses = messages.map((message, index) => {
    const status = statusesByMessage.get(message);
    if (!status) {
      violations.add(`statuses[${index}]`, 'must be ACTIVE, INACTIVE, INVITED or DELETED');
    }
    return status as UserStatus;
  });
  violations.throwIfAny();
  return [...new Set(statuses)];
}

function toMessage(user: UserView, now: number): UserMessage {
  const { id, clientId, accountId, email, manager, version, pendingEmail } = user;
  return {
    id,
    clientId,
    accountId,
    email,
    ...toNames(user),
    status: statusMessages[user.status],
    manager: manager ? { id: manager.id, email: manager.email, ...toNames(manager) } : undefined,
    role: user.role ?? undefined,
    createdAt: new Date(user.createdAt),
    updatedAt: new Date(user.updatedAt),
    version,
    pendingEmail:
      pendingEmail && pendingEmail.expiresAt > now ? toPendingEmail(pendingEmail, clientId) : undefined,
  };
}

function toNames(person: { firstName: string | null; lastName: string | null; fullName: string | null }) {
  return {
    firstName: person.firstName ?? undefined,
    lastName: person.lastName ?? undefined,
    fullName: person.fullName ?? undefined,
  };
}
