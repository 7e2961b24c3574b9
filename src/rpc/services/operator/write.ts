import type { Clock } from '../../../domain/clock.js';
import type { Actor } from '../../../domain/operator/audit.js';
import type { OperatorChanges, OperatorUnitOfWork } from '../../../domain/operator/unit-of-work.js';
import type { CallContext } from '../../handlers.js';

export interface OperatorDependencies {
  unitOfWork: OperatorUnitOfWork;
  environment: 'live' | 'demo';
  clock: Clock;
}

/** Runs a write as one unit of work, in the name of whoever holds the token of the call. */
export function write<T>(
  { unitOfWork }: OperatorDependencies,
  context: CallContext,
  work: (changes: OperatorChanges) => Promise<T>,
): Promise<T> {
  return unitOfWork.run(actorOf(context), work);
}

function actorOf({ tokenId, caller, requestId, remoteAddress }: CallContext): Actor {
  const party =
    tokenId === undefined ? { type: 'service', id: caller } : { type: 'service_token', id: tokenId };
  return { ...party, requestId, remoteAddress };
}
