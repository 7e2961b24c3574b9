import type { SubscriptionId } from '../../../../generated/ids.js';
import type { Clock } from '../../clock.js';
import { isFailing, limitFailing } from './failing.js';
import { LapseSweeps } from './lapses.js';
import {
  type BegunDelivery,
  type DueSubscription,
  leaseFrom,
  type Receiver,
  type SendingChanges,
  type SendingDependencies,
  type SentEvent,
} from './sending.js';
import { type Claim, NOTHING, type Share, shareOut, together } from './shares.js';
import type { DeliveryTargets } from './targets.js';
import { ToldRarely } from './told-rarely.js';

export interface ClaimRequest {
  /** The limit of the claim. */
  freeSlots: number;
  /** Including those in use. */
  totalSlots: number;
  /** Over all workers. */
  maxRunningPerSubscription: number;
  maxWaitMs: number;
}

const TELL_OF_UNSENDABLE_EVERY_MS = 60_000;
/** A claim looks at as many subscriptions as it has slots, within bounds. The next continues there. */
const MIN_LOOKED_AT = 16;
const MAX_LOOKED_AT = 256;
/** Also the number of waiting failing subscriptions that a claim looks at first. */
const MOST_WAITING_LOOKED_AT = 64;

/** How long a claim waits before it looks again, unless it is woken. */
export interface ClaimPauses {
  /** Lapsed leases and retry delays wake no claim, and other nodes may not be able to wake this one. */
  lookMs: number;
  /** While other nodes wake this one and nothing becomes due by time. A wake may be lost. */
  notifiedMs: number;
  /** While a claim of another node has what is due. Doubled after each look, up to `lookMs`. */
  lockedMs: number;
}

const PAUSES: ClaimPauses = { lookMs: 250, notifiedMs: 1_000, lockedMs: 20 };

/** What a committed claim leaves for the next one. */
interface Round {
  /** The subscription after which the round continues. */
  after: string;
  /** Failing subscriptions that the limit kept from a slot, the longest wait first. */
  waiting: ReadonlySet<SubscriptionId>;
  /** Whether a subscription has more due than may run now. */
  heldBack: boolean;
}

/** What a write of a claim has begun. */
interface BegunRound {
  begunAt: number;
  leaseUntil: number;
  lookedAt: readonly DueSubscription[];
  /** The failing subscriptions that were looked at first. */
  waiting: readonly SubscriptionId[];
  shares: readonly Share[];
  denied: ReadonlySet<SubscriptionId>;
  /** Subscriptions that claims of other nodes have locked. */
  locked: ReadonlySet<SubscriptionId>;
  /** Slots that are still free. */
  left: number;
  served: readonly Share[];
  answers: () => Promise<[BegunDelivery[], SentEvent[]]>;
}

interface Look {
  claim: Claim;
  locked: boolean;
  /** Nothing is due, nor becomes due within `notifiedMs`. */
  quiet: boolean;
}

export class DeliveryClaims {
  /** The signal's counts at the last look. */
  #heard = 0;
  #heardHere = 0;
  #round: Round = { after: '', waiting: new Set(), heldBack: false };
  #turn: Promise<unknown> = Promise.resolve();
  readonly #sweeps: LapseSweeps;
  readonly #unsendable = new ToldRarely(TELL_OF_UNSENDABLE_EVERY_MS);

  constructor(
    private readonly dependencies: SendingDependencies,
    private readonly targets: DeliveryTargets,
    private readonly clock: Clock,
    private readonly pauses: ClaimPauses = PAUSES,
  ) {
    this.#sweeps = new LapseSweeps(dependencies, clock);
  }

  /** Waits while nothing is due, until the caller disconnects or the domain stops. */
  async claim(request: ClaimRequest, caller: AbortSignal): Promise<Claim> {
    const { deliveriesDue } = this.dependencies;
    const endsAt = performance.now() + request.maxWaitMs;
    const isOver = () => caller.aborted || deliveriesDue.closing.aborted;
    let { lockedMs } = this.pauses;
    let hasLooked = false;
    while (!isOver()) {
      await this.#sweeps.sweepIfDue(caller);
      let isWoken = false;
      const { claim, ...look } = await this.#inTurn(() => {
        isWoken = this.#heard !== deliveriesDue.count;
        return this.#claimNow(request, caller, isOver, hasLooked);
      }).catch((error) => {
        // The store refuses to write for a caller who has left.
        if (!caller.aborted) {
          if (isWoken) {
            // Wakes another claim instead.
            deliveriesDue.wake();
          }
          throw error;
        }
        return { claim: NOTHING, locked: false, quiet: false };
      });
      if (claim.deliveries.length > 0) {
        return claim;
      }
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0 && !isOver()) {
        return claim;
      }
      const { lookMs, notifiedMs } = this.pauses;
      const freeMs = look.quiet && deliveriesDue.isNotified ? notifiedMs : lookMs;
      const pauseMs = look.locked ? Math.min(lockedMs, lookMs) : freeMs;
      lockedMs = look.locked ? 2 * pauseMs : this.pauses.lockedMs;
      await deliveriesDue.news(this.#heard, Math.min(leftMs, pauseMs), caller);
      hasLooked = true;
    }
    // Passes on a wake that was not used.
    deliveriesDue.wake();
    return NOTHING;
  }

  /** Resolves when no sweep of lapsed attempts runs, and tells whether the last one ended any. */
  swept(): Promise<boolean> {
    return this.#sweeps.settled();
  }

  /**
   * Call it when the next write would see that attempts have ended, which may make room for others. A claim
   * under way is not woken: if it finds no room, it looks again before it waits.
   */
  attemptsEnded(): void {
    if (this.#round.heldBack) {
      this.dependencies.deliveriesDue.wake();
    }
  }

  /** One claim at a time: two would only wait for each other in the database, each with a connection. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work, work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Looks at all that is due. If the claim has done so before, first at what wakes have named since. */
  async #claimNow(
    request: ClaimRequest,
    caller: AbortSignal,
    isOver: () => boolean,
    hasLooked: boolean,
  ): Promise<Look> {
    const { unitOfWork, deliveriesDue } = this.dependencies;
    const { rows } = unitOfWork;
    const most = Math.max(MIN_LOOKED_AT, Math.min(request.freeSlots, MAX_LOOKED_AT));
    // A row of this node may be uncommitted: only a write is sure to see it.
    let isWokenHere = this.#heardHere !== deliveriesDue.countHere;
    this.#heardHere = deliveriesDue.countHere;
    this.#heard = deliveriesDue.count;
    const named = [...(deliveriesDue.takeNewlyDue() ?? [])];
    if (hasLooked && named.length > 0 && named.length <= most && !isOver()) {
      // Their later attempts and all else that is due are left to the next claim, whose look is complete.
      const due = named.map((id) => ({ id, hasLater: false }));
      const { claim } = await this.#begin(request, caller, async () => due, true);
      if (claim.deliveries.length > 0) {
        return { claim, locked: false, quiet: false };
      }
      isWokenHere = false;
    }
    const seen = new Set<SubscriptionId>();
    let isAnyLocked = false;
    while (!isOver()) {
      const { after } = this.#round;
      const due = isWokenHere ? undefined : await rows.dueSubscriptions(after, most, this.clock());
      if (due?.length === 0) {
        break;
      }
      isWokenHere = false;
      const look = async (changes: SendingChanges) => due ?? changes.dueSubscriptions(after, most);
      const { claim, lookedAt, locked } = await this.#begin(request, caller, look, false);
      const isNewTo = lookedAt.some(({ id }) => !seen.has(id));
      isAnyLocked ||= locked.size > 0;
      if (claim.deliveries.length > 0) {
        return { claim, locked: isAnyLocked, quiet: false };
      }
      if (!isNewTo) {
        break;
      }
      for (const { id } of lookedAt) {
        seen.add(id);
      }
    }
    return { claim: NOTHING, locked: isAnyLocked, quiet: !isOver() && (await this.#isQuiet()) };
  }

  /** Asks the database only while other nodes wake this one: otherwise the pause is short anyway. */
  async #isQuiet(): Promise<boolean> {
    const { deliveriesDue, settings, unitOfWork } = this.dependencies;
    const { notifiedMs } = this.pauses;
    // Otherwise a retry delay that begins in the pause could end in it; jitter may shorten it.
    const areDelaysLonger = Math.min(...settings.retryDelaysMs) >= 2 * notifiedMs;
    return (
      deliveriesDue.isNotified &&
      areDelaysLonger &&
      !(await unitOfWork.rows.anyDue(this.clock() + notifiedMs))
    );
  }

  async #begin(
    request: ClaimRequest,
    caller: AbortSignal,
    look: (changes: SendingChanges) => Promise<readonly DueSubscription[]>,
    isNamed: boolean,
  ): Promise<{ claim: Claim } & Pick<BegunRound, 'lookedAt' | 'locked'>> {
    const begun = await this.dependencies.unitOfWork.run(
      async (changes) => this.#beginIn(changes, request, this.#round, await look(changes)),
      { signal: caller },
    );
    return { ...begun, claim: await this.#claimOf(begun, isNamed) };
  }

  /** Changes nothing but the rows, because the write may be repeated or rolled back. */
  async #beginIn(
    changes: SendingChanges,
    request: ClaimRequest,
    round: Round,
    lookedAt: readonly DueSubscription[],
  ): Promise<BegunRound> {
    const leaseUntil = leaseFrom(changes.now, this.dependencies.settings);
    const waiting = [...round.waiting].slice(0, MOST_WAITING_LOOKED_AT);
    const inRound = lookedAt.filter(({ id }) => !waiting.includes(id));
    const candidates = [...waiting.map((id) => ({ id, hasLater: true })), ...inRound];
    const { shares, locked } = await this.#ownShares(changes, candidates, request);
    const mayPass = waiting.length === round.waiting.size;
    const denied = await limitFailing(
      changes,
      shares,
      request.totalSlots,
      (id) => mayPass || waiting.includes(id),
    );
    const left = await shareOut(changes, shares, request.freeSlots);
    const served = shares.filter(({ first, later }) => first.length + later.length > 0);
    const first = served.flatMap((share) => share.first);
    const later = served.flatMap((share) => share.later);
    const answers = await changes.withCommit(
      Promise.all([changes.begin(first, later, leaseUntil), changes.eventsOf([...first, ...later])]),
    );
    const begunAt = changes.now;
    return { begunAt, leaseUntil, lookedAt, waiting, shares, denied, locked, left, served, answers };
  }

  /**
   * After the commit. A look at named subscriptions leaves the round where it is, and does not end
   * `heldBack`, because it has not seen the others.
   */
  async #claimOf(
    { lookedAt, waiting, shares, denied, locked, left, served, ...begun }: BegunRound,
    isNamed: boolean,
  ): Promise<Claim> {
    const { unitOfWork, deliveriesDue } = this.dependencies;
    const round = this.#round;
    const [deliveries, events] = await begun.answers();
    const { claim, unfitting } = together(served, deliveries, events, begun.leaseUntil);
    if (unfitting.length > 0) {
      // If this fails, or we end before it, their leases lapse, which counts as an attempt.
      await unitOfWork
        .run((changes) => changes.takeBack(unfitting, begun.begunAt))
        .catch(this.dependencies.onNotTakenBack);
    }
    const full = left === 0 || unfitting.length > 0;
    const reached = unfitting.length > 0 ? claim.targets : served.map(({ target }) => target);
    const last = reached.findLast(({ subscriptionId }) => !waiting.includes(subscriptionId));
    const reachable = waiting.filter((id) => !locked.has(id));
    const reachedTo = full ? (last?.subscriptionId ?? round.after) : (lookedAt.at(-1)?.id ?? '');
    this.#round = {
      after: isNamed ? round.after : reachedTo,
      waiting: waitingAfter(round, reachable, shares, denied, left),
      heldBack: (isNamed && round.heldBack) || shares.some(({ room }) => room <= 0),
    };
    if (full) {
      deliveriesDue.wake();
    }
    return claim;
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
    const locked = new Set(ids);
    for (const id of own) {
      locked.delete(id);
    }
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
      const target = this.targets.of(receiver);
      return [{ receiver, target, room: maxRunning - receiver.running, later: [], first: [], ...found }];
    } catch (error) {
      if (this.#unsendable.isTime(receiver.id, this.clock())) {
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
    return { own: [], receivers: [], first: new Map() };
  }
  const present = await tryReceivers(changes, ids, limit);
  const isOver = present.own.length === 0 && (await changes.awaitClaim(first));
  return isOver ? tryReceivers(changes, ids, limit) : present;
}

interface Locked {
  own: readonly SubscriptionId[];
  receivers: readonly Receiver[];
  /** The due first attempts of each, up to the limit. */
  first: ReadonlyMap<SubscriptionId, number[]>;
}

async function tryReceivers(
  changes: SendingChanges,
  ids: readonly SubscriptionId[],
  limit: number,
): Promise<Locked> {
  const [own, receivers, first] = await Promise.all([
    changes.claimAlone(ids),
    // Statements after the locks: they see what the claims that had them before have begun.
    changes.receivers(ids),
    changes.dueFirst(ids.map((id) => ({ id, after: 0, limit }))),
  ]);
  const locked = new Set(own);
  return { own, receivers: receivers.filter(({ id }) => locked.has(id)), first };
}

/** Without those that got a slot or had nothing due for it; newly denied ones come last. */
function waitingAfter(
  round: Round,
  lookedAt: readonly SubscriptionId[],
  shares: readonly Share[],
  denied: ReadonlySet<SubscriptionId>,
  left: number,
): ReadonlySet<SubscriptionId> {
  const byId = new Map(shares.map((share) => [share.receiver.id, share]));
  const over = lookedAt.filter((id) => {
    const { room = 0, first = [], later = [] } = byId.get(id) ?? {};
    const hadNoTurn = left === 0 && room > 0 && first.length + later.length === 0;
    return !denied.has(id) && !hadNoTurn;
  });
  const waiting = new Set(round.waiting);
  for (const id of over) {
    waiting.delete(id);
  }
  for (const id of denied) {
    waiting.add(id);
  }
  return waiting;
}
