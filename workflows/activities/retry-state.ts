import type { RetryState } from '../contract.js';
import type { RetriedDelivery } from './retry-ports.js';

/** Delays instead of times, because a workflow reads no clock of ours. */
export function stateOf(delivery: RetriedDelivery): RetryState {
  const { deliveryId, status, attemptsBegun, nextAttemptAt, leaseExpiresAt, lastAttempt = null } = delivery;
  const isOpen = status === 'PENDING';
  return {
    deliveryId,
    status,
    attemptsBegun,
    nextAttemptAt: (isOpen && nextAttemptAt?.toISOString()) || null,
    lastAttempt,
    waitMs: isOpen ? Math.max(untilMs(leaseExpiresAt), untilMs(nextAttemptAt)) : 0,
    isUnderWay: leaseExpiresAt !== undefined,
  };
}

/** There is nothing left to do for it. */
export function goneState(deliveryId: string, attemptsBegun: number): RetryState {
  const ended = { nextAttemptAt: null, lastAttempt: null, waitMs: 0, isUnderWay: false };
  return { deliveryId, status: 'GONE', attemptsBegun, ...ended };
}

function untilMs(at: Date | undefined): number {
  return at === undefined ? 0 : Math.max(0, at.getTime() - Date.now());
}
