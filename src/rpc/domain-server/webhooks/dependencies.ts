import type { Clock } from '../../../domain/clock.js';
import type { OperatorUnitOfWork } from '../../../domain/operator/unit-of-work.js';
import type { SendingDependencies } from '../../../domain/webhooks/sending/sending.js';
import type { AddressGuard } from '../../../domain/webhooks/subscriptions/rules.js';
import type { SecretBox } from '../../../domain/webhooks/subscriptions/subscription.js';

export interface WebhookDependencies {
  unitOfWork: OperatorUnitOfWork;
  clock: Clock;
  eventsMs: number;
  secrets: SecretBox;
  addressGuard: AddressGuard;
  /** For what operators change of the sending itself. */
  sending: Pick<SendingDependencies, 'unitOfWork' | 'deliveriesDue' | 'onEnded'>;
  /** Aborted when the server drains, for calls without an end. */
  draining: AbortSignal;
}
