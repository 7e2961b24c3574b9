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
} as const;

/** Temporal appends the time of the run to the workflow id of a schedule: `purge-2026-07-01T10:00:00Z`. */
export const scheduleIds = { purge: 'purge', signingKeyRotation: 'signing-key-rotation' } as const;

/** Of a minute such as `2026-07-01T10:00Z`: the codes issued in it share one workflow. */
export const codeExpiryWorkflowId = (minute: string) => `authorization-code-expiry/${minute}`;

export const queryNames = { progress: 'progress' } as const;

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
