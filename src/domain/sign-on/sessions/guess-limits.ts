import type { AccountId, ApplicationId } from '../../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { networkOf, subnetOf } from '../../../identifiers/network-address.js';
import type { SignOn, SignOnChanges } from '../sign-on.js';
import type { Turn, TurnSpacing } from './attempts.js';
import type { Browser } from './browser.js';
import { type DevicePerson, deviceKnowing } from './devices.js';
import { recordRefusal } from './refusals.js';

const WINDOW_MS = 15 * 60_000;
const PER_NETWORK = 100;
const TOO_MANY = 'There were too many attempts to sign in with this address, or from your network.';

/**
 * For each typed address. Each known browser has turns of its own; all other browsers share theirs. Ten
 * attempts need no wait. After them the interval between attempts grows by two seconds each time, up to half
 * a minute. An attempt that comes too early is refused with the time of its turn, which is reserved for its
 * network or known browser. So no account is locked, and unknown browsers soon get two guesses a minute.
 */
export const TURNS: TurnSpacing = {
  free: 10,
  stepMs: 2_000,
  maxSpacingMs: 30_000,
  maxWaitMs: WINDOW_MS,
  windowMs: WINDOW_MS,
};

/** An attempt to sign in, before its password is checked. */
export interface Guess {
  emailKey: string;
  /** Undefined for an unknown address, which is counted too. */
  accountId: AccountId | undefined;
  passwordSetAt: number;
  /** Undefined where no application is involved. */
  applicationId: ApplicationId | undefined;
}

export interface CountedGuess {
  /** Absent for a known browser. */
  network: Counted | undefined;
  account: string;
  /** The holder of the reserved turn that the attempt used, if any. */
  usedTurnOf: string | undefined;
}

interface Counted {
  subject: string;
  endsAt: number;
}

/** Stands in for an unknown account, so that the store does the same work. */
export const UNKNOWN_ACCOUNT: AccountId = 'acc_';

/**
 * Counts an attempt before its password is checked, so that concurrent attempts cannot exceed a limit. Throws
 * RATE_LIMITED. Attempts of a network over its limit do not count against accounts. Always counts the network
 * first: a fixed order of row locks avoids deadlocks.
 */
export async function countGuess(signOn: SignOn, browser: Browser, guess: Guess): Promise<CountedGuess> {
  const { accountId = UNKNOWN_ACCOUNT, passwordSetAt } = guess;
  const device = deviceKnowing(signOn, browser, { accountId, passwordSetAt });
  const from = networkOf(browser.remoteAddress);
  // In memory, before the database, where each count locks a row. The id of a browser comes from its cookie:
  // behind its kind it cannot be the name of a network or an account.
  await takeGuess(signOn, device === undefined ? from : `browser ${device}`);
  if (device !== undefined) {
    // A person can make any number of browsers known, so their attempts are also counted together.
    await takeGuess(signOn, `${accountId} at ${from}`);
  }
  const { counted, waitUntil, isFirstBeyond } = await signOn.unitOfWork.run(async (changes) => {
    const network = device === undefined ? await countNetwork(signOn, changes, browser) : undefined;
    if (network?.isOver) {
      const counted = { network, account: network.subject, usedTurnOf: undefined };
      return { counted, waitUntil: network.endsAt, isFirstBeyond: network.count === PER_NETWORK + 1 };
    }
    const account = keyed(signOn, 'guesses at', guess.emailKey, device ?? '');
    const turn = await turnAt(signOn, changes, { subject: account, who: device ?? from });
    const { at, count, usedTurnOf } = turn;
    const counted = { network, account, usedTurnOf };
    return { counted, waitUntil: at, isFirstBeyond: count === TURNS.free + 1 };
  });
  if (isFirstBeyond) {
    await recordLimit(signOn, browser, guess);
  }
  const waitMs = waitUntil - signOn.clock();
  if (waitMs > 0) {
    throw tooMany(Math.max(1, Math.ceil(waitMs / 1_000)));
  }
  if (device !== undefined) {
    // Counted only when its turn has come: otherwise one known browser could use up the limit of the
    // person's other browsers.
    await takeGuess(signOn, accountId);
  }
  return counted;
}

/** Counts a guess. Throws RATE_LIMITED beyond the limit, which bounds the hashes that are computed. */
export async function takeGuess({ guesses }: SignOn, who: string, refusal = TOO_MANY): Promise<void> {
  const { allowed, resetSeconds } = await guesses.take(who);
  if (!allowed) {
    throw tooMany(resetSeconds, refusal);
  }
}

function tooMany(retryAfterSeconds: number, message = TOO_MANY): ServiceError {
  return new ServiceError(ErrorCode.RATE_LIMITED, message, { retryAfterSeconds });
}

/** The password was right. The turns of others stay: removing them would disclose that the account exists. */
export async function forgiveGuess(
  changes: Pick<SignOnChanges, 'attempts' | 'now'>,
  { network, account }: CountedGuess,
): Promise<void> {
  if (network) {
    // A whole office signs in from one address.
    await changes.attempts.giveBack(network.subject, network.endsAt);
    await changes.attempts.giveBackTurn(account, changes.now);
  } else {
    await changes.attempts.forget(account);
  }
}

/** The person has proved their identity in another way. */
export async function forgiveGuessesAt(
  signOn: SignOn,
  changes: Pick<SignOnChanges, 'attempts'>,
  browser: Browser,
  person: { emailKey: string } & DevicePerson,
): Promise<void> {
  const device = deviceKnowing(signOn, browser, person) ?? '';
  await changes.attempts.forget(keyed(signOn, 'guesses at', person.emailKey, device));
}

/** Longer than any password; such input is not hashed. */
const MAX_PASSWORD_LENGTH = 4_096;

/** Checks the password of a counted attempt. */
export async function verifyGuess(
  signOn: SignOn,
  browser: Browser,
  counted: CountedGuess,
  { hash, password }: { hash: string | undefined; password: string },
): Promise<boolean> {
  if (password.length > MAX_PASSWORD_LENGTH) {
    return false;
  }
  const network = networkOf(browser.remoteAddress);
  const isKnown = counted.network === undefined;
  return unlessItFails(signOn, counted, () => signOn.passwords.verify(hash, password, network, isKnown));
}

/** For the check of a password, and for what follows a right one: if it fails, the attempt was no guess. */
export async function unlessItFails<T>(
  signOn: SignOn,
  counted: CountedGuess,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The caller is told of this failure, also if the database fails again.
    await uncountGuess(signOn, counted).catch(() => undefined);
    throw error;
  }
}

/** A used turn becomes usable again. It ignores the signal of the call: the caller may have disconnected. */
async function uncountGuess(signOn: SignOn, { network, account, usedTurnOf }: CountedGuess): Promise<void> {
  await signOn.unitOfWork.run(
    async ({ attempts, now }) => {
      if (network) {
        await attempts.giveBack(network.subject, network.endsAt);
      }
      if (usedTurnOf === undefined) {
        await attempts.giveBackTurn(account, now);
      } else {
        await attempts.keepTurn(usedTurnOf, now, now + WINDOW_MS);
      }
    },
    { signal: undefined },
  );
}

async function countNetwork(
  signOn: SignOn,
  changes: Pick<SignOnChanges, 'attempts' | 'now'>,
  browser: Browser,
): Promise<Counted & { count: number; isOver: boolean }> {
  const subject = keyed(signOn, 'guesses from', subnetOf(browser.remoteAddress));
  const { count, endsAt } = await changes.attempts.count(subject, changes.now, WINDOW_MS);
  return { subject, endsAt, count, isOver: count > PER_NETWORK };
}

/** The turn reserved for this network or browser; without one, the next free turn, which is then reserved. */
async function turnAt(
  signOn: SignOn,
  { attempts, now }: Pick<SignOnChanges, 'attempts' | 'now'>,
  { subject, who }: { subject: string; who: string },
): Promise<Turn & { usedTurnOf: string | undefined }> {
  const holder = keyed(signOn, 'turn', subject, who);
  const waitedFor = await attempts.waitingFor(holder, now);
  // A turn that is further away was reserved before the clock was set back.
  if (waitedFor !== undefined && waitedFor > now && waitedFor <= now + 2 * TURNS.maxWaitMs) {
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

/** Called for the first attempt beyond a limit only, after its transaction, which PostgreSQL may repeat. */
async function recordLimit(
  signOn: SignOn,
  browser: Browser,
  { accountId, applicationId }: Guess,
): Promise<void> {
  const person = { type: 'account', id: accountId ?? UNKNOWN_ACCOUNT };
  const party = applicationId === undefined ? person : { type: 'application', id: applicationId };
  const subject = accountId === undefined ? party : person;
  const reason = 'too_many_attempts';
  await recordRefusal(signOn, browser, { type: 'sign_in', party, subject, reason });
}

/** Keyed with a key outside the database: people also type passwords into the address field. */
function keyed({ throttleHash }: SignOn, ...parts: string[]): string {
  return throttleHash(JSON.stringify(parts)).toString('base64url');
}
