import type { AccountId } from '../../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { networkOf, subnetOf } from '../../../identifiers/network-address.js';
import type { RateLimiter } from '../../access/rate-limiter.js';
import type { SignOn } from '../sign-on.js';
import type { Browser } from './browser.js';

/** Ignores cookies, which an abuser can get as cheaply. */
export function countStranger({ strangers, crowds }: SignOn, { remoteAddress }: Browser): void {
  const message =
    'Too many people are beginning to sign in from your network. Wait a little before you try again.';
  count(strangers, subnetOf(remoteAddress), message);
  count(crowds, networkOf(remoteAddress), message);
}

/** Bounds codes, sessions and audit records per person, also with pages opened before the sign-in. */
export function countPerson({ people, peopleByDay }: SignOn, accountId: AccountId): void {
  count(people, accountId, 'You have signed in too often. Wait a little before you try again.');
  count(peopleByDay, accountId, 'You have signed in too often today. Try again tomorrow.');
}

function count(limiter: RateLimiter, caller: string, message: string): void {
  const { allowed, ...rateLimit } = limiter.take(caller);
  if (!allowed) {
    const retryAfterSeconds = rateLimit.resetSeconds;
    throw new ServiceError(ErrorCode.RATE_LIMITED, message, { rateLimit, retryAfterSeconds });
  }
}
