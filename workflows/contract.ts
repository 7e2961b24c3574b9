/**
 * What definitions, activities, worker and clients agree on. Plain data: this file is also bundled into the
 * workflow sandbox, so it imports nothing.
 */

export const taskQueue = 'integration';

/** Workflow types; also the names the definitions are exported under. */
export const workflowTypes = {
  purge: 'purge',
  authorizationCodeExpiry: 'authorizationCodeExpiry',
  signingKeyRotation: 'signingKeyRotation',
  webhookRetry: 'webhookRetry',
} as const;

/** Temporal appends the time of the run to the workflow id of a schedule: `purge-2026-07-01T10:00:00Z`. */
export const scheduleIds = { purge: 'purge', signingKeyRotation: 'signing-key-rotation' } as const;

/** Of a minute such as `2026-07-01T10:00Z`: the codes issued in it share one workflow. */
export const codeExpiryWorkflowId = (minute: string) => `authorization-code-expiry/${minute}`;

/** Of failed deliveries of one subscription; the domain names it likewise. */
export const webhookRetryWorkflowId = (subscriptionId: string, batchId: string) =>
  `webhook-retry/${subscriptionId}/${batchId}`;

export const queryNames = { progress: 'progress' } as const;

/** Both take a list of delivery ids; none, or no list, means all that are open. */
export const signalNames = { retryNow: 'retryNow', giveUp: 'giveUp' } as const;

/** Custom search attributes with their types, as `temporal --search-attribute` takes them. */
export const searchAttributes = {
  SubscriptionId: 'Keyword',
  EventTypes: 'KeywordList',
  InstanceIntegrationId: 'Keyword',
} as const;

/** Every delay and limit travels as input, so that changing one cannot break the replay of what is running. */
export interface RetrySettings {
  retryFirstDelayMs: number;
  retryMaxDelayMs: number;
  /**
   * A step that failed so often fails the workflow, with its last error. A count, since Temporal reports only
   * "timeout" when a limit of time is what ends the retries.
   */
  giveUpAfterAttempts: number;
}

/** One that fails is followed by the next scheduled one, which starts afresh. */
export interface PurgeInput extends RetrySettings {
  /** Rows the domain may delete in one transaction. */
  batchLimit: number;
  /** Batches in one history; a longer purge continues as new. */
  batchesPerRun: number;
  /** Rest between two batches, in which requests get the store to themselves. */
  pauseMs: number;
  batchTimeoutMs: number;
  /** What earlier runs of the same purge did. */
  carried?: PurgeProgress;
}

export interface PurgeBatch {
  /** Rows deleted, by kind. */
  deleted: Record<string, number>;
  /** Whether expired rows are left. */
  more: boolean;
}

export interface PurgeProgress extends PurgeBatch {
  batches: number;
}

export const defaultPurgeIntervalMs = 60 * 60 * 1000;

export const defaultPurgeInput: PurgeInput = {
  batchLimit: 500,
  batchesPerRun: 200,
  pauseMs: 50,
  batchTimeoutMs: 30_000,
  retryFirstDelayMs: 1_000,
  retryMaxDelayMs: 60_000,
  // Half an hour at these delays.
  giveUpAfterAttempts: 35,
};

export interface CodeExpiryInput extends RetrySettings {
  /** The minute in which the codes were issued, as in the workflow id. */
  minute: string;
  /** Until the last code of the minute is over. */
  waitMs: number;
  stepTimeoutMs: number;
  /** Between two rounds, where the domain's clock says that codes are still valid. */
  leastWaitMs: number;
  /** After so many rounds in which codes were still valid, the workflow fails and says so. */
  giveUpAfterRounds: number;
}

/** What became of the codes of one minute. */
export interface CodeCounts {
  issued: number;
  redeemed: number;
  expired: number;
}

export const defaultCodeExpiryLimits: Omit<CodeExpiryInput, 'minute' | 'waitMs'> = {
  stepTimeoutMs: 30_000,
  leastWaitMs: 1_000,
  giveUpAfterRounds: 100,
  retryFirstDelayMs: 1_000,
  retryMaxDelayMs: 5 * 60_000,
  // A day at these delays; then the purge takes the codes.
  giveUpAfterAttempts: 295,
};

export interface SigningKeyRotationInput extends RetrySettings {
  stepTimeoutMs: number;
}

export interface SigningKeyRotationOutcome {
  /** In order; empty where nothing was due. */
  changes: { kid: string; step: string }[];
  /** When the next step is due, in ISO 8601; null where the domain names no time. */
  nextDueAt: string | null;
}

export const defaultSigningKeyRotationIntervalMs = 60 * 60 * 1000;

export const defaultSigningKeyRotationInput: SigningKeyRotationInput = {
  stepTimeoutMs: 30_000,
  retryFirstDelayMs: 1_000,
  retryMaxDelayMs: 60_000,
  // Half an hour at these delays: before the next scheduled run.
  giveUpAfterAttempts: 35,
};

export interface WebhookRetryInput extends RetrySettings {
  subscriptionId: string;
  batchId: string;
  /** For what only asks the domain: planning and giving up. */
  stepTimeoutMs: number;
  /** For one round of attempts; longer than `beginForMs` and a lease together. */
  roundTimeoutMs: number;
  /** A round that failed so often is put off, so that it holds up no delivery that is due later. */
  roundTries: number;
  /** A worker that is silent for so long is taken for dead, and its round goes to another. */
  heartbeatTimeoutMs: number;
  /** A round begins no attempt after this time, so that a slow receiver does not hold signals up. */
  beginForMs: number;
  /** Deliveries that are due one after the other go together: the first waits for this share of its wait at most… */
  gatherShare: number;
  /** …or for this long, if that is more. */
  gatherLeastMs: number;
  /** Before a delivery is looked at again that somebody else attempts; doubled each time, up to the most. */
  leastWaitMs: number;
  mostWaitMs: number;
  /** Before an attempt is tried again at which the domain failed or the worker had no send slot; doubled as well. */
  putOffMs: number;
  /** After so many steps the workflow continues as new, before its history grows long. */
  stepsPerRun: number;
  /** What the runs before this one leave to it. */
  carried?: { steps: number; lastAttempts: Record<string, string> };
}

/** As the domain has them; `GONE` is one that it purged or that another workflow took over. */
export type RetryStatus = 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'HELD' | 'CANCELLED' | 'GONE';

/** How far a delivery is: ids, counts and times alone, for they stay in the history. */
export interface RetryProgress {
  deliveryId: string;
  status: RetryStatus;
  attemptsBegun: number;
  /** In ISO 8601; null while an attempt runs, and at the end. */
  nextAttemptAt: string | null;
  /** How the last attempt ended, such as `answered 503`; null where this workflow made none. */
  lastAttempt: string | null;
}

/** The same, with when to go on; delays, so that the clocks of domain and server need not agree. */
export interface RetryState extends RetryProgress {
  /** Until the next attempt is due or the lease of the running one lapses; 0 at the end. */
  waitMs: number;
  /** Somebody attempts it just now. */
  isUnderWay: boolean;
}

export interface AttemptToMake {
  deliveryId: string;
  attemptNumber: number;
}

/** Attempts that a round did not come to are in neither list. */
export interface RoundOutcome {
  /** How far the deliveries are now. */
  states: RetryState[];
  /** Where the domain failed, so that nobody knows. */
  failed: AttemptToMake[];
}

/** What became of the deliveries of a batch. */
export interface RetryCounts {
  deliveries: number;
  delivered: number;
  exhausted: number;
  held: number;
  cancelled: number;
  gone: number;
}

export interface WebhookRetryProgress {
  counts: RetryCounts;
  deliveries: RetryProgress[];
}

export const defaultWebhookRetryLimits: Omit<WebhookRetryInput, 'subscriptionId' | 'batchId'> = {
  stepTimeoutMs: 30_000,
  // The longest lease that can be set is 75 s.
  roundTimeoutMs: 120_000,
  roundTries: 3,
  heartbeatTimeoutMs: 10_000,
  beginForMs: 10_000,
  // Of a wait that is jittered by a fifth: three rounds for the second attempts of a batch, three for the third.
  gatherShare: 0.2,
  gatherLeastMs: 200,
  leastWaitMs: 1_000,
  mostWaitMs: 60_000,
  putOffMs: 5_000,
  stepsPerRun: 200,
  retryFirstDelayMs: 1_000,
  retryMaxDelayMs: 30_000,
  // A day at these delays; then the domain hands what is overdue over again.
  giveUpAfterAttempts: 2_880,
};
