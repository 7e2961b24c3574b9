/**
 * What definitions, activities, worker and clients agree on. Plain data: this file is also bundled into the
 * workflow sandbox, so it imports nothing.
 */

export const taskQueue = 'integration';

/** Workflow types; also the names the definitions are exported under. */
export const workflowTypes = { purge: 'purge' } as const;

/** Temporal appends the time of the run to the workflow id of a schedule: `purge-2026-07-01T10:00:00Z`. */
export const scheduleIds = { purge: 'purge' } as const;

export const queryNames = { progress: 'progress' } as const;

/** Custom search attributes with their types, as `temporal --search-attribute` takes them. */
export const searchAttributes = {
  SubscriptionId: 'Keyword',
  EventTypes: 'KeywordList',
  InstanceIntegrationId: 'Keyword',
} as const;

/** Every delay and limit travels as input, so that changing one cannot break the replay of a running purge. */
export interface PurgeInput {
  /** Rows the domain may delete in one transaction. */
  batchLimit: number;
  /** Batches in one history; a longer purge continues as new. */
  batchesPerRun: number;
  /** Rest between two batches, in which requests get the store to themselves. */
  pauseMs: number;
  batchTimeoutMs: number;
  retryFirstDelayMs: number;
  retryMaxDelayMs: number;
  /**
   * A batch that failed so often fails the purge, with its last error; the next scheduled one starts afresh. A
   * count, since Temporal reports only "timeout" when a limit of time is what ends the retries.
   */
  giveUpAfterAttempts: number;
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
