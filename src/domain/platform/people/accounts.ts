import type { AccountId } from '../../../../generated/ids.js';
import { ErrorCode, existing, fieldRefusal, refused, ServiceError } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import { getterOf } from '../../unit-of-work.js';
import { madeAt } from '../../version.js';
import { writeChanged } from '../changes.js';
import type { Client } from '../rows/organization.js';
import type { Account, AccountContext } from '../rows/people.js';
import type { Changes } from '../unit-of-work.js';
import { Violations } from '../violations.js';
import { isErased, mayBeOlder, updatedEmail } from './email-addresses.js';
import { emailKeyOf } from './email-keys.js';

interface PersonNames {
  firstName?: string | null;
  lastName?: string | null;
}

/** What finds a person by an older address. */
type PersonPorts = Pick<Changes, 'accounts' | 'clients' | 'instanceId'>;

/**
 * Judges the address by which a call adds a person. One from before the rule, exactly as it is stored, names
 * its person. To a token of one instance, a person who never belonged to the instance is unknown.
 */
export async function validateEmailOfPerson(
  ports: PersonPorts,
  violations: Violations,
  email: string,
): Promise<void> {
  if (!(mayBeOlder(email) && (await isOfReachedPerson(ports, email)))) {
    violations.email('email', email);
  }
}

async function isOfReachedPerson(
  { accounts, clients, instanceId }: PersonPorts,
  email: string,
): Promise<boolean> {
  const account = await accounts.findByEmail(email);
  if (account?.email !== email) {
    return false;
  }
  if (instanceId === undefined) {
    return true;
  }
  for (const clientId of await accounts.clientsOf(account.id)) {
    if (await clients.find(clientId)) {
      return true;
    }
  }
  return false;
}

/**
 * Finds the account of an address, or makes it if the address is valid, and locks it, which must precede
 * instances and clients.
 */
export async function accountByEmail(
  changes: Pick<Changes, 'accounts' | 'lock' | 'now'>,
  email: string,
  names: PersonNames,
): Promise<{ id: AccountId; isNew: boolean }> {
  const emailKey = emailKeyOf(email);
  // Until the lock, another write may make the account or move the address; then look again.
  for (;;) {
    const found = await changes.accounts.findByEmail(email);
    const account = found ?? newAccount(changes, email, names);
    if (!found && !(await changes.accounts.insert(account))) {
      continue;
    }
    await changes.lock(account.id);
    if (!found) {
      return { id: account.id, isNew: true };
    }
    const locked = await changes.accounts.find(account.id);
    if (locked && emailKeyOf(locked.email) === emailKey) {
      return { id: account.id, isNew: false };
    }
  }
}

/** Each sign-in of a person on an instance reads all that the person is there. */
const MOST_MEMBERSHIPS = 1_000;

/**
 * A person is one user and one active worker of a client at a time; later they may return as another. The
 * account must be locked.
 */
export async function assertNoMember(
  { accounts }: Pick<Changes, 'accounts'>,
  accountId: AccountId,
  { id: clientId, instanceId }: Pick<Client, 'id' | 'instanceId'>,
  kind: AccountContext['member']['kind'],
): Promise<void> {
  const contexts = await accounts.contextsOf(accountId);
  if (contexts.some(({ member, ...of }) => member.kind === kind && of.clientId === clientId)) {
    const message = `The person is a ${kind} of this client already.`;
    const violation = `must not be the address of a ${kind} of the same client`;
    throw fieldRefusal(ErrorCode.ALREADY_EXISTS, message, 'email', violation);
  }
  if (contexts.filter((context) => context.instanceId === instanceId).length >= MOST_MEMBERSHIPS) {
    throw refused(`A person can be user or worker at most ${MOST_MEMBERSHIPS} times on an instance.`);
  }
}

function newAccount(
  { now }: Pick<Changes, 'now'>,
  email: string,
  { firstName, lastName }: PersonNames,
): Account {
  const violations = new Violations();
  violations.email('email', email.trim());
  violations.throwIfAny();
  return {
    id: newPublicId('AccountId'),
    workerProfileId: newPublicId('WorkerProfileId'),
    email: email.trim(),
    emailVerifiedAt: null,
    firstName: firstName ?? null,
    lastName: lastName ?? null,
    disabledAt: null,
    ...madeAt(now),
  };
}

export const getAccount = getterOf('accounts', ErrorCode.ACCOUNT_NOT_FOUND, 'account');

/** What remains of an erased account stays as it is. */
export function assertNotErased(account: Pick<Account, 'id' | 'email'>): void {
  if (isErased(account)) {
    throw refused(
      'The account was erased and cannot be changed. Create a new user or worker for the person.',
    );
  }
}

/** Locks and reads an account for a link: one for a disabled person would work once it is enabled. */
export async function lockEnabledAccount(
  changes: Pick<Changes, 'accounts' | 'lock'>,
  id: AccountId,
): Promise<Account> {
  await changes.lock(id);
  const account = await getAccount(changes, id);
  assertNotErased(account);
  if (account.disabledAt !== null) {
    throw refused('The account is disabled. Enable it first.');
  }
  return account;
}

/** Writes fields of a locked account, if they change it. */
export function writeAccount(
  { accounts, now }: Pick<Changes, 'accounts' | 'now'>,
  present: Account,
  fields: Partial<Account>,
): Promise<Account> {
  return writeChanged(present, fields, now, (changed) => accounts.update(changed));
}

export async function getAccountByEmail(changes: Pick<Changes, 'accounts'>, email: string): Promise<Account> {
  return existing(await changes.accounts.findByEmail(email), ErrorCode.ACCOUNT_NOT_FOUND, 'account');
}

/** Two people cannot share an address, because each signs in with theirs. */
export function emailTaken(cause?: unknown): ServiceError {
  return new ServiceError(ErrorCode.ALREADY_EXISTS, 'Another account has this e-mail address.', {
    fieldViolations: [{ path: 'email', message: 'must not be the address of another account' }],
    cause,
  });
}

/** First and last name, joined by a space; empty if both are absent. */
export function fullNameOf(firstName: string | null, lastName: string | null): string | null {
  return [firstName, lastName].filter((part) => part !== null).join(' ') || null;
}

/** Judges address and names of an update, and returns the fields with the address that the update names. */
export async function validatedPerson<Fields extends PersonNames & { email?: string }>(
  fields: Fields,
  find: () => Promise<{ email: string } | undefined>,
): Promise<Fields> {
  const violations = new Violations();
  const email = await updatedEmail(violations, fields.email, find);
  validatePersonNames(violations, fields);
  violations.throwIfAny();
  return { ...fields, email };
}

/** Names may be absent (null, undefined), but not blank. */
export function validatePersonNames(violations: Violations, names: PersonNames): void {
  violations.givenText('first_name', names.firstName);
  violations.givenText('last_name', names.lastName);
}
