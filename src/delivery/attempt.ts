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
  outcome: AttemptOutcome;
}

/** What the claim of an attempt tells about time, in terms of `performance.now()`. */
export interface AttemptTime {
  /** No request begins at or after it. */
  endsAt: number;
  /** By how much the clock of the domain is ahead. */
  aheadMs: number;
}

export interface Sender {
  /** Makes exactly one attempt and never throws. Signs it with the time of the domain. */
  attempt(target: SendTarget, body: DeliveryBody, time?: AttemptTime): Promise<AttemptReport>;
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
