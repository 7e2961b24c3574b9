import type { AttemptToMake, RoundOutcome } from '../contract.js';
import type { DomainCall } from './domain-call.js';
import type { RetriedDelivery, RetryingDomain } from './retry-ports.js';
import { goneState, stateOf } from './retry-state.js';

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
    if (!delivery) outcome.states.push(goneState(attempt.deliveryId, attempt.attemptNumber - 1));
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
