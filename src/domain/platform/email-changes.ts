import type { AccountId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { newSecret, storedHash } from '../../identifiers/random-secrets.js';
import { newRecordId } from '../../identifiers/record-id.js';
import { type Asker, type EmailChange, PLATFORM } from '../credentials/email-changes.js';
import { LINK_PURPOSES } from '../credentials/links.js';
import { DAY_SECONDS, LONGEST_LINK_SECONDS } from '../credentials/new-link.js';
import type { Actor } from '../operator/audit.js';
import { newVersion } from '../version.js';
import { type Account, emailKeyOf, emailTaken, getAccount } from './accounts.js';
import { MAX_PAGE_SIZE } from './listing.js';
import type { Changes } from './unit-of-work.js';
import { writeUsers } from './user-changes.js';
import { getUser } from './users.js';
import { Violations } from './violations.js';

const DEFAULT_SECONDS = 7 * DAY_SECONDS;

/**
 * Asks for an address of a locked account. It takes effect at once only for an account that has no password, so that nobody ever signed in with it, and that never
 * belonged to another client; otherwise it waits for its proof, and until then nothing else changes. The present address takes the wish back. Answers whether it took effect.
 * With a token of one instance it always waits, also for an address that another account has: the answer must not tell who is known elsewhere.
 */
export async function askForEmail(
  changes: Changes,
  account: Account,
  asker: Asker,
  email: string,
): Promise<boolean> {
  if (email === account.email) {
    await changes.emailChanges.end(account.id, asker);
    return false;
  }
  if (changes.instanceId === undefined) {
    await refuseTaken(changes, account.id, email);
    if (await isUnclaimed(changes, account.id, asker)) {
      await takeEmail(changes, account.id, email, null);
      return true;
    }
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
 * Gives a locked account its new address and tells of each user the person is. Links and wishes that went out from the one before end for good: a later change back
 * must not bring them to life again.
 */
export async function takeEmail(
  changes: Changes,
  id: AccountId,
  email: string,
  verifiedAt: number | null,
): Promise<void> {
  await lockUsersOf(changes, id);
  await refuseTaken(changes, id, email);
  const present = await getAccount(changes, id);
  await changes.emailChanges.end(id);
  if (emailKeyOf(email) !== emailKeyOf(present.email)) {
    await changes.links.endOfAccount(id, LINK_PURPOSES, changes.now);
  }
  const fields = { email, emailVerifiedAt: verifiedAt, version: newVersion(), updatedAt: changes.now };
  await changes.accounts.update({ ...present, ...fields });
  await writeUsers(changes, await changes.users.ofAccount(id));
}

/** For the address before, which the platform mails when it next asks what is to be told. */
export async function tellOfNewEmail(changes: Changes, { id, email }: Account): Promise<void> {
  await changes.notices.insert({
    id: newRecordId('ntc'),
    kind: 'email_changed',
    accountId: id,
    email,
    createdAt: changes.now,
  });
}

/** They were mailed, and are listed no longer. */
export async function acknowledgeNotices(
  { notices }: Pick<Changes, 'notices'>,
  ids: string[],
): Promise<void> {
  const violations = new Violations();
  if (ids.length === 0 || ids.length > MAX_PAGE_SIZE) {
    violations.add('notice_ids', `must be between 1 and ${MAX_PAGE_SIZE}`);
  }
  violations.throwIfAny();
  await notices.remove(ids);
}

/** What waits and is not over, oldest first. */
export async function pendingEmails(
  { emailChanges, now }: Pick<Changes, 'emailChanges' | 'now'>,
  id: AccountId,
): Promise<EmailChange[]> {
  return (await emailChanges.ofAccount(id)).filter((change) => !isOver(change, { now }));
}

export interface EmailChangeLinkCreation {
  /** The user whose client asked, or the account for which the platform did. */
  wish: { userId: string } | { accountId: string } | undefined;
  lifetimeSeconds: number | undefined;
}

export interface EmailChangeLink {
  /** For the new address; only its hash is kept. */
  token: string;
  expiresAt: number;
  email: string;
  presentEmail: string;
}

/** The wish lives as long as the link that is made of it. */
export async function createEmailChangeLink(
  changes: Changes,
  actor: Actor,
  creation: EmailChangeLinkCreation,
): Promise<EmailChangeLink> {
  const { wish, lifetimeSeconds } = validated(creation);
  const { accountId, asker } = await askerOf(changes, wish);
  await changes.lock(accountId);
  const account = await getAccount(changes, accountId);
  if (account.disabledAt !== null) {
    throw new ServiceError(ErrorCode.TRANSITION_REFUSED, 'The account is disabled. Enable it first.');
  }
  const change = await changes.emailChanges.find(account.id, asker);
  if (!change || isOver(change, changes)) {
    const message = 'No new address waits for its proof. Ask for one with UpdateUser or UpdateAccount first.';
    throw new ServiceError(ErrorCode.TRANSITION_REFUSED, message);
  }
  const token = newSecret();
  const expiresAt = changes.now + lifetimeSeconds * 1_000;
  await changes.emailChanges.put({ ...change, linkHash: storedHash(token), expiresAt });
  const subject = { type: 'account', id: account.id };
  await changes.audit(actor, { type: 'link.created', subject, attributes: { purpose: 'change_email' } });
  return { token, expiresAt, email: change.email, presentEmail: account.email };
}

/** The clients of the account's users, so that nothing else writes these in the meantime. The account is locked, so that no user of it can be added. */
async function lockUsersOf(changes: Changes, id: AccountId): Promise<void> {
  const clientIds = (await changes.users.ofAccount(id)).map(({ clientId }) => clientId);
  await changes.lock(...[...new Set(clientIds)].sort());
}

async function refuseTaken(changes: Changes, id: AccountId, email: string): Promise<void> {
  const holder = await changes.accounts.findByEmail(emailKeyOf(email));
  if (holder && holder.id !== id) {
    throw emailTaken();
  }
}

/** Without a password nobody has signed in; and nobody but the asker has ever counted on whose account it is. */
async function isUnclaimed(changes: Changes, id: AccountId, asker: Asker): Promise<boolean> {
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
  changes: Changes,
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
  if (!(lifetimeSeconds >= 1 && lifetimeSeconds <= LONGEST_LINK_SECONDS)) {
    violations.add('lifetime_seconds', `must be between 1 and ${LONGEST_LINK_SECONDS}`);
  }
  violations.throwIfAny();
  return { wish: wish as NonNullable<typeof wish>, lifetimeSeconds };
}
