import type { DeliveryId, InstanceIntegrationId, SubscriptionId } from '../../../generated/ids.js';
import type { Actor, RecordedAction } from '../operator/audit.js';
import type { AttemptOutcome, Delivery, DeliveryAttempt } from './deliveries.js';
import type { DueSignal } from './due-signal.js';
import type { StoredEvent } from './event-body.js';
import type { OverdueDelivery, RetryBatch, RetryBatchRows } from './retry-batches.js';
import type { DisabledReason, SecretBox } from './subscriptions.js';

/** How far a delivery is, for whoever sends it. */
export interface DeliveryProgress
  extends Omit<Delivery, 'instanceIntegrationId' | 'eventId' | 'eventType' | 'origin' | 'createdAt'> {
  /** Its place in the order of all, by which the store finds it fastest. */
  seq: number;
}

/** What of a subscription decides how it is sent to. */
export interface Receiver {
  id: SubscriptionId;
  instanceIntegrationId: InstanceIntegrationId;
  url: string;
  failingSince: number | null;
  /** How many attempts run now, over all workers. */
  running: number;
  /** Those that sign now, the newest first. */
  secrets: readonly SealedSecret[];
}

export interface SealedSecret {
  id: string;
  sealed: string;
}

/** What of a subscription changes with how attempts end. */
export interface ReceiverHealth {
  id: SubscriptionId;
  lastSuccessAt: number | null;
  failingSince: number | null;
  /** When an operator last changed it. */
  updatedAt: number;
}

/** A delivery whose attempt has just begun. */
export interface BegunDelivery {
  seq: number;
  id: DeliveryId;
  eventSeq: number;
}

/** An event to be posted. */
export type SentEvent = StoredEvent & { seq: number };

/** Everything that one write may touch, inside its one transaction. */
export interface SendingChanges {
  /** The time of the write. */
  readonly now: number;

  /** Waits until no other claim is under way on any node, so that the attempts that run are counted truly. */
  claimAlone(): Promise<void>;
  /** Subscriptions that have deliveries whose first attempt is due, in the order of their ids, from behind the one named. */
  dueSubscriptions(after: string, limit: number): Promise<SubscriptionId[]>;
  receivers(ids: readonly SubscriptionId[]): Promise<Receiver[]>;
  /** How many attempts run now to all subscriptions that fail. */
  runningToFailing(): Promise<number>;
  /** The places of the oldest deliveries behind the one named whose first attempt is due; from now on nobody else begins it. */
  due(id: SubscriptionId, after: number, limit: number): Promise<number[]>;
  /** Begins the first attempt of those of which none has begun. */
  beginFirst(seqs: readonly number[], leaseUntil: number): Promise<BegunDelivery[]>;
  /** Undoes beginnings of this same write, of which nobody has heard yet. */
  takeBack(seqs: readonly number[]): Promise<void>;
  /** One conditional statement: of several beginnings of one attempt, one hears of it. */
  beginLater(
    id: DeliveryId,
    number: number,
    leaseUntil: number,
  ): Promise<(BegunDelivery & { subscriptionId: SubscriptionId }) | undefined>;
  events(seqs: readonly number[]): Promise<SentEvent[]>;

  /** As they are, without waiting for anybody. */
  look(ids: readonly DeliveryId[]): Promise<DeliveryProgress[]>;
  healthOf(ids: readonly SubscriptionId[]): Promise<ReceiverHealth[]>;
  /**
   * Waits until nobody else changes these deliveries, and answers them as they stand then. Their subscriptions are held before them, as by whoever
   * disables one: `alone` where this write may change them, and otherwise together with others that only see to it that they stay as they are.
   */
  hold(deliveries: readonly DeliveryProgress[], alone: boolean): Promise<DeliveryProgress[]>;
  /** How the attempt ended, if that is recorded. */
  outcomeOf(deliverySeq: number, number: number): Promise<AttemptOutcome | undefined>;
  recordAttempts(attempts: readonly RecordedAttempt[]): Promise<void>;
  /** Says of an attempt that was recorded how it ended after all. */
  correctAttempt(attempt: RecordedAttempt): Promise<void>;
  /** Ends those whose attempt that runs has succeeded; what else there is of them stays. */
  deliver(seqs: readonly number[]): Promise<void>;
  settle(delivery: DeliveryProgress): Promise<void>;
  noteHealth(health: Omit<ReceiverHealth, 'updatedAt'>): Promise<void>;
  /** Disables an active subscription and holds what is pending; says whether it was active. */
  disable(id: SubscriptionId, reason: DisabledReason): Promise<boolean>;
  audit(actor: Actor, action: RecordedAction): Promise<void>;

  readonly retryBatches: RetryBatchRows;
}

export interface RecordedAttempt extends DeliveryAttempt {
  deliverySeq: number;
}

/** What is committed, without a transaction. */
export interface SendingRows {
  /** Whether anything's first attempt is due. */
  anyDue(): Promise<boolean>;
  /** Deliveries with an attempt whose lease is over and that nobody has recorded. */
  lapsed(now: number, limit: number): Promise<DeliveryProgress[]>;
  /** Deliveries whose retry should have begun long ago and whose batch was handed over long ago, the longest overdue first. */
  overdue(before: number, limit: number): Promise<OverdueDelivery[]>;
  /** Batches that are closed or full and not handed over, the oldest first. */
  waitingBatches(now: number, limit: number): Promise<RetryBatch[]>;
  batch(id: string): Promise<RetryBatch | undefined>;
  deliveriesOf(batchId: string): Promise<(DeliveryProgress & { eventType: string })[]>;
}

export interface SendingUnitOfWork {
  /** One transaction: all of the work or none. Nothing but the changes may be awaited inside. */
  run<T>(work: (changes: SendingChanges) => Promise<T>): Promise<T>;
  readonly rows: SendingRows;
}

export interface SendingSettings {
  /** For one exchange with a subscriber. */
  timeoutMs: number;
  /** Before the second attempt and before the third. */
  retryDelaysMs: readonly [number, number];
  /** Without a success for so long, a subscription is disabled. */
  failingLimitMs: number;
}

export interface SendingDependencies {
  unitOfWork: SendingUnitOfWork;
  secrets: SecretBox;
  deliveriesDue: DueSignal;
  settings: SendingSettings;
  /** At least 0 and less than 1. */
  random: () => number;
  /** Hears, once a minute, of a subscription that cannot be sent to for a reason on our side. */
  onUnsendable: (subscriptionId: SubscriptionId, error: unknown) => void;
}

/** For what comes before and after the exchange, which takes longer where subscribers may: a lease that lapses says that its sender is lost. */
const LEAST_MARGIN_MS = 5_000;
const MOST_MARGIN_MS = 15_000;

export function leaseFrom(now: number, { timeoutMs }: SendingSettings): number {
  return now + timeoutMs + Math.min(MOST_MARGIN_MS, Math.max(LEAST_MARGIN_MS, timeoutMs));
}
