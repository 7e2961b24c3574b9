import { networkOf } from '../../../identifiers/network-address.js';
import type { AccountLink, LinkPurpose } from '../../credentials/links.js';
import { faultOf } from '../../credentials/passwords.js';
import { STRANGER } from '../../operator/audit.js';
import { setPassword } from '../../platform/people/account-credentials.js';
import { writeAccount } from '../../platform/people/accounts.js';
import { emailKeyOf } from '../../platform/people/email-keys.js';
import type { Account } from '../../platform/rows/people.js';
import {
  actorIn,
  auditIn,
  type Browser,
  type BrowserStep,
  type ErrorPage,
  toErrorPage,
  toPage,
} from '../sessions/browser.js';
import { deviceCookieOf } from '../sessions/devices.js';
import { forgiveGuessesAt, takeGuess } from '../sessions/guess-limits.js';
import type { RowsAt, SignOn, SignOnChanges } from '../sign-on.js';
import { MAX_ENTRANCES } from './entrances.js';

/** The content of a good link's page. Reading it consumes nothing, because mail scanners read it too. */
type LinkPage = Pick<AccountLink, 'purpose'> & Pick<Account, 'email'>;

const PASSWORD_PURPOSES: readonly LinkPurpose[] = ['invitation', 'reset'];
const EMAIL_PURPOSES: readonly LinkPurpose[] = ['verify_email'];

export function showPasswordLink(signOn: SignOn, tokenHash: string): Promise<LinkPage | undefined> {
  return show(signOn, tokenHash, PASSWORD_PURPOSES);
}

export function showEmailLink(signOn: SignOn, tokenHash: string): Promise<LinkPage | undefined> {
  return show(signOn, tokenHash, EMAIL_PURPOSES);
}

/** Sets the password, consumes the link, verifies the address, and ends sessions and tokens of the person. */
export async function redeemPasswordLink(
  signOn: SignOn,
  browser: Browser,
  { tokenHash, password }: { tokenHash: string; password: string },
): Promise<BrowserStep> {
  const { unitOfWork, clock, passwords } = signOn;
  const shown = await goodLink({ ...unitOfWork.rows, now: clock() }, tokenHash, PASSWORD_PURPOSES);
  if (!shown) {
    return refusePasswordLink(signOn, browser, tokenHash);
  }
  // The link is spent only after the check and the hash, so each form until then causes both.
  await takeGuess(signOn, `links of ${shown.account.id}`, 'This link was used too often.');
  const problem = faultOf(password, await unitOfWork.rows.accounts.namesAround(shown.account.id));
  if (problem) {
    return { kind: 'page', page: 'set_password', interaction: '', problem };
  }
  const passwordHash = await passwords.hash(password, networkOf(browser.remoteAddress));
  const step = await unitOfWork.run(async (changes): Promise<BrowserStep | undefined> => {
    const account = await useLink(changes, tokenHash, PASSWORD_PURPOSES);
    if (!account) {
      return undefined;
    }
    const actor = actorIn(browser, { type: 'account', id: account.id });
    await setPassword(changes, actor, { accountId: account.id, passwordHash });
    await verifyEmail(changes, browser, account);
    // Guesses of others must not delay the owner of the mailbox.
    const person = { accountId: account.id, passwordSetAt: changes.now };
    const known = { ...browser, device: deviceCookieOf(signOn, browser, person) };
    await forgiveGuessesAt(signOn, changes, known, { ...person, emailKey: emailKeyOf(account.email) });
    const entrances = await changes.applications.entrancesOf(account.id, MAX_ENTRANCES);
    return { kind: 'page', page: 'password_set', interaction: '', device: known.device, entrances };
  });
  return step ?? refusePasswordLink(signOn, browser, tokenHash);
}

/** Counts the use of a link that is over: a stranger may read the mail that had it. */
async function refusePasswordLink(
  { unitOfWork, clock, observe }: SignOn,
  browser: Browser,
  tokenHash: string,
): Promise<BrowserStep> {
  const link = await unitOfWork.rows.links.find(tokenHash);
  if (link && PASSWORD_PURPOSES.includes(link.purpose)) {
    const isExpired = link.endedAt === null && link.expiresAt <= clock();
    observe({
      type: 'link.refused',
      outcome: 'refused',
      actor: actorIn(browser, STRANGER),
      subject: { type: 'account', id: link.accountId },
      attributes: { purpose: link.purpose, reason: isExpired ? 'expired' : 'ended' },
    });
  }
  return toErrorPage(LINK_IS_OVER);
}

export async function redeemEmailLink(
  { unitOfWork, clock }: SignOn,
  browser: Browser,
  tokenHash: string,
): Promise<BrowserStep> {
  // A form without such a link, which anyone can send, or with a used one, opens no write.
  const known = await knownLink({ ...unitOfWork.rows, now: clock() }, tokenHash, EMAIL_PURPOSES);
  if (known?.link.endedAt !== null) {
    return afterUse(known);
  }
  return unitOfWork.run(async (changes) => {
    const account = await useLink(changes, tokenHash, EMAIL_PURPOSES);
    if (account) {
      await verifyEmail(changes, browser, account);
      return toPage('email_verified');
    }
    return afterUse(await knownLink(changes, tokenHash, EMAIL_PURPOSES));
  });
}

/** A form that was sent twice, or again after a lost answer, has nothing left to do. */
function afterUse(earlier: KnownLink | undefined): BrowserStep {
  return earlier?.account.emailVerifiedAt ? toPage('email_verified') : toErrorPage(LINK_IS_OVER);
}

export const LINK_IS_OVER: ErrorPage = {
  kind: 'link',
  message:
    'This link was used already, has expired, or is not complete. If you have used it, it has done its work: go to your application and sign in. If the message broke it into lines, copy all of it. Otherwise ask its sender for a new one.',
};

async function show(
  { unitOfWork: { rows }, clock }: SignOn,
  tokenHash: string,
  purposes: readonly LinkPurpose[],
): Promise<LinkPage | undefined> {
  const good = await goodLink({ ...rows, now: clock() }, tokenHash, purposes);
  return good && { email: good.account.email, purpose: good.link.purpose };
}

interface KnownLink {
  link: AccountLink;
  account: Account;
}

/** A valid link of a person who may sign in, at the address it was mailed to. */
async function goodLink(
  rows: RowsAt<'accounts' | 'links'>,
  tokenHash: string,
  purposes: readonly LinkPurpose[],
): Promise<KnownLink | undefined> {
  const known = await knownLink(rows, tokenHash, purposes);
  return known?.link.endedAt === null ? known : undefined;
}

/** The same, also if it was used. */
async function knownLink(
  { links, accounts, now }: RowsAt<'accounts' | 'links'>,
  tokenHash: string,
  purposes: readonly LinkPurpose[],
): Promise<KnownLink | undefined> {
  const link = await links.find(tokenHash);
  if (!link || link.expiresAt <= now || !purposes.includes(link.purpose)) {
    return undefined;
  }
  const account = await accounts.find(link.accountId);
  const isGood = account?.disabledAt === null && emailKeyOf(account.email) === link.emailKey;
  return isGood ? { link, account } : undefined;
}

/** Consumes the link and returns its person, locked; undefined if another use was first. */
async function useLink(
  changes: Pick<SignOnChanges, 'accounts' | 'links' | 'lock' | 'now'>,
  tokenHash: string,
  purposes: readonly LinkPurpose[],
): Promise<Account | undefined> {
  const link = await changes.links.find(tokenHash);
  if (!link) {
    return undefined;
  }
  await changes.lock(link.accountId);
  const good = await goodLink(changes, tokenHash, purposes);
  return good && (await changes.links.use(tokenHash, changes.now)) ? good.account : undefined;
}

async function verifyEmail(
  changes: Pick<SignOnChanges, 'accounts' | 'audit' | 'now'>,
  browser: Browser,
  account: Account,
): Promise<void> {
  if (account.emailVerifiedAt !== null) {
    return;
  }
  await writeAccount(changes, account, { emailVerifiedAt: changes.now });
  await auditIn(changes, browser, { type: 'account', id: account.id }, { type: 'email.verified' });
}
