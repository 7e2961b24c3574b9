import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { endAccess } from '../credentials/end-access.js';
import type { LinkPurpose } from '../credentials/links.js';
import { LONGEST_LINK_SECONDS, makeLink, type NewLink } from '../credentials/new-link.js';
import { faultOf } from '../credentials/password-rules.js';
import type { PasswordFault } from '../credentials/passwords.js';
import type { Actor } from '../operator/audit.js';
import { type Account, getAccount } from './accounts.js';
import type { Changes, PlatformRows } from './unit-of-work.js';
import { Violations } from './violations.js';

const PASSWORD_FAULTS: Record<PasswordFault, string> = {
  too_short: 'must have at least 15 characters',
  too_long: 'must not have more than 256 characters',
  too_common: 'must not be one of those that are guessed first, nor hardly more than one',
  too_personal: 'must not be made of names around the person, such as theirs or their company’s',
};

/** Before the password is hashed, which takes long and no transaction. */
export async function assertPasswordAcceptable(
  rows: Pick<PlatformRows, 'accounts'>,
  accountId: string,
  password: string,
): Promise<void> {
  await getAccount(rows, accountId);
  const fault = faultOf(password, await rows.accounts.namesAround(accountId));
  const violations = new Violations();
  if (fault) {
    violations.add('password', PASSWORD_FAULTS[fault]);
  }
  violations.throwIfAny();
}

/** Also of a disabled account, which it lets in nowhere. Links that would set another password end with what the old one gave. */
export async function setPassword(
  changes: Changes,
  actor: Actor,
  { accountId, passwordHash }: { accountId: string; passwordHash: string },
): Promise<Account> {
  const { id } = await getAccount(changes, accountId);
  await changes.lock(id);
  await changes.passwords.set(id, passwordHash, changes.now);
  await changes.links.endOfAccount(id, ['invitation', 'reset'], changes.now);
  await endAccess(changes, id);
  await changes.audit(actor, { type: 'password.set', subject: { type: 'account', id } });
  return getAccount(changes, id);
}

export interface LinkCreation {
  accountId: string;
  /** Undefined where the request names none that there is. */
  purpose: LinkPurpose | undefined;
  lifetimeSeconds: number | undefined;
}

/** A disabled person gets none: it would lead nowhere, or into the day the account is enabled again. */
export async function createLink(
  changes: Changes,
  actor: Actor,
  creation: LinkCreation,
): Promise<NewLink & { email: string }> {
  const { purpose, lifetimeSeconds } = validated(creation);
  const { id } = await getAccount(changes, creation.accountId);
  await changes.lock(id);
  const account = await getAccount(changes, id);
  if (account.disabledAt !== null) {
    throw new ServiceError(ErrorCode.TRANSITION_REFUSED, 'The account is disabled. Enable it first.');
  }
  await assertProved(changes, account, purpose);
  const link = await makeLink(changes, account, { purpose, lifetimeSeconds });
  const subject = { type: 'account', id };
  await changes.audit(actor, { type: 'link.created', subject, attributes: { purpose } });
  return { ...link, email: account.email };
}

/** A link that replaces a password goes to no address that somebody has typed and nobody has proved. */
async function assertProved(
  { passwords }: Changes,
  { id, emailVerifiedAt }: Account,
  purpose: LinkPurpose,
): Promise<void> {
  if (emailVerifiedAt !== null || purpose === 'verify_email') {
    return;
  }
  if (purpose === 'reset' || (await passwords.find(id))) {
    const message =
      'The address of the account is not verified. Mail a link of CreateEmailVerificationLink first, or an invitation to a person who has no password.';
    throw new ServiceError(ErrorCode.TRANSITION_REFUSED, message);
  }
}

function validated({ purpose, lifetimeSeconds }: LinkCreation): {
  purpose: LinkPurpose;
  lifetimeSeconds: number | undefined;
} {
  const violations = new Violations();
  if (purpose === undefined) {
    violations.add('purpose', 'must be INVITATION or RESET');
  }
  if (lifetimeSeconds !== undefined && !(lifetimeSeconds >= 1 && lifetimeSeconds <= LONGEST_LINK_SECONDS)) {
    violations.add('lifetime_seconds', `must be between 1 and ${LONGEST_LINK_SECONDS}`);
  }
  violations.throwIfAny();
  return { purpose: purpose as LinkPurpose, lifetimeSeconds };
}
