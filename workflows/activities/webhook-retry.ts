import type { AttemptToMake, RetryState, RetryStatus, RoundOutcome } from '../contract.js';
import { type DomainCall, domainCall } from './domain-call.js';

/** The progress of a delivery, from the domain. */
export interface RetriedDelivery {
  deliveryId: string;
  status: Exclude<RetryStatus, 'GONE'>;
  attemptsBegun: number;
  nextAttemptAt?: Date | undefined;
  leaseExpiresAt?: Date | undefined;
  /** The end of the last attempt, such as `answered 503`; absent while one runs. */
  lastAttempt?: string | undefined;
}

/** The domain's calls for retries, all repeatable. */
export interface RetryingDomain {
  /** The deliveries of the batch; none if it was purged. */
  retryBatch(batchId: string, call: DomainCall): Promise<RetriedDelivery[]>;
  /** Makes attempts due, so that the relay makes them. Omits purged deliveries. */
  makeDue(attempts: AttemptToMake[], call: DomainCall): Promise<RetriedDelivery[]>;
  giveUp(deliveryIds: string[], call: DomainCall): Promise<RetriedDelivery[]>;
}

export type WebhookRetryActivities = ReturnType<typeof webhookRetryActivities>;

/** Does not wait for receivers: the workflow asks again. */
export function webhookRetryActivities(domain: RetryingDomain) {
  return {
    /** The progress of each delivery of the batch; omits those that left it. */
    async planRetries({ batchId }: { batchId: string }): Promise<RetryState[]> {
      return (await domain.retryBatch(batchId, domainCall())).map(stateOf);
    },
    attemptDeliveries: ({ attempts }: { subscriptionId: string; attempts: AttemptToMake[] }) =>
      attemptRound(attempts, domain, domainCall()),
    async giveUpDeliveries({ deliveryIds }: { deliveryIds: string[] }): Promise<RetryState[]> {
      return (await domain.giveUp(deliveryIds, domainCall())).map(stateOf);
    },
  };
}

/** Makes attempts due, so that the relay makes them, and returns the ended and the open ones. */
export async function attemptRound(
  attempts: AttemptToMake[],
  domain: RetryingDomain,
  call: DomainCall,
): Promise<RoundOutcome> {
  const outcome: RoundOutcome = { states: [], failed: [] };
  const deliveries = await domain.makeDue(attempts, call);
  const found = new Map(deliveries.map((delivery) => [delivery.deliveryId, delivery]));
  for (const attempt of attempts) {
    const delivery = found.get(attempt.deliveryId);
    if (!delivery) outcome.states.push(goneState(attempt));
    else if (isOpen(attempt, delivery)) outcome.failed.push(attempt);
    else outcome.states.push(stateOf(delivery));
  }
  return outcome;
}

/** Whether the attempt may still begin, or is running. */
function isOpen(
  { attemptNumber }: AttemptToMake,
  { status, attemptsBegun, leaseExpiresAt }: RetriedDelivery,
): boolean {
  if (status !== 'PENDING') return false;
  return attemptsBegun < attemptNumber || (attemptsBegun === attemptNumber && leaseExpiresAt !== undefined);
}

/** Delays instead of times, because a workflow reads no clock of ours. */
function stateOf(delivery: RetriedDelivery): RetryState {
  const { deliveryId, status, attemptsBegun, nextAttemptAt, leaseExpiresAt, lastAttempt = null } = delivery;
  const isPending = status === 'PENDING';
  return {
    deliveryId,
    status,
    attemptsBegun,
    nextAttemptAt: (isPending && nextAttemptAt?.toISOString()) || null,
    lastAttempt,
    waitMs: isPending ? Math.max(untilMs(leaseExpiresAt), untilMs(nextAttemptAt)) : 0,
    isUnderWay: leaseExpiresAt !== undefined,
  };
}

/** There is nothing left to do for it. */
function goneState({ deliveryId, attemptNumber }: AttemptToMake): RetryState {
  const ended = { nextAttemptAt: null, lastAttempt: null, waitMs: 0, isUnderWay: false };
  return { deliveryId, status: 'GONE', attemptsBegun: attemptNumber - 1, ...ended };
}

function untilMs(at: Date | undefined): number {
  return at === undefined ? 0 : Math.max(0, at.getTime() - Date.now());
}
