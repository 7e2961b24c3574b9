import type { Clock } from '../../../domain/clock.js';
import type { AddressGuard } from '../../../domain/webhooks/subscriptions/address-guard.js';
import type { SecretBox } from '../../../domain/webhooks/subscriptions/subscription.js';
import type { WebhookUnitOfWork } from '../../../domain/webhooks/unit-of-work.js';

export interface WebhookDependencies {
  unitOfWork: WebhookUnitOfWork;
  environment: 'live' | 'demo';
  clock: Clock;
  secrets: SecretBox;
  addressGuard: AddressGuard;
  /** Aborted when the server drains, for calls without an end. */
  draining: AbortSignal;
}
