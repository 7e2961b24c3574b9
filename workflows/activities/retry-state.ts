import type { RetryState } from '../contract.js';
import type { AttemptReport, RetriedDelivery } from './retry-ports.js';

/** Delays in place of times, because a workflow reads no clock of ours. */
export function stateOf(
  delivery: RetriedDelivery,
  {
    lastAttempt = null,
    isLeaseRunning = false,
  }: { lastAttempt?: string | null; isLeaseRunning?: boolean } = {},
): RetryState {
  const { deliveryId, status, attemptsBegun, nextAttemptAt, leaseExpiresAt } = delivery;
  const isOpen = status === 'PENDING';
  const leaseMs = isOpen ? untilMs(leaseExpiresAt) : 0;
  return {
    deliveryId,
    status,
    attemptsBegun,
    nextAttemptAt: (isOpen && nextAttemptAt?.toISOString()) || null,
    lastAttempt,
    waitMs: isOpen ? Math.max(leaseMs, untilMs(nextAttemptAt)) : 0,
    // A lease that lapsed is no obstacle: beginning the next attempt counts the lost one.
    isUnderWay: isOpen && (isLeaseRunning || leaseMs > 0),
  };
}

/** Nothing is left to do for it here. */
export function goneState(deliveryId: string, attemptsBegun: number): RetryState {
  const ended = { nextAttemptAt: null, lastAttempt: null, waitMs: 0, isUnderWay: false };
  return { deliveryId, status: 'GONE', attemptsBegun, ...ended };
}

/** Without the sender's own sentence, which may name hosts. */
export function outcomeInWords({ outcome, httpStatus }: AttemptReport): string {
  const isAnswer = outcome === 'SUCCEEDED' || outcome === 'STATUS_REFUSED';
  return isAnswer && httpStatus !== undefined
    ? `answered ${httpStatus}`
    : outcome.toLowerCase().replaceAll('_', ' ');
}

function untilMs(at: Date | undefined): number {
  return at === undefined ? 0 : Math.max(0, at.getTime() - Date.now());
}
