import type { SubscriptionId } from '../../../../../generated/ids.js';
import { type Rate, RateLimiter } from '../../../access/rate-limiter.js';
import {
  type BegunDelivery,
  type DueSubscription,
  leaseFrom,
  type Receiver,
  type SendingChanges,
  type SendingDependencies,
  type SentEvent,
} from '../sending.js';
import { type ClaimRequest, DeliveryTargets } from './claim.js';
import { type Distribution, isFailing, limitFailing, type Share, shareOut } from './shares.js';

/** How often the same subscription is reported. */
const UNSENDABLE_RATE: Rate = { limit: 1, windowMs: 60_000 };
/** Of the failing subscriptions that wait for a slot, in one claim. */
const MOST_WAITING_LOOKED_AT = 64;

/** What a write of a claim has begun. */
export interface Begun extends Distribution {
  begunAt: number;
  leaseUntil: number;
  lookedAt: readonly DueSubscription[];
  /** The failing subscriptions that were looked at first. */
  waiting: readonly SubscriptionId[];
  shares: readonly Share[];
  denied: ReadonlySet<SubscriptionId>;
  /** Subscriptions that claims of other nodes have locked. */
  locked: ReadonlySet<SubscriptionId>;
  answers: () => Promise<[BegunDelivery[], SentEvent[]]>;
}

/** Begins the attempts of claims, each claim in one write. */
export class AttemptBeginnings {
  readonly #targets: DeliveryTargets;
  readonly #unsendable: RateLimiter;

  constructor(
    private readonly dependencies: Pick<
      SendingDependencies,
      'clock' | 'onUnsendable' | 'secrets' | 'settings'
    >,
  ) {
    this.#targets = new DeliveryTargets(dependencies.secrets);
    this.#unsendable = new RateLimiter(UNSENDABLE_RATE, dependencies.clock);
  }

  /** Changes nothing but the rows, because the write may be repeated or rolled back. */
  async begin(
    changes: SendingChanges,
    request: ClaimRequest,
    /** The failing subscriptions that the claims before have kept from a slot. */
    kept: ReadonlySet<SubscriptionId>,
    lookedAt: readonly DueSubscription[],
  ): Promise<Begun> {
    const leaseUntil = leaseFrom(changes.now, this.dependencies.settings);
    const waiting = [...kept].slice(0, MOST_WAITING_LOOKED_AT);
    const inRound = lookedAt.filter(({ id }) => !waiting.includes(id));
    const candidates = [...waiting.map((id) => ({ id, hasLater: true })), ...inRound];
    const { shares, locked } = await this.#ownShares(changes, candidates, request);
    const mayPass = waiting.length === kept.size;
    const denied = await limitFailing(
      changes,
      shares,
      request.totalSlots,
      (id) => mayPass || waiting.includes(id),
    );
    const distribution = await shareOut(changes, shares, request);
    const first = shares.flatMap((share) => share.first);
    const later = shares.flatMap((share) => share.later);
    const answers = await changes.withCommit(
      Promise.all([changes.begin(first, later, leaseUntil), changes.eventsOf([...first, ...later])]),
    );
    const begunAt = changes.now;
    return { begunAt, leaseUntil, lookedAt, waiting, shares, denied, locked, ...distribution, answers };
  }

  /** Locks the candidates, and leaves out those that a claim of another node has locked. */
  async #ownShares(
    changes: SendingChanges,
    candidates: readonly DueSubscription[],
    { maxRunningPerSubscription, freeSlots }: ClaimRequest,
  ): Promise<{ shares: Share[]; locked: ReadonlySet<SubscriptionId> }> {
    const ids = candidates.map(({ id }) => id);
    const limit = Math.min(maxRunningPerSubscription, Math.ceil(freeSlots / Math.max(1, ids.length)));
    const { own, receivers, first } = await lockedReceivers(changes, ids, limit);
    const byId = new Map(receivers.map((receiver) => [receiver.id, receiver]));
    const shares = candidates.flatMap(({ id, hasLater }) => {
      const stock = first.get(id) ?? [];
      const found = { hasLater, stock, hasMore: stock.length === limit };
      return this.#shareOf(byId.get(id), found, maxRunningPerSubscription);
    });
    const locked = new Set(ids.filter((id) => !own.has(id)));
    if (!shares.some(isFailing) || (await changes.claimFailingAlone())) {
      return { shares, locked };
    }
    for (const { receiver } of shares.filter(isFailing)) {
      locked.add(receiver.id);
    }
    return { shares: shares.filter((share) => !isFailing(share)), locked };
  }

  #shareOf(
    receiver: Receiver | undefined,
    found: Pick<Share, 'hasLater' | 'stock' | 'hasMore'>,
    maxRunning: number,
  ): Share[] {
    if (!receiver) {
      return [];
    }
    try {
      const target = this.#targets.of(receiver);
      return [{ receiver, target, room: maxRunning - receiver.running, later: [], first: [], ...found }];
    } catch (error) {
      if (this.#unsendable.take(receiver.id).allowed) {
        this.dependencies.onUnsendable(receiver.id, error);
      }
      return [];
    }
  }
}

/** If other claims have all, waits briefly for the first. So no two claims wait for each other. */
async function lockedReceivers(
  changes: SendingChanges,
  ids: readonly SubscriptionId[],
  limit: number,
): Promise<Locked> {
  const [first] = ids;
  if (first === undefined) {
    return { own: new Set(), receivers: [], first: new Map() };
  }
  const present = await tryReceivers(changes, ids, limit);
  const isOver = present.own.size === 0 && (await changes.awaitClaim(first));
  return isOver ? tryReceivers(changes, ids, limit) : present;
}

interface Locked {
  own: ReadonlySet<SubscriptionId>;
  receivers: readonly Receiver[];
  /** The due first attempts of each, up to the limit. */
  first: ReadonlyMap<SubscriptionId, number[]>;
}

async function tryReceivers(
  changes: SendingChanges,
  ids: readonly SubscriptionId[],
  limit: number,
): Promise<Locked> {
  const [ownIds, receivers, first] = await Promise.all([
    changes.claimAlone(ids),
    // Statements after the locks: they see what the claims that had them before have begun.
    changes.receivers(ids),
    changes.dueFirst(ids.map((id) => ({ id, after: 0, limit }))),
  ]);
  const own = new Set(ownIds);
  return { own, receivers: receivers.filter(({ id }) => own.has(id)), first };
}
