/** How one attempt ended; the names of the contract without their prefix. */
export type AttemptOutcome =
  | 'SUCCEEDED'
  | 'STATUS_REFUSED'
  | 'TIMED_OUT'
  | 'NAME_NOT_RESOLVED'
  | 'ADDRESS_REFUSED'
  | 'CONNECTION_FAILED'
  | 'TLS_FAILED'
  | 'PROTOCOL_ERROR'
  | 'INTERRUPTED';

/** Where to post, and what to sign with. */
export interface SendTarget {
  url: string;
  /** Decoded, newest first; one signature is sent for each. */
  signingSecrets: readonly Uint8Array[];
}

/** What to post. */
export interface SendBody {
  /** The `webhook-id`. */
  eventId: string;
  /** For metrics only. */
  eventType: string;
  /** The exact bytes to sign and to send. */
  body: Uint8Array;
}

/** How one attempt went. */
export interface AttemptReport {
  startedAt: Date;
  durationMs: number;
  outcome: AttemptOutcome;
  /** Of the answer, if one came, whatever became of it then. */
  httpStatus: number | undefined;
  /** What went wrong, as a sentence that a person understands; empty for a success. */
  message: string;
  /** The first bytes of the answer's body. */
  responseStart: Uint8Array;
  /** What the answer asked for, where that counts: with 429 and 503. */
  retryAfterSeconds: number | undefined;
}

export interface Sender {
  /** Makes one attempt, neither more nor less, and never throws. Aborted, it ends at once as INTERRUPTED. */
  attempt(target: SendTarget, body: SendBody, signal?: AbortSignal): Promise<AttemptReport>;
  /** Closes the connections that are kept; attempts under way go on to their end. */
  close(): Promise<void>;
}
