import type { Clock } from '../../../domain/clock.js';
import { inNameOf } from '../../../domain/unit-of-work.js';
import type { AddressGuard } from '../../../domain/webhooks/subscriptions/address-guard.js';
import type { SecretBox } from '../../../domain/webhooks/subscriptions/subscription.js';
import type { WebhookChanges, WebhookUnitOfWork } from '../../../domain/webhooks/unit-of-work.js';
import { actorOf } from '../../call-audit.js';
import type { CallContext } from '../../handlers.js';

export interface WebhookDependencies {
  unitOfWork: WebhookUnitOfWork;
  environment: 'live' | 'demo';
  clock: Clock;
  secrets: SecretBox;
  addressGuard: AddressGuard;
  /** Aborted when the server drains, for calls without an end. */
  draining: AbortSignal;
}

/** The unit of work with the token as its actor. */
export function attributed({ unitOfWork }: Pick<WebhookDependencies, 'unitOfWork'>, context: CallContext) {
  return inNameOf(actorOf(context), unitOfWork, { signal: context.signal });
}

export function write<T>(
  webhooks: WebhookDependencies,
  context: CallContext,
  work: (changes: WebhookChanges) => Promise<T>,
): Promise<T> {
  return attributed(webhooks, context).run(work);
}
