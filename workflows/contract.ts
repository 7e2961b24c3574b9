/**
 * The contract of definitions, activities, worker and clients. Plain data without imports, because the
 * workflow sandbox bundles it.
 */

export const TASK_QUEUE = 'integration';

/** Temporal appends the time of the run to the workflow id of a schedule: `purge-2026-07-01T10:00:00Z`. */
export const scheduleIds = { purge: 'purge', signingKeyRotation: 'signing-key-rotation' } as const;

/** Of a minute such as `2026-07-01T10:00Z`: its codes share one workflow. */
export const codeExpiryWorkflowId = (minute: string) => `authorization-code-expiry/${minute}`;

/** Of a batch of one subscription; the domain uses the same name. */
export const webhookRetryWorkflowId = (subscriptionId: string, batchId: string) =>
  `webhook-retry/${subscriptionId}/${batchId}`;

export const queryNames = { progress: 'progress' } as const;

/** Both take a list of delivery ids; an empty or absent list means all open ones. */
export const signalNames = { retryNow: 'retryNow', giveUp: 'giveUp' } as const;

/** Of a namespace that `integration init` makes: how long ended workflows stay visible. */
export const NAMESPACE_RETENTION_MS = 30 * 86_400_000;

/** Custom search attributes with their types, as `temporal --search-attribute` takes them. */
export const searchAttributes = {
  SubscriptionId: 'Keyword',
  EventTypes: 'KeywordList',
  InstanceIntegrationId: 'Keyword',
} as const;

/** In the input of all workflows but `webhookRetry`, so that a change does not break running ones. */
export interface RetrySettings {
  retryFirstDelayMs: number;
  retryMaxDelayMs: number;
  /** How many failures of a step fail the workflow. Temporal reports a time limit without the error. */
  giveUpAfterAttempts: number;
}

/** A failed purge is followed by the next scheduled one. */
export const defaultPurgeInput = {
  /** Rows per transaction. */
  batchLimit: 500,
  /** Activities per history; a longer purge continues as new. */
  batchesPerRun: 200,
  /** Between activities, as in earlier releases; a timer of Temporal takes at least a second. */
  pauseMs: 0,
  /** How long an activity makes batches; together with a call to the domain, shorter than its timeout. */
  stepMs: 5_000,
  /** Rest after each batch, for requests. */
  restMs: 50,
  batchTimeoutMs: 30_000,
  retryFirstDelayMs: 1_000,
  retryMaxDelayMs: 60_000,
  // Half an hour at these delays.
  giveUpAfterAttempts: 35,
};

/** In inputs of earlier releases, each activity makes one batch. */
export type PurgeInput = Omit<typeof defaultPurgeInput, 'stepMs' | 'restMs'> & {
  stepMs?: number;
  restMs?: number;
  /** The progress of earlier runs of the same purge. */
  carried?: PurgeProgress;
};

export interface PurgeBatch {
  deleted: Record<string, number>;
  /** Whether expired rows are left. */
  more: boolean;
}

export interface PurgeProgress extends PurgeBatch {
  /** Activities that have ended; each made one batch or more. */
  batches: number;
}

/** The outcome for the codes of one minute. */
export type CodeCounts = Record<'issued' | 'redeemed' | 'expired', number>;

export const defaultCodeExpiryLimits = {
  stepTimeoutMs: 30_000,
  /** Between rounds, when codes are still valid by the domain's clock. */
  leastWaitMs: 1_000,
  /** After so many rounds with valid codes, the workflow fails. */
  giveUpAfterRounds: 100,
  retryFirstDelayMs: 1_000,
  retryMaxDelayMs: 5 * 60_000,
  // A day at these delays; then the purge takes the codes.
  giveUpAfterAttempts: 295,
};

export type CodeExpiryInput = typeof defaultCodeExpiryLimits & {
  /** The minute of issue, as in the workflow id. */
  minute: string;
  /** Until the last code of the minute expires. */
  waitMs: number;
};

export interface SigningKeyRotationOutcome {
  /** In order; empty if nothing was due. */
  changes: { kid: string; step: string }[];
  /** When the next step is due, in ISO 8601; null if unknown. */
  nextDueAt: string | null;
}

export const defaultSigningKeyRotationInput = {
  stepTimeoutMs: 30_000,
  retryFirstDelayMs: 1_000,
  retryMaxDelayMs: 60_000,
  // Half an hour at these delays: before the next scheduled run.
  giveUpAfterAttempts: 35,
};

export type SigningKeyRotationInput = typeof defaultSigningKeyRotationInput;

/**
 * The fields that people look for come first. Where the input has no limits, `webhookRetryLimits` apply;
 * inputs of earlier releases, and of tests, have their own.
 */
export interface WebhookRetryInput extends Partial<WebhookRetryLimits> {
  /** The origin of the subscription's address, such as `https://hooks.example.com`. */
  address?: string;
  /** How the last attempts ended, such as `answered 503`. */
  reason?: string;
  /** The ids of the deliveries. */
  deliveries?: string[];
  subscriptionId: string;
  batchId: string;
  /** Carried over from earlier runs. */
  carried?: { steps: number; lastAttempts: Record<string, string> };
}

/** Running workflows have them too: a change of their steps needs `patched`, as in a definition. */
export const webhookRetryLimits = {
  stepTimeoutMs: 30_000,
  /** After so many failures a round is postponed, so that it does not delay later deliveries. */
  roundTries: 3,
  /**
   * Deliveries with close due times share a round: the first waits longer by up to this share of its wait, or
   * by the least time, if that is more. With a jitter of a fifth, second attempts take three rounds, and so
   * do third ones.
   */
  gatherShare: 0.2,
  gatherLeastMs: 200,
  /** The first wait for a delivery that another worker attempts; doubled up to the limit. */
  leastWaitMs: 1_000,
  mostWaitMs: 60_000,
  /** The first wait before asking again about an attempt that is due, running or failed; doubled as well. */
  putOffMs: 1_000,
  /** After so many steps the workflow continues as new, to limit its history. */
  stepsPerRun: 200,
  retryFirstDelayMs: 1_000,
  retryMaxDelayMs: 30_000,
  // A day at these delays; the relay makes the attempts meanwhile.
  giveUpAfterAttempts: 2_880,
};

export type WebhookRetryLimits = typeof webhookRetryLimits;

/** As in the domain; `GONE` means purged, or taken over by another workflow. */
export type RetryStatus = 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'HELD' | 'CANCELLED' | 'GONE';

/** The progress of a delivery: ids, counts and times only, because they stay in the history. */
export interface RetryProgress {
  deliveryId: string;
  status: RetryStatus;
  attemptsBegun: number;
  /** In ISO 8601; null while an attempt runs, and at the end. */
  nextAttemptAt: string | null;
  /** The end of the last attempt, such as `answered 503`; null if unknown. */
  lastAttempt: string | null;
}

/** The same with delays instead of times, so that clocks need not agree. */
export interface RetryState extends RetryProgress {
  /** Until the next attempt is due or the running one's lease lapses; 0 at the end. */
  waitMs: number;
  /** Another worker is attempting it. */
  isUnderWay: boolean;
}

export interface AttemptToMake {
  deliveryId: string;
  attemptNumber: number;
  /** True if `retryNow` asked for it, false if its time came. Absent, as from earlier releases: false. */
  bySignal?: boolean;
}

export interface RoundOutcome {
  /** The present progress of the deliveries. */
  states: RetryState[];
  /** Open attempts, to ask about again. */
  failed: AttemptToMake[];
}

/** The outcome for the deliveries of a batch. */
export type RetryCounts = Record<
  'deliveries' | 'delivered' | 'exhausted' | 'held' | 'cancelled' | 'gone',
  number
>;

export interface WebhookRetryProgress {
  counts: RetryCounts;
  deliveries: RetryProgress[];
}
