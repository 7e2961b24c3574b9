import type { UserId } from '../../../../generated/ids.js';
import { refused } from '../../../errors/service-error.js';
import type { UserStatus } from '../../directory/names.js';
import { assertExpectedVersion, differing, trimmed, type Update, updatedFields } from '../changes.js';
import { assertFewChange } from '../instance-limit.js';
import type { User, UserView } from '../rows/people.js';
import type { Changes } from '../unit-of-work.js';
import { fullNameOf, validatedPerson } from './accounts.js';
import { askForEmail, type EmailPorts } from './email-changes.js';
import { resolveUserReferences } from './user-references.js';
import { getUser, type UserCreation, writeUsers } from './users.js';

type Ports = Pick<Changes, 'emailChanges' | 'lock' | 'now' | 'recordEvent' | 'touch' | 'users'>;

export interface UserUpdate
  extends Update,
    Partial<Pick<UserCreation, 'email' | 'firstName' | 'lastName' | 'managerUserId' | 'roleId'>> {
  userId: string;
}

/** Those who report to the user show them: in the sequence of changes they change too. */
const NAMES = ['firstName', 'lastName', 'fullName'];

/** With a token of one instance. Without an event, a change takes a fifth of the time of others. */
const MOST_REPORTS = 25_000;

/**
 * The address belongs to the account, which other clients share: a new one waits for its proof, and is
 * refused for a person who has not signed in as the user.
 */
export async function updateUser(
  changes: EmailPorts & Pick<Changes, 'roles'>,
  update: UserUpdate,
): Promise<UserView> {
  const given = trimmed(update, 'email', 'firstName', 'lastName');
  const fields = updatedFields(given, ['email'], ['firstName', 'lastName', 'managerUserId', 'roleId']);
  const { email, managerUserId, ...own } = await validatedPerson(fields, () =>
    changes.users.find(update.userId),
  );
  // Account and client of a user never change.
  const { accountId, clientId } = await getUser(changes, update.userId);
  await (email === undefined ? changes.lock(clientId) : changes.lock(accountId, clientId));
  const present = await getUser(changes, update.userId);
  assertExpectedVersion(present, update.expectedVersion);
  if (present.status === 'DELETED') {
    throw refused(IS_DELETED);
  }
  await resolveUserReferences(changes, present, fields);
  const { firstName, lastName } = { ...present, ...own };
  const changed = differing<User>(present, {
    ...own,
    fullName: fullNameOf(firstName, lastName),
    ...(managerUserId !== undefined && { managerId: managerUserId as UserId | null }),
  });
  const isChanged = Object.keys(changed).length > 0;
  if (NAMES.some((name) => name in changed)) {
    const countUpTo = (limit: number) => changes.users.countReports(present.id, limit);
    await assertFewChange(changes, 'users', countUpTo, MOST_REPORTS);
  }
  if (email !== undefined) {
    if (isChanged) {
      // Without an event: an address that takes effect at once causes its own event.
      await changes.users.update({ id: present.id, ...changed });
    }
    // Otherwise a client could ask a person whom it has invited unasked to confirm a mailbox of its own.
    const mayWait = present.status !== 'INVITED';
    const seen = { id: accountId, email: present.email };
    if (await askForEmail(changes, seen, { asker: clientId, email, mayWait })) {
      return getUser(changes, present.id);
    }
  }
  return isChanged ? writeOne(changes, present, changed) : getUser(changes, present.id);
}

interface UserTransition {
  userId: string;
  expectedVersion?: string;
}

export function enableUser(changes: Ports, transition: UserTransition): Promise<UserView> {
  return move(changes, transition, 'ACTIVE', {
    INVITED: 'The user has not signed in yet; the first sign-in makes an INVITED user ACTIVE.',
    DELETED: IS_DELETED,
  });
}

export function disableUser(changes: Ports, transition: UserTransition): Promise<UserView> {
  return move(changes, transition, 'INACTIVE', {
    INVITED: 'An INVITED user cannot be disabled; delete the user to take the invitation back.',
    DELETED: IS_DELETED,
  });
}

/** Ends the client's address request too. Locks the account first, as all that read such requests do. */
export async function deleteUser(changes: Ports, transition: UserTransition): Promise<UserView> {
  await changes.lock((await getUser(changes, transition.userId)).accountId);
  const present = await getUser(changes, transition.userId);
  const deleted = await move(changes, transition, 'DELETED', {});
  // A repetition must not end the request of a later user of the person.
  if (present.status !== 'DELETED') {
    await changes.emailChanges.end(deleted.accountId, deleted.clientId);
  }
  return deleted;
}

const IS_DELETED = 'The user is DELETED permanently; create a new user for the person.';

async function move(
  changes: Ports,
  { userId, expectedVersion }: UserTransition,
  status: UserStatus,
  refusals: { readonly [From in UserStatus]?: string },
): Promise<UserView> {
  await changes.lock((await getUser(changes, userId)).clientId);
  const present = await getUser(changes, userId);
  assertExpectedVersion(present, expectedVersion);
  const refusal = refusals[present.status];
  if (refusal !== undefined) {
    throw refused(refusal);
  }
  return present.status === status ? present : writeOne(changes, present, { status });
}

async function writeOne(changes: Ports, user: User, fields: Partial<User>): Promise<UserView> {
  const [written] = await writeUsers(changes, [user], fields);
  return written as UserView;
}
