import type { KeyObject } from 'node:crypto';
import type {
  DeliveryAttempt,
  AttemptOutcome as Outcome,
} from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import type { AttemptResult, DeliveryBody } from '../../generated/proto/integration/webhooks/v1/sending.js';

/** The end of an attempt; names of the contract without prefix. */
export type AttemptOutcome = Exclude<keyof typeof Outcome, 'UNSPECIFIED' | 'UNRECOGNIZED'>;

export interface SendTarget {
  url: string;
  /** Newest first; each gives a signature. */
  signingSecrets: readonly KeyObject[];
}

/** The result of an attempt, for recording. */
export interface AttemptReport
  extends Omit<DeliveryAttempt, 'number' | 'startedAt' | 'outcome'>,
    Pick<AttemptResult, 'retryAfterSeconds'> {
  startedAt: Date;
  outcome: AttemptOutcome;
}

export interface Sender {
  /**
   * Makes exactly one attempt and never throws. It begins no request at or after `endsAt`, a time of
   * `performance.now()`.
   */
  attempt(target: SendTarget, body: DeliveryBody, endsAt?: number): Promise<AttemptReport>;
  /** Ends attempts in progress and all later ones at once as INTERRUPTED, and closes all connections. */
  close(): void;
}

/** Why an attempt failed before an answer. Its message is for people. */
export class AttemptFault extends Error {
  constructor(
    readonly outcome: AttemptOutcome,
    message: string,
  ) {
    super(message);
    this.name = 'AttemptFault';
  }
}
