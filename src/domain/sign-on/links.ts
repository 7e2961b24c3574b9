import type { AccountLink, LinkPurpose } from '../credentials/links.js';
import { faultOf } from '../credentials/password-rules.js';
import { setPassword } from '../platform/account-credentials.js';
import { type Account, emailKeyOf } from '../platform/accounts.js';
import { newVersion } from '../version.js';
import {
  actorIn,
  type Browser,
  type BrowserStep,
  type ErrorPage,
  toErrorPage,
  toPage,
  userAgentOf,
} from './browser.js';
import { deviceCookieOf } from './devices.js';
import { forgiveGuessesAt } from './guess-limits.js';
import type { SignOn } from './sign-on.js';
import type { SignOnChanges, SignOnUnitOfWork } from './unit-of-work.js';

/** What a page of a mailed link shows; looking at it uses nothing up, because mail scanners look too. */
export type LinkPage =
  | { kind: 'page'; email: string; purpose: LinkPurpose }
  | { kind: 'error_page'; errorPage: ErrorPage };

const PASSWORD_PURPOSES: readonly LinkPurpose[] = ['invitation', 'reset'];
const EMAIL_PURPOSES: readonly LinkPurpose[] = ['verify_email'];

export function showPasswordLink(signOn: SignOn, tokenHash: string): Promise<LinkPage> {
  return show(signOn, tokenHash, PASSWORD_PURPOSES);
}

export function showEmailLink(signOn: SignOn, tokenHash: string): Promise<LinkPage> {
  return show(signOn, tokenHash, EMAIL_PURPOSES);
}

/**
 * Sets the password and uses the link up; whoever held a session or a token of the person holds nothing from here on. The link was read at the address of the account,
 * which is thereby verified too.
 */
export async function redeemPasswordLink(
  signOn: SignOn,
  browser: Browser,
  { tokenHash, password }: { tokenHash: string; password: string },
): Promise<BrowserStep> {
  const { unitOfWork, clock, passwords } = signOn;
  const shown = await goodLink({ ...unitOfWork.rows, now: clock() }, tokenHash, PASSWORD_PURPOSES);
  if (!shown) {
    return toErrorPage(LINK_IS_OVER);
  }
  const problem = faultOf(password, await unitOfWork.rows.accounts.namesAround(shown.account.id));
  if (problem) {
    return { kind: 'page', page: 'set_password', interaction: '', problem };
  }
  const passwordHash = await passwords.hash(password);
  return unitOfWork.run(async (changes) => {
    const account = await useLink(changes, tokenHash, PASSWORD_PURPOSES);
    if (!account) {
      return toErrorPage(LINK_IS_OVER);
    }
    const actor = actorIn(browser, { type: 'account', id: account.id });
    await setPassword(changes, actor, { accountId: account.id, passwordHash });
    await verifyEmail(changes, browser, account);
    // Guesses of strangers must not keep out who has just shown that the mailbox is theirs.
    const person = { accountId: account.id, passwordSetAt: changes.now };
    const known = { ...browser, device: deviceCookieOf(signOn, browser, person) };
    await forgiveGuessesAt(signOn, changes, known, { ...person, emailKey: emailKeyOf(account.email) });
    return { ...toPage('password_set'), device: known.device };
  });
}

export function redeemEmailLink(
  { unitOfWork }: SignOn,
  browser: Browser,
  tokenHash: string,
): Promise<BrowserStep> {
  return unitOfWork.run(async (changes) => {
    const account = await useLink(changes, tokenHash, EMAIL_PURPOSES);
    if (!account) {
      return toErrorPage(LINK_IS_OVER);
    }
    await verifyEmail(changes, browser, account);
    return toPage('email_verified');
  });
}

export const LINK_IS_OVER: ErrorPage = {
  kind: 'link',
  message: 'This link was used already or is good no longer. Ask whoever sent it for a new one.',
};

async function show(
  { unitOfWork: { rows }, clock }: SignOn,
  tokenHash: string,
  purposes: readonly LinkPurpose[],
): Promise<LinkPage> {
  const good = await goodLink({ ...rows, now: clock() }, tokenHash, purposes);
  return good
    ? { kind: 'page', email: good.account.email, purpose: good.link.purpose }
    : { kind: 'error_page', errorPage: LINK_IS_OVER };
}

type Rows = Pick<SignOnUnitOfWork['rows'], 'links' | 'accounts'> & { now: number };

/** A link that is good still, of a person who may come in, at the address it was mailed to. */
async function goodLink(
  { links, accounts, now }: Rows,
  tokenHash: string,
  purposes: readonly LinkPurpose[],
): Promise<{ link: AccountLink; account: Account } | undefined> {
  const link = await links.find(tokenHash);
  if (!link || link.endedAt !== null || link.expiresAt <= now || !purposes.includes(link.purpose)) {
    return undefined;
  }
  const account = await accounts.find(link.accountId);
  const isGood = account?.disabledAt === null && emailKeyOf(account.email) === link.emailKey;
  return isGood ? { link, account } : undefined;
}

/** The person, locked, if it is this use that used the link up. */
async function useLink(
  changes: SignOnChanges,
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

async function verifyEmail(changes: SignOnChanges, browser: Browser, account: Account): Promise<void> {
  if (account.emailVerifiedAt !== null) {
    return;
  }
  await changes.accounts.update({
    ...account,
    emailVerifiedAt: changes.now,
    version: newVersion(),
    updatedAt: changes.now,
  });
  const person = { type: 'account', id: account.id };
  await changes.audit(actorIn(browser, person), {
    type: 'email.verified',
    subject: person,
    attributes: userAgentOf(browser),
  });
}
