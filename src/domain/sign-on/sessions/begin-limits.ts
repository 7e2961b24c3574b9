import type { AccountId } from '../../../../generated/ids.js';
import { networkOf, subnetOf } from '../../../identifiers/network-address.js';
import { assertAllowed } from '../../access/rate-limiter.js';
import type { SignOn } from '../sign-on.js';
import type { Browser } from './browser.js';

/** The page adds how long to wait. */
const FROM_NETWORK = 'Too many people are beginning to sign in from your network.';
const FROM_BROWSER = 'This browser is beginning to sign in too often. Close pages that may do so.';
const TOO_OFTEN = 'You have signed in too often.';
const TOO_OFTEN_TODAY = 'You have signed in too often today.';

/**
 * Counts by cookie first: a page of another site can send a window here again and again, and must not use up
 * the limit of its visitor's network. Then counts by network, because new cookies cost an abuser nothing. A
 * counted cookie takes memory, so cookies are not counted once the network has reached its limit.
 */
export async function countStranger(
  { strangers, crowds, browsers }: SignOn,
  { remoteAddress, sessionHash }: Browser,
): Promise<void> {
  const [subnet, network] = [subnetOf(remoteAddress), networkOf(remoteAddress)];
  const hasRoom = strangers.standing(subnet).remaining > 0 && crowds.standing(network).remaining > 0;
  if (sessionHash !== undefined && hasRoom) {
    assertAllowed(await browsers.take(sessionHash), () => FROM_BROWSER);
  }
  assertAllowed(await strangers.take(subnet), () => FROM_NETWORK);
  assertAllowed(await crowds.take(network), () => FROM_NETWORK);
}

/** Bounds codes, sessions and audit records per person: by a password, or by a page of theirs. */
export async function countPerson({ people, peopleByDay }: SignOn, accountId: AccountId): Promise<void> {
  assertAllowed(await people.take(accountId), () => TOO_OFTEN);
  assertAllowed(await peopleByDay.take(accountId), () => TOO_OFTEN_TODAY);
}

/**
 * The same for codes that a session gets without a page. Any site can send the browser to them, so they are
 * counted apart: they never prevent a sign-in with the password. False beyond a limit.
 */
export async function countVisit({ people, peopleByDay }: SignOn, accountId: AccountId): Promise<boolean> {
  const visitor = `visits of ${accountId}`;
  return (await people.take(visitor)).allowed && (await peopleByDay.take(visitor)).allowed;
}
