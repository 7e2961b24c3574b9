import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { newRecordId } from '../../../identifiers/record-id.js';
import { endAccess } from '../../credentials/access.js';
import { type EmailChange, PLATFORM } from '../../credentials/email-changes.js';
import { type EmailPorts, takeEmail } from '../../platform/people/email-changes.js';
import { emailKeyOf } from '../../platform/people/email-keys.js';
import type { Account } from '../../platform/rows/people.js';
import {
  auditIn,
  type Browser,
  type BrowserStep,
  type ErrorPage,
  toErrorPage,
  toPage,
} from '../sessions/browser.js';
import {
  type CountedGuess,
  countGuess,
  forgiveGuess,
  unlessItFails,
  verifyGuess,
} from '../sessions/guess-limits.js';
import { recordRefusal } from '../sessions/refusals.js';
import type { RowsAt, SignOn, SignOnChanges } from '../sign-on.js';
import { LINK_IS_OVER } from './links.js';

type Ports = EmailPorts & Pick<SignOnChanges, 'attempts' | 'audit' | 'grants' | 'notices' | 'sessions'>;

const EMAIL_IS_TAKEN: ErrorPage = {
  kind: 'link',
  message:
    'Another account has this email address, so yours stays as it is. Ask the sender of the link for help.',
};

/** What the page of a good link shows: not the present address, as the mailbox may be another person's. */
export async function showEmailChange(
  signOn: SignOn,
  tokenHash: string,
): Promise<{ email: string; clientName: string | undefined } | undefined> {
  const { rows } = signOn.unitOfWork;
  const good = await goodChange({ ...rows, now: signOn.clock() }, tokenHash);
  if (!good) {
    return undefined;
  }
  const { asker, email } = good.change;
  const client = asker === PLATFORM ? undefined : await rows.clients.find(asker);
  return { email, clientName: client?.name };
}

/**
 * Takes the new address. The link proves control of the mailbox, the password identifies the person. The
 * reader of the mailbox could forward the link to the person, so a client may request an address only for
 * people who have signed in as its users.
 */
export async function redeemEmailChange(
  signOn: SignOn,
  browser: Browser,
  { tokenHash, password }: { tokenHash: string; password: string },
): Promise<BrowserStep> {
  const { rows } = signOn.unitOfWork;
  const good = await goodChange({ ...rows, now: signOn.clock() }, tokenHash);
  if (!good) {
    return toErrorPage(LINK_IS_OVER);
  }
  // Without a password it looks like a wrong one and takes as long: the mailbox may be that of the asker.
  const found = await rows.passwords.find(good.account.id);
  const counted = await countGuess(signOn, browser, {
    emailKey: emailKeyOf(good.account.email),
    accountId: good.account.id,
    passwordSetAt: found?.setAt ?? 0,
    applicationId: undefined,
  });
  const hash = found?.hash;
  const isRight = await verifyGuess(signOn, browser, counted, { hash, password });
  return isRight && hash !== undefined
    ? accept(signOn, browser, { tokenHash, hash, counted })
    : refuse(signOn, browser, good.account);
}

async function accept(
  signOn: SignOn,
  browser: Browser,
  proof: { tokenHash: string; hash: string; counted: CountedGuess },
): Promise<BrowserStep> {
  try {
    return await unlessItFails(signOn, proof.counted, () =>
      signOn.unitOfWork.run((changes) => take(changes, browser, proof)),
    );
  } catch (error) {
    if (error instanceof ServiceError && error.code === ErrorCode.ALREADY_EXISTS) {
      return toErrorPage(EMAIL_IS_TAKEN);
    }
    throw error;
  }
}

/** Checks again under the lock: the password took a while. Of concurrent uses, one takes the change. */
async function take(
  changes: Ports,
  browser: Browser,
  { tokenHash, hash, counted }: { tokenHash: string; hash: string; counted: CountedGuess },
): Promise<BrowserStep> {
  const wish = await changes.emailChanges.findByLink(tokenHash);
  if (!wish) {
    return toErrorPage(LINK_IS_OVER);
  }
  await changes.lock(wish.accountId);
  const good = await goodChange(changes, tokenHash);
  const password = await changes.passwords.find(wish.accountId);
  const isProved = password?.hash === hash;
  if (!good || !isProved || !(await changes.emailChanges.take(tokenHash, changes.now))) {
    return toErrorPage(LINK_IS_OVER);
  }
  const { account, change } = good;
  await takeEmail(changes, account.id, change.email, { isProved: true });
  const { id: accountId, email } = account;
  await endAccess(changes, accountId);
  // The platform mails it to the previous address.
  const notice = { id: newRecordId('ntc'), kind: 'email_changed', accountId, email } as const;
  await changes.notices.insert({ ...notice, createdAt: changes.now });
  const person = { type: 'account', id: accountId };
  await auditIn(changes, browser, person, {
    type: 'email.changed',
    attributes: { asked_by: change.asker },
  });
  await forgiveGuess(changes, counted);
  return toPage('email_changed');
}

async function refuse(signOn: SignOn, browser: Browser, { id }: Account): Promise<BrowserStep> {
  const party = { type: 'account', id };
  await recordRefusal(signOn, browser, { type: 'email.changed', party, reason: 'credentials' });
  return { kind: 'page', page: 'change_email', interaction: '', problem: 'wrong' };
}

/** A pending change with a valid link, of a person who may sign in. */
async function goodChange(
  { emailChanges, accounts, now }: RowsAt<'accounts' | 'emailChanges'>,
  tokenHash: string,
): Promise<{ change: EmailChange; account: Account } | undefined> {
  const change = await emailChanges.findByLink(tokenHash);
  if (!change || change.expiresAt <= now) {
    return undefined;
  }
  const account = await accounts.find(change.accountId);
  return account?.disabledAt === null ? { change, account } : undefined;
}
