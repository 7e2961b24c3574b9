import type { Clock } from '../../../domain/clock.js';
import type { AddressGuard } from '../../../domain/webhooks/address-guard.js';
import type { SecretBox } from '../../../domain/webhooks/subscriptions.js';
import type { WebhookChanges, WebhookUnitOfWork } from '../../../domain/webhooks/unit-of-work.js';
import type { CallContext } from '../../handlers.js';
import { actorOf } from '../actor.js';

export interface WebhookDependencies {
  unitOfWork: WebhookUnitOfWork;
  environment: 'live' | 'demo';
  clock: Clock;
  secrets: SecretBox;
  addressGuard: AddressGuard;
  /** Aborted when the server drains, for what would otherwise go on until its caller hangs up. */
  draining: AbortSignal;
}

/** Runs a write as one unit of work, in the name of whoever holds the token of the call. */
export function write<T>(
  { unitOfWork }: WebhookDependencies,
  context: CallContext,
  work: (changes: WebhookChanges) => Promise<T>,
): Promise<T> {
  return unitOfWork.run(actorOf(context), work, { signal: context.signal });
}
