import type { AccountId, ApplicationId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { actorIn, type Browser, userAgentOf } from './browser.js';
import { networkOf } from './network-address.js';
import type { SignOn } from './sign-on.js';
import type { SignOnChanges } from './unit-of-work.js';

const WINDOW_MS = 15 * 60_000;
const PER_ACCOUNT = 10;
const PER_ADDRESS = 100;
/** For so long, strangers who guess do not get in the way of who signs in from here. */
const KNOWN_ADDRESS_MS = 180 * 86_400_000;

/** A try to sign in, before anybody knows whether it is right. */
export interface Guess {
  emailKey: string;
  /** Undefined for an address that nobody has; it is counted like any other. */
  accountId: AccountId | undefined;
  /** Undefined where no application asks: the person wants something of the service itself. */
  applicationId: ApplicationId | undefined;
}

/** A try that was counted, at whom and from where, and when the windows end in which it was. */
export interface CountedGuess {
  address: Counted;
  account: Counted;
}

interface Counted {
  subject: string;
  endsAt: number;
}

/** Stands for the account where there is none, so that as much is asked of the store. */
export const NOBODY: AccountId = 'acc_';

/**
 * Counts a try before it is made, so that many at once cannot pass a limit together. Throws RATE_LIMITED beyond one; an address that is over its limit no longer counts
 * against the people whose passwords it guesses. Whoever touches both counts begins with that of the address, so that no two wait for each other.
 */
export async function countGuess(signOn: SignOn, browser: Browser, guess: Guess): Promise<CountedGuess> {
  const { address, account } = await signOn.unitOfWork.run(async (changes) => {
    const subjects = await subjectsOf(signOn, changes, browser, guess);
    const fromHere = await countAt(changes, browser, guess, subjects.address, PER_ADDRESS);
    return {
      address: fromHere,
      account: fromHere.isOver
        ? fromHere
        : await countAt(changes, browser, guess, subjects.account, PER_ACCOUNT),
    };
  });
  if (account.isOver) {
    const retryAfterSeconds = Math.max(1, Math.ceil((account.endsAt - signOn.clock()) / 1_000));
    const message = 'There were too many attempts to sign in. Wait a little before you try again.';
    throw new ServiceError(ErrorCode.RATE_LIMITED, message, { retryAfterSeconds });
  }
  return { address, account };
}

/** The right password was given: what went before was the person's own mistake, and they are known here from now on. */
export async function forgiveGuess(
  signOn: SignOn,
  changes: SignOnChanges,
  browser: Browser,
  accountId: AccountId,
  { address, account }: CountedGuess,
): Promise<void> {
  // A whole office signs in from one address.
  await changes.attempts.giveBack(address.subject, address.endsAt);
  await changes.attempts.forget(account.subject);
  await rememberAddress(signOn, changes, browser, accountId);
}

/** The person has shown in another way that they are who they say. */
export async function forgiveGuessesAt(
  signOn: SignOn,
  changes: SignOnChanges,
  browser: Browser,
  person: { emailKey: string; accountId: AccountId },
): Promise<void> {
  const { account } = await subjectsOf(signOn, changes, browser, person);
  await changes.attempts.forget(account);
  await rememberAddress(signOn, changes, browser, person.accountId);
}

/** The password was not looked at: too many others waited. */
export async function takeBackGuess(signOn: SignOn, { address, account }: CountedGuess): Promise<void> {
  await signOn.unitOfWork.run(async ({ attempts }) => {
    await attempts.giveBack(address.subject, address.endsAt);
    await attempts.giveBack(account.subject, account.endsAt);
  });
}

/** The first one beyond the limit is told to the audit log, not all the others. */
async function countAt(
  changes: SignOnChanges,
  browser: Browser,
  { accountId, applicationId }: Guess,
  subject: string,
  limit: number,
): Promise<Counted & { isOver: boolean }> {
  const { count, endsAt } = await changes.attempts.count(subject, changes.now, WINDOW_MS);
  if (count === limit + 1) {
    const person = { type: 'account', id: accountId ?? NOBODY };
    const asking = applicationId === undefined ? person : { type: 'application', id: applicationId };
    await changes.audit(actorIn(browser, asking), {
      type: 'sign_in',
      outcome: 'refused',
      subject: accountId === undefined ? asking : person,
      attributes: { reason: 'too_many_attempts', ...userAgentOf(browser) },
    });
  }
  return { subject, endsAt, isOver: count > limit };
}

async function rememberAddress(
  signOn: SignOn,
  { attempts, now }: SignOnChanges,
  browser: Browser,
  accountId: AccountId,
): Promise<void> {
  await attempts.rememberAddress(accountId, addressHashOf(signOn, browser), now + KNOWN_ADDRESS_MS);
}

async function subjectsOf(
  signOn: SignOn,
  { attempts, now }: SignOnChanges,
  browser: Browser,
  { emailKey, accountId = NOBODY }: Pick<Guess, 'emailKey' | 'accountId'>,
): Promise<{ address: string; account: string }> {
  const addressHash = addressHashOf(signOn, browser);
  const isKnown = await attempts.isKnownAddress(accountId, addressHash, now);
  return {
    address: keyed(signOn, 'guesses from', addressHash),
    account: keyed(signOn, 'guesses at', emailKey, isKnown ? addressHash : ''),
  };
}

function addressHashOf(signOn: SignOn, { remoteAddress }: Browser): string {
  return keyed(signOn, 'address', networkOf(remoteAddress));
}

/** With a key that is not in the database: people also type their passwords where the address belongs. */
function keyed({ throttleHash }: SignOn, ...parts: string[]): string {
  return throttleHash(JSON.stringify(parts)).toString('base64url');
}
