import type { AccountId, ApplicationId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { networkOf, subnetOf } from '../../identifiers/network-address.js';
import type { Turn, TurnSpacing } from './attempts.js';
import { actorIn, type Browser, userAgentOf } from './browser.js';
import { type DevicePerson, deviceKnowing } from './devices.js';
import type { SignOn } from './sign-on.js';
import type { SignOnChanges } from './unit-of-work.js';

const WINDOW_MS = 15 * 60_000;
const PER_NETWORK = 100;

/**
 * Ten tries at an account are free; then each waits two seconds longer for its turn than the one before, half a minute at most. A try that comes too early is told when its
 * turn is, and that turn is kept for its network: others who guess meanwhile cannot take it. So an account is never closed, and takes no more than two guesses a minute.
 */
export const TURNS: TurnSpacing = {
  free: 10,
  stepMs: 2_000,
  maxSpacingMs: 30_000,
  maxWaitMs: WINDOW_MS,
  windowMs: WINDOW_MS,
};

/** A try to sign in, before anybody knows whether it is right. */
export interface Guess {
  emailKey: string;
  /** Undefined for an address that nobody has; it is counted like any other. */
  accountId: AccountId | undefined;
  passwordSetAt: number;
  /** Undefined where no application asks: the person wants something of the service itself. */
  applicationId: ApplicationId | undefined;
}

/** A try that was counted, at whom and from where. */
export interface CountedGuess {
  /** None for a browser that is known. */
  network: Counted | undefined;
  account: { subject: string };
  /** Whose turn was waited for and used, if one was. */
  usedTurnOf: string | undefined;
}

interface Counted {
  subject: string;
  endsAt: number;
}

/** Stands for the account where there is none, so that as much is asked of the store. */
export const NOBODY: AccountId = 'acc_';

/**
 * Counts a try before it is made, so that many at once cannot pass a limit together. Throws RATE_LIMITED for one that has to wait; a network that is over its limit no longer
 * counts against the people whose passwords it guesses. Counts are touched in one order, so that no two wait for each other.
 */
export async function countGuess(signOn: SignOn, browser: Browser, guess: Guess): Promise<CountedGuess> {
  const device = deviceOf(signOn, browser, guess);
  const who = device ?? networkOf(browser.remoteAddress);
  // In memory: counting in the database is a write to a row that others wait for.
  const { allowed, resetSeconds } = signOn.guesses.take(who);
  if (!allowed) {
    throw tooMany(resetSeconds);
  }
  const { counted, waitUntil } = await signOn.unitOfWork.run(async (changes) => {
    const network = device === undefined ? await countNetwork(signOn, changes, browser, guess) : undefined;
    if (network?.isOver) {
      return { counted: { network, account: network, usedTurnOf: undefined }, waitUntil: network.endsAt };
    }
    const subject = keyed(signOn, 'guesses at', guess.emailKey, device ?? '');
    const turn = await turnAt(signOn, changes, { subject, who });
    if (turn.count === TURNS.free + 1) {
      await tellLimit(changes, browser, guess);
    }
    const { at, usedTurnOf } = turn;
    return { counted: { network, account: { subject }, usedTurnOf }, waitUntil: at };
  });
  const waitMs = waitUntil - signOn.clock();
  if (waitMs > 0) {
    throw tooMany(Math.max(1, Math.ceil(waitMs / 1_000)));
  }
  return counted;
}

function tooMany(retryAfterSeconds: number): ServiceError {
  const message = 'There were too many attempts to sign in. Wait a little before you try again.';
  return new ServiceError(ErrorCode.RATE_LIMITED, message, { retryAfterSeconds });
}

/** The right password was given. The turns that unknown browsers share keep the tries of others: that they are gone would tell strangers that the account exists. */
export async function forgiveGuess(
  changes: SignOnChanges,
  { network, account }: CountedGuess,
): Promise<void> {
  if (network) {
    // A whole office signs in from one address.
    await changes.attempts.giveBack(network.subject, network.endsAt);
    await changes.attempts.giveBackTurn(account.subject, changes.now);
  } else {
    await changes.attempts.forget(account.subject);
  }
}

/** The person has shown in another way that they are who they say. */
export async function forgiveGuessesAt(
  signOn: SignOn,
  changes: SignOnChanges,
  browser: Browser,
  person: { emailKey: string } & DevicePerson,
): Promise<void> {
  const device = deviceOf(signOn, browser, person) ?? '';
  await changes.attempts.forget(keyed(signOn, 'guesses at', person.emailKey, device));
}

/** The password was not looked at: too many others waited. A turn that was waited for can be used again. */
export async function takeBackGuess(
  signOn: SignOn,
  { network, account, usedTurnOf }: CountedGuess,
): Promise<void> {
  await signOn.unitOfWork.run(async ({ attempts, now }) => {
    if (network) {
      await attempts.giveBack(network.subject, network.endsAt);
    }
    if (usedTurnOf === undefined) {
      await attempts.giveBackTurn(account.subject, now);
    } else {
      await attempts.keepTurn(usedTurnOf, now, now + WINDOW_MS);
    }
  });
}

async function countNetwork(
  signOn: SignOn,
  changes: SignOnChanges,
  browser: Browser,
  guess: Guess,
): Promise<Counted & { isOver: boolean }> {
  const subject = keyed(signOn, 'guesses from', subnetOf(browser.remoteAddress));
  const { count, endsAt } = await changes.attempts.count(subject, changes.now, WINDOW_MS);
  if (count === PER_NETWORK + 1) {
    await tellLimit(changes, browser, guess);
  }
  return { subject, endsAt, isOver: count > PER_NETWORK };
}

/** The turn that was waited for, or the next one, which is then kept for who asks. */
async function turnAt(
  signOn: SignOn,
  { attempts, now }: SignOnChanges,
  { subject, who }: { subject: string; who: string },
): Promise<Turn & { usedTurnOf: string | undefined }> {
  const holder = keyed(signOn, 'turn', subject, who);
  const waitedFor = await attempts.waitingFor(holder, now);
  if (waitedFor !== undefined && waitedFor > now) {
    return { at: waitedFor, count: 0, usedTurnOf: undefined };
  }
  if (waitedFor !== undefined && (await attempts.useTurn(holder, now))) {
    return { at: now, count: 0, usedTurnOf: holder };
  }
  const turn = await attempts.takeTurn(subject, now, TURNS);
  if (turn && turn.at > now) {
    await attempts.keepTurn(holder, turn.at, turn.at + WINDOW_MS);
  }
  return { ...(turn ?? { at: now + TURNS.maxWaitMs, count: 0 }), usedTurnOf: undefined };
}

/** The first one beyond the limit is told to the audit log, not all the others. */
async function tellLimit(
  changes: SignOnChanges,
  browser: Browser,
  { accountId, applicationId }: Guess,
): Promise<void> {
  const person = { type: 'account', id: accountId ?? NOBODY };
  const asking = applicationId === undefined ? person : { type: 'application', id: applicationId };
  await changes.audit(actorIn(browser, asking), {
    type: 'sign_in',
    outcome: 'refused',
    subject: accountId === undefined ? asking : person,
    attributes: { reason: 'too_many_attempts', ...userAgentOf(browser) },
  });
}

function deviceOf(
  signOn: SignOn,
  browser: Browser,
  { accountId = NOBODY, passwordSetAt }: { accountId: AccountId | undefined; passwordSetAt: number },
): string | undefined {
  return deviceKnowing(signOn, browser, { accountId, passwordSetAt });
}

/** With a key that is not in the database: people also type their passwords where the address belongs. */
function keyed({ throttleHash }: SignOn, ...parts: string[]): string {
  return throttleHash(JSON.stringify(parts)).toString('base64url');
}
