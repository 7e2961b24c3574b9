import { refused } from '../../../errors/service-error.js';
import { endAccess } from '../../credentials/access.js';
import { type LinkPurpose, makeLink, type NewLink, validateLinkLifetime } from '../../credentials/links.js';
import { faultOf, type PasswordFault } from '../../credentials/passwords.js';
import type { Actor } from '../../operator/audit.js';
import type { Account } from '../rows/people.js';
import type { Changes, PlatformRows } from '../unit-of-work.js';
import { invalidRequest, Violations } from '../violations.js';
import { assertNotErased, getAccount, lockEnabledAccount } from './accounts.js';

type Ports = Pick<
  Changes,
  'accounts' | 'audit' | 'grants' | 'links' | 'lock' | 'now' | 'passwords' | 'sessions'
>;

const PASSWORD_FAULTS: Record<PasswordFault, string> = {
  too_short: 'must have at least 15 characters',
  too_long: 'must not have more than 256 characters',
  too_common: 'must not be one of the most common passwords, nor close to one',
  too_personal: 'must not consist of names related to the person, such as theirs or their company’s',
};

/** Runs before the password is hashed, which takes long, and needs no transaction. */
export async function assertPasswordAcceptable(
  rows: Pick<PlatformRows, 'accounts'>,
  accountId: string,
  password: string,
): Promise<void> {
  await getAccount(rows, accountId);
  const fault = faultOf(password, await rows.accounts.namesAround(accountId));
  if (fault) {
    throw invalidRequest('password', PASSWORD_FAULTS[fault]);
  }
}

/** Also for disabled accounts. Ends links that would set another password, and all access of the old one. */
export async function setPassword(
  changes: Ports,
  actor: Actor,
  { accountId, passwordHash }: { accountId: string; passwordHash: string },
): Promise<Account> {
  const { id } = await getAccount(changes, accountId);
  await changes.lock(id);
  assertNotErased(await getAccount(changes, id));
  await changes.passwords.set(id, passwordHash, changes.now);
  await changes.links.endOfAccount(id, ['invitation', 'reset'], changes.now);
  await endAccess(changes, id);
  await changes.audit(actor, { type: 'password.set', subject: { type: 'account', id } });
  return getAccount(changes, id);
}

export interface LinkCreation {
  accountId: string;
  /** Undefined for an unknown purpose. */
  purpose: LinkPurpose | undefined;
  lifetimeSeconds: number | undefined;
}

export async function createLink(
  changes: Omit<Ports, 'grants' | 'sessions'>,
  actor: Actor,
  creation: LinkCreation,
): Promise<NewLink & { email: string }> {
  const { purpose, lifetimeSeconds } = validated(creation);
  const { id } = await getAccount(changes, creation.accountId);
  const account = await lockEnabledAccount(changes, id);
  await assertProved(changes, account, purpose);
  const link = await makeLink(changes, account, { purpose, lifetimeSeconds });
  const subject = { type: 'account', id };
  await changes.audit(actor, { type: 'link.created', subject, attributes: { purpose } });
  return { ...link, email: account.email };
}

/** A link that replaces a password goes only to a verified address, not to one that was merely typed. */
async function assertProved(
  { passwords }: Pick<Changes, 'passwords'>,
  { id, emailVerifiedAt }: Account,
  purpose: LinkPurpose,
): Promise<void> {
  if (emailVerifiedAt !== null || purpose === 'verify_email') {
    return;
  }
  if (purpose === 'reset' || (await passwords.find(id))) {
    const message =
      'The address of the account is not verified. Mail a link of CreateEmailVerificationLink first, or an invitation to a person who has no password.';
    throw refused(message);
  }
}

function validated({ purpose, lifetimeSeconds }: LinkCreation) {
  const violations = new Violations();
  if (purpose === undefined) {
    violations.add('purpose', 'must be INVITATION or RESET');
  }
  validateLinkLifetime(violations, lifetimeSeconds);
  violations.throwIfAny();
  return { purpose: purpose as LinkPurpose, lifetimeSeconds };
}
