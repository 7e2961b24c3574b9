import type { DeliveryId, InstanceIntegrationId, SubscriptionId } from '../../../../generated/ids.js';
import type { RateLimiter } from '../../access/rate-limiter.js';
import type { Clock } from '../../clock.js';
import type { CommonChanges, UnitOfWork } from '../../unit-of-work.js';
import type { AttemptOutcome, Delivery, DeliveryAttempt, DeliveryStatus } from '../deliveries.js';
import type { StoredEvent } from '../event-body.js';
import type { DisabledReason, SecretBox, Subscription } from '../subscriptions/subscription.js';
import type { DueSignal } from './due-signal.js';
import type { RetryBatch, RetryBatchRows, RetryGrace } from './retry-batches.js';

/** The progress of a delivery, for senders. */
export interface DeliveryProgress
  extends Omit<Delivery, 'instanceIntegrationId' | 'eventId' | 'eventType' | 'origin' | 'createdAt'> {
  /** Its place in the log, the fastest key. */
  seq: number;
  /** How long after `nextAttemptAt` the attempt may be claimed. */
  graceMs: number;
}

/** A delivery with a lapsed lease and no recorded result. */
export type LapsedDelivery = Pick<DeliveryProgress, 'id' | 'attemptsBegun'>;

/** A delivery with the outcome of its last attempt, as its workflow shows it. */
export interface RetriedDelivery extends DeliveryProgress {
  eventType: string;
  /** Null while one runs. */
  lastOutcome: AttemptOutcome | null;
  lastHttpStatus: number | null;
}

/** The part of a subscription that decides how it is sent to. */
export interface Receiver
  extends Pick<Subscription, 'id' | 'instanceIntegrationId' | 'url' | 'failingSince'> {
  /** The last change by an operator: deliveries that this change released have waited since then. */
  updatedAt: number;
  /** Running attempts, over all workers. */
  running: number;
  /** The valid ones, newest first. */
  secrets: readonly SealedSecret[];
}

export interface SealedSecret {
  id: string;
  sealed: string;
}

/** The part of a subscription that results change. */
export interface ReceiverHealth extends Pick<Subscription, 'id' | 'lastSuccessAt' | 'failingSince'> {
  /** The last change by an operator. */
  updatedAt: number;
}

/** A subscription with a due attempt. */
export interface DueSubscription {
  id: SubscriptionId;
  /** Whether later attempts are due, apart from first ones. */
  hasLater: boolean;
}

/** Which first attempts of a subscription are wanted. */
export interface WantedFirst {
  id: SubscriptionId;
  /** Only those after this place. */
  after: number;
  limit: number;
}

/** A delivery with a begun attempt. */
export interface BegunDelivery extends Pick<Delivery, 'origin'> {
  seq: number;
  id: DeliveryId;
  /** Of the attempt. */
  number: number;
  eventSeq: number;
  createdAt: number;
}

/** An event to post. */
export type SentEvent = StoredEvent & { seq: number };

/** What a claim reads and changes. */
export interface ClaimChanges {
  /**
   * Locks subscriptions against the claims of other nodes until this write ends, so that their running
   * attempts are counted correctly by later reads. Returns the locked ones, without those that other claims
   * have.
   */
  claimAlone(ids: readonly SubscriptionId[]): Promise<SubscriptionId[]>;
  /** Waits briefly for the claim that has it. Returns whether that claim is over. */
  awaitClaim(id: SubscriptionId): Promise<boolean>;
  /** The same for running attempts to all failing subscriptions, without a wait. */
  claimFailingAlone(): Promise<boolean>;
  /** Subscriptions with a due attempt, by id, after the named one and then from the first to that. */
  dueSubscriptions(after: string, limit: number): Promise<DueSubscription[]>;
  receivers(ids: readonly SubscriptionId[]): Promise<Receiver[]>;
  /** Running attempts to all failing subscriptions. */
  runningToFailing(): Promise<number>;
  /** Running attempts for each of these, to all its subscriptions. */
  runningOf(ids: readonly InstanceIntegrationId[]): Promise<ReadonlyMap<InstanceIntegrationId, number>>;
  /**
   * Places of the oldest deliveries with a due first attempt; locked until this write ends. None of
   * subscriptions that other claims have.
   */
  dueFirst(wanted: readonly WantedFirst[]): Promise<ReadonlyMap<SubscriptionId, number[]>>;
  /** Places of the deliveries whose later attempt has been due longest; locked until this write ends. */
  dueLater(id: SubscriptionId, limit: number): Promise<number[]>;
  /** Begins due attempts by conditional statements: of concurrent beginnings of one attempt, one succeeds. */
  begin(first: readonly number[], later: readonly number[], leaseUntil: number): Promise<BegunDelivery[]>;
  /** Undoes the beginnings at `begunAt`, of which no sender has heard. */
  takeBack(seqs: readonly number[], begunAt: number): Promise<void>;
  /** For the last statements of a write, if no answer decides the commit. Call the result after it. */
  withCommit<Answer>(answers: Promise<Answer>): Promise<() => Promise<Answer>>;
  /** The events of deliveries, by the places of these. */
  eventsOf(deliverySeqs: readonly number[]): Promise<SentEvent[]>;
}

/** What the recording of results reads and changes. */
export interface ResultChanges {
  /** Their present state, without locks. */
  look(ids: readonly DeliveryId[]): Promise<DeliveryProgress[]>;
  /**
   * From here on, this write fails if it waits for a lock for half a second, because results of many
   * subscriptions wait with it. Its caller repeats it.
   */
  waitBriefly(): Promise<void>;
  /**
   * Locks these deliveries and returns their state. Locks their subscriptions first: exclusively (`alone`) if
   * this write may change them, otherwise shared.
   */
  hold(deliveries: readonly DeliveryProgress[], alone: boolean): Promise<DeliveryProgress[]>;
  /** The recorded outcome of the attempt, if any. */
  outcomeOf(deliverySeq: number, number: number): Promise<AttemptOutcome | undefined>;
  recordAttempts(attempts: readonly RecordedAttempt[]): Promise<void>;
  /** Corrects the recorded end of an attempt. */
  correctAttempt(attempt: RecordedAttempt): Promise<void>;
  /** Ends those with a succeeded running attempt; nothing else of them changes. */
  deliver(seqs: readonly number[]): Promise<void>;
  settle(delivery: DeliveryProgress): Promise<void>;
}

/** All rows that one write may change, in its transaction. */
export interface SendingChanges extends ClaimChanges, ResultChanges, Pick<CommonChanges, 'now' | 'audit'> {
  /**
   * Locked with their subscriptions until this write ends. Leaves out those that other writes have locked: a
   * later search finds them.
   */
  lapsed(limit: number): Promise<LapsedDelivery[]>;
  healthOf(ids: readonly SubscriptionId[]): Promise<ReceiverHealth[]>;
  noteHealth(health: Omit<ReceiverHealth, 'updatedAt'>): Promise<void>;
  /**
   * Disables an active subscription. Returns whether it was active. Its pending deliveries are not sent, also
   * those that concurrent events still make; `closeAll` holds them.
   */
  disable(id: SubscriptionId, reason: DisabledReason): Promise<boolean>;
  readonly retryBatches: RetryBatchRows;
  /**
   * After the clock was set back: leases and retry delays that began later than now start again now, with
   * their full length, and batches that opened later close. Returns the number of deliveries.
   */
  beginAnew(): Promise<number>;
}

export interface RecordedAttempt extends DeliveryAttempt {
  deliverySeq: number;
}

/** Committed rows, without a transaction. */
export interface SendingRows {
  /** Whether any attempt is due. */
  anyDue(now: number): Promise<boolean>;
  /** As in `SendingChanges`. */
  dueSubscriptions(after: string, limit: number, now: number): Promise<DueSubscription[]>;
  /** Whether an attempt began or ended later than now, because the clock has been set back since. */
  anyLaterThan(now: number): Promise<boolean>;
  /** Whether any delivery has a lapsed lease and no recorded result. */
  anyLapsed(now: number): Promise<boolean>;
  /** Batches that are closed or full and not handed over, oldest first. */
  waitingBatches(now: number, limit: number): Promise<RetryBatch[]>;
  batch(id: string): Promise<RetryBatch | undefined>;
  deliveriesOf(batchId: string): Promise<RetriedDelivery[]>;
  retried(ids: readonly DeliveryId[]): Promise<RetriedDelivery[]>;
  /** Counts and ages of waiting deliveries, without a full scan. */
  outbox(): Promise<Outbox>;
}

/** Pending deliveries to active subscriptions, before their first attempt and after it began. */
export interface Outbox {
  /** Counts, up to a limit. */
  counts: Record<OutboxStage, number>;
  /** When the oldest delivery was written, or its subscription last changed, if that is later. */
  oldest: { stage: OutboxStage; isFailing: boolean; since: number }[];
}

export type OutboxStage = 'first' | 'later';

export type SendingUnitOfWork = UnitOfWork<SendingChanges, SendingRows>;

type OnEnded = (status: DeliveryStatus, count: number) => void;

export interface SendingSettings {
  /** For one exchange with a subscriber. */
  timeoutMs: number;
  /** Before the second and the third attempt. */
  retryDelaysMs: readonly [number, number];
  /** A subscription that has failed for this long is disabled at its next exhausted delivery. */
  failingLimitMs: number;
}

export interface SendingDependencies {
  unitOfWork: SendingUnitOfWork;
  clock: Clock;
  secrets: SecretBox;
  deliveriesDue: DueSignal;
  grace: RetryGrace;
  settings: SendingSettings;
  /** At least 0 and less than 1. */
  random: () => number;
  /** Counts, for each subscription, the failed attempts of which a long answer is kept. */
  longAnswers: RateLimiter;
  /** Called at most once a minute per subscription that cannot be sent to for a reason on our side. */
  onUnsendable: (subscriptionId: SubscriptionId, error: unknown) => void;
  /** Called after the commit in which deliveries ended. */
  onEnded?: OnEnded;
  /** Called when lapsed attempts could not be found or recorded; the next sweep tries again. */
  onUnswept: (error: unknown) => void;
  /** Called when a claim could not give deliveries back: they wait until their leases lapse. */
  onNotTakenBack: (error: unknown) => void;
  /** Called with the number of deliveries whose times were moved because the clock was set back. */
  onSetBack: (deliveries: number) => void;
}

/**
 * Added to the timeout of the exchange. As long as a claim may take: a sender counts the lease from before
 * its claim, so with less, the attempts of a late answer could lapse unsent. A lapsed lease means a lost
 * sender.
 */
const MARGIN_MS = 15_000;

export function leaseFrom(now: number, { timeoutMs }: Pick<SendingSettings, 'timeoutMs'>): number {
  return now + timeoutMs + MARGIN_MS;
}
