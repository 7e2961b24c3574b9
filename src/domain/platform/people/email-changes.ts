import type { AccountId } from '../../../../generated/ids.js';
import { refused } from '../../../errors/service-error.js';
import { newSecret, storedHash } from '../../../identifiers/random-secrets.js';
import { type Asker, type EmailChange, PLATFORM } from '../../credentials/email-changes.js';
import { DAY_SECONDS, LINK_PURPOSES, type NewLink, validateLinkLifetime } from '../../credentials/links.js';
import type { WaitingNotices } from '../../credentials/notices.js';
import type { Actor } from '../../operator/audit.js';
import { MAX_PAGE_SIZE } from '../listing.js';
import type { Account, User } from '../rows/people.js';
import type { Changes } from '../unit-of-work.js';
import { invalidRequest, Violations } from '../violations.js';
import { emailTaken, getAccount, lockEnabledAccount, writeAccount } from './accounts.js';
import { contractEmailOf, refuseReplaced } from './email-addresses.js';
import { emailKeyOf } from './email-keys.js';
import { getUser, writeUsers } from './users.js';

type Ports = Pick<
  Changes,
  'accounts' | 'emailChanges' | 'links' | 'lock' | 'now' | 'recordEvent' | 'touch' | 'users'
>;

/** For requests whose address may take effect at once. */
export type EmailPorts = Ports & Pick<Changes, 'instanceId' | 'passwords'>;

const DEFAULT_SECONDS = 7 * DAY_SECONDS;

const IS_INVITED =
  'The person has not signed in as this user, so the client cannot request another address for them. If the address is mistyped, delete the user and create one with the right address.';

interface EmailRequest {
  asker: Asker;
  email: string;
  /** Whether the address may wait for a proof by the person; otherwise it is refused if it needs one. */
  mayWait: boolean;
}

/**
 * Asks for an address of a locked account, which is given with the address that the asker sees, and returns
 * whether it took effect. It does so at once only for an account without a password that never belonged to
 * another client; otherwise it waits for its proof. The address that the asker sees cancels the request. With
 * a token of one instance it never takes effect at once, so that the answer does not disclose accounts
 * elsewhere.
 */
export async function askForEmail(
  changes: EmailPorts,
  account: Pick<Account, 'id' | 'email'>,
  { asker, email, mayWait }: EmailRequest,
): Promise<boolean> {
  if (email === account.email) {
    await changes.emailChanges.end(account.id, asker);
    return false;
  }
  refuseReplaced(account.email, email);
  if (changes.instanceId === undefined) {
    await refuseTaken(changes, account.id, email);
    if (await isUnclaimed(changes, account.id, asker)) {
      await takeEmail(changes, account.id, email, { isProved: false });
      return true;
    }
  }
  if (!mayWait) {
    throw refused(IS_INVITED);
  }
  const present = await changes.emailChanges.find(account.id, asker);
  if (present?.email !== email || isOver(present, changes)) {
    const expiresAt = changes.now + DEFAULT_SECONDS * 1_000;
    const wish = { accountId: account.id, asker, email, askedAt: changes.now };
    await changes.emailChanges.put({ ...wish, linkHash: null, expiresAt });
  }
  return false;
}

/**
 * Gives a locked account its new address. Earlier links and requests end, so that none is revived later. If
 * the person has proved the address, users who are INVITED or DELETED keep showing the previous one: a client
 * that once invited a person must not learn later addresses.
 */
export async function takeEmail(
  changes: Ports,
  id: AccountId,
  email: string,
  { isProved }: { isProved: boolean },
): Promise<void> {
  await lockUsersOf(changes, id);
  await refuseTaken(changes, id, email);
  const present = await getAccount(changes, id);
  await changes.emailChanges.end(id);
  if (emailKeyOf(email) !== emailKeyOf(present.email)) {
    await changes.links.endOfAccount(id, LINK_PURPOSES, changes.now);
  }
  const isTold = ({ status }: User) => !isProved || (status !== 'INVITED' && status !== 'DELETED');
  const users = await changes.users.ofAccount(id);
  // Before the account: the trigger of its new address leaves out users with a known one.
  for (const user of users.filter((each) => !isTold(each) && each.knownEmail === null)) {
    await changes.users.update({ id: user.id, knownEmail: contractEmailOf(user.email) });
  }
  await writeAccount(changes, present, { email, emailVerifiedAt: isProved ? changes.now : null });
  await writeUsers(changes, users.filter(isTold), { knownEmail: null });
}

/** Removes notices that were mailed. Returns the ids of those that waited. */
export async function acknowledgeNotices(
  notices: Pick<WaitingNotices<unknown>, 'remove'>,
  ids: string[],
): Promise<string[]> {
  if (ids.length === 0 || ids.length > MAX_PAGE_SIZE) {
    throw invalidRequest('notice_ids', `must be between 1 and ${MAX_PAGE_SIZE}`);
  }
  return notices.remove(ids);
}

/** Unexpired requests, oldest first. */
export async function pendingEmails(
  { emailChanges, now }: Pick<Changes, 'emailChanges' | 'now'>,
  id: AccountId,
): Promise<EmailChange[]> {
  return (await emailChanges.ofAccount(id)).filter((change) => !isOver(change, { now }));
}

export interface EmailChangeLinkCreation {
  /** The user for whom a client asked, or the account for which the platform did. */
  wish: { userId: string } | { accountId: string } | undefined;
  lifetimeSeconds: number | undefined;
}

interface EmailChangeLink extends NewLink {
  email: string;
  presentEmail: string;
}

/** The request expires with the link that is made for it. */
export async function createEmailChangeLink(
  changes: Pick<Changes, 'accounts' | 'audit' | 'emailChanges' | 'lock' | 'now' | 'users'>,
  actor: Actor,
  creation: EmailChangeLinkCreation,
): Promise<EmailChangeLink> {
  const { wish, lifetimeSeconds } = validated(creation);
  const { accountId, asker } = await askerOf(changes, wish);
  const account = await lockEnabledAccount(changes, accountId);
  const change = await changes.emailChanges.find(account.id, asker);
  if (!change || isOver(change, changes)) {
    throw refused('No new address waits for its proof. Ask for one with UpdateUser or UpdateAccount first.');
  }
  const token = newSecret();
  const expiresAt = changes.now + lifetimeSeconds * 1_000;
  await changes.emailChanges.put({ ...change, linkHash: storedHash(token), expiresAt });
  const subject = { type: 'account', id: account.id };
  await changes.audit(actor, { type: 'link.created', subject, attributes: { purpose: 'change_email' } });
  return { token, expiresAt, email: change.email, presentEmail: account.email };
}

/** Locks the clients of the account's users. The account is locked, so no user can be added. */
async function lockUsersOf(changes: Pick<Changes, 'lock' | 'users'>, id: AccountId): Promise<void> {
  const clientIds = (await changes.users.ofAccount(id)).map(({ clientId }) => clientId);
  await changes.lock(...[...new Set(clientIds)].sort());
}

async function refuseTaken(changes: Pick<Changes, 'accounts'>, id: AccountId, email: string): Promise<void> {
  const holder = await changes.accounts.findByEmail(emailKeyOf(email));
  if (holder && holder.id !== id) {
    throw emailTaken();
  }
}

/** Without a password there was no sign-in; and no other client depends on whose account it is. */
async function isUnclaimed(
  changes: Pick<Changes, 'accounts' | 'passwords'>,
  id: AccountId,
  asker: Asker,
): Promise<boolean> {
  if (await changes.passwords.find(id)) {
    return false;
  }
  const clientIds = await changes.accounts.clientsOf(id);
  return asker === PLATFORM ? clientIds.length <= 1 : clientIds.every((clientId) => clientId === asker);
}

function isOver({ expiresAt }: EmailChange, { now }: { now: number }): boolean {
  return expiresAt <= now;
}

async function askerOf(
  changes: Pick<Changes, 'accounts' | 'users'>,
  wish: NonNullable<EmailChangeLinkCreation['wish']>,
): Promise<{ accountId: AccountId; asker: Asker }> {
  if ('userId' in wish) {
    const { accountId, clientId } = await getUser(changes, wish.userId);
    return { accountId, asker: clientId };
  }
  return { accountId: (await getAccount(changes, wish.accountId)).id, asker: PLATFORM };
}

function validated({ wish, lifetimeSeconds = DEFAULT_SECONDS }: EmailChangeLinkCreation) {
  const violations = new Violations();
  if (!wish) {
    violations.add('wish', 'must be user_id or account_id');
  }
  validateLinkLifetime(violations, lifetimeSeconds);
  violations.throwIfAny();
  return { wish: wish as NonNullable<typeof wish>, lifetimeSeconds };
}
