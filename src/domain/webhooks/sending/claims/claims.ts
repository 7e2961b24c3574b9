import type { SubscriptionId } from '../../../../../generated/ids.js';
import { LapseSweeps } from '../lapses.js';
import type { DueSubscription, SendingChanges, SendingDependencies } from '../sending.js';
import { AttemptBeginnings, type Begun } from './begin.js';
import { type Claim, type ClaimRequest, NOTHING, together } from './claim.js';
import { type Round, roundAfter } from './round.js';
import { slotKindOf } from './shares.js';

/** Bounds for how many subscriptions a claim looks at. The next claim continues after them. */
const MIN_LOOKED_AT = 16;
const MAX_LOOKED_AT = 256;

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

interface Call {
  request: ClaimRequest;
  caller: AbortSignal;
  /** Whether the caller has left or the domain stops. */
  isOver(): boolean;
  /** Whether attempts have ended since the call, so that the caller may have more free slots by now. */
  mayHaveMore(): boolean;
}

interface Look {
  claim: Claim;
  locked?: boolean;
  /** Slots are free, but not for what is due. */
  unsuited?: boolean;
  /** Nothing is due, nor becomes due within `notifiedMs`. */
  quiet?: boolean;
}

export class DeliveryClaims {
  /** The signal's counts at the last look. */
  #heard = 0;
  #heardHere = 0;
  /** How often attempts have ended. */
  #endings = 0;
  #round: Round = { after: { open: '', last: '' }, waiting: new Set(), heldBack: false, wentOn: false };
  #turn: Promise<unknown> = Promise.resolve();
  readonly #sweeps: LapseSweeps;
  readonly #beginnings: AttemptBeginnings;

  constructor(
    private readonly dependencies: SendingDependencies,
    private readonly pauses: ClaimPauses = PAUSES,
  ) {
    this.#sweeps = new LapseSweeps(dependencies);
    this.#beginnings = new AttemptBeginnings(dependencies);
  }

  /**
   * Waits while nothing is due, until the caller disconnects or the domain stops. If the free slots may not
   * be used for what is due, returns nothing as soon as attempts end: the caller may then have more of them.
   */
  async claim(request: ClaimRequest, caller: AbortSignal): Promise<Claim> {
    const { deliveriesDue } = this.dependencies;
    const { lookMs, notifiedMs } = this.pauses;
    const endsAt = performance.now() + request.maxWaitMs;
    const isOver = () => caller.aborted || deliveriesDue.closing.aborted;
    const endings = this.#endings;
    const call = { request, caller, isOver, mayHaveMore: () => endings !== this.#endings };
    let { lockedMs } = this.pauses;
    // No wake caused the first look, so there is none to pass on.
    let wasUnsuited: boolean | undefined = true;
    for (let hasLooked = false; !isOver(); hasLooked = true) {
      await this.#sweeps.sweepIfDue(caller);
      const { claim, locked, unsuited, quiet } = await this.#inTurn(() => this.#look(call, hasLooked));
      if (unsuited && !wasUnsuited) {
        deliveriesDue.passOn();
      }
      // A look at what another claim has locked tells nothing of the slots.
      wasUnsuited = unsuited || (locked && wasUnsuited);
      const leftMs = endsAt - performance.now();
      const isDone = leftMs <= 0 || (unsuited && call.mayHaveMore());
      if (claim.deliveries.length > 0 || (isDone && !isOver())) {
        return claim;
      }
      const freeMs = quiet && deliveriesDue.isNotified ? notifiedMs : lookMs;
      const pauseMs = locked ? Math.min(lockedMs, lookMs) : freeMs;
      lockedMs = locked ? 2 * pauseMs : this.pauses.lockedMs;
      await deliveriesDue.news(this.#heard, Math.min(leftMs, pauseMs), caller, wasUnsuited);
      if (unsuited && call.mayHaveMore() && !isOver()) {
        return NOTHING;
      }
    }
    // Passes on a wake that was not used.
    deliveriesDue.wake();
    return NOTHING;
  }

  /** Resolves when no sweep of lapsed attempts runs, and tells whether the last one ended any. */
  swept(): Promise<boolean> {
    return this.#sweeps.settled();
  }

  /** Call it when the next write would see that attempts have ended, which may make room for others. */
  attemptsEnded(): void {
    const { deliveriesDue } = this.dependencies;
    this.#endings += 1;
    deliveriesDue.wakeUnsuited();
    if (this.#round.heldBack) {
      deliveriesDue.wake();
    }
  }

  /** One claim at a time: two would only wait for each other in the database, each with a connection. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work, work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Looks at all that is due. If the claim has done so before, first at what wakes have named since. */
  async #look(call: Call, hasLooked: boolean): Promise<Look> {
    const { deliveriesDue } = this.dependencies;
    const isWoken = this.#heard !== deliveriesDue.count;
    const isWokenHere = this.#heardHere !== deliveriesDue.countHere;
    this.#heard = deliveriesDue.count;
    this.#heardHere = deliveriesDue.countHere;
    const named = [...(deliveriesDue.takeNewlyDue() ?? [])];
    const isNamed =
      hasLooked && named.length > 0 && named.length <= mostLookedAt(call.request) && !call.isOver();
    try {
      const claim = isNamed ? await this.#claimNamed(call, named) : NOTHING;
      return claim.deliveries.length > 0 ? { claim } : await this.#claimAny(call, isWokenHere && !isNamed);
    } catch (error) {
      // The store refuses to write for a caller who has left.
      if (call.caller.aborted) {
        return { claim: NOTHING };
      }
      if (isWoken) {
        // Wakes another claim instead.
        deliveriesDue.wake();
      }
      throw error;
    }
  }

  /**
   * Looks at these subscriptions only. The next claim looks at everything that is due, later attempts
   * included.
   */
  async #claimNamed(call: Call, named: readonly SubscriptionId[]): Promise<Claim> {
    const due = named.map((id) => ({ id, hasLater: false }));
    return (await this.#begin(call, async () => due, true)).claim;
  }

  /**
   * Goes round all that is due until something can be sent. With `firstInWrite`, the first look is part of
   * its write: a row of this node may be uncommitted, and only a write is sure to see it.
   */
  async #claimAny(call: Call, firstInWrite: boolean): Promise<Look> {
    const { rows } = this.dependencies.unitOfWork;
    const most = mostLookedAt(call.request);
    const seen = new Set<SubscriptionId>();
    let isInWrite = firstInWrite;
    let locked = false;
    let unsuited = false;
    for (let isNew = true; isNew && !call.isOver() && !(unsuited && call.mayHaveMore()); isInWrite = false) {
      const after = this.#round.after[slotKindOf(call.request)];
      const due = isInWrite ? undefined : await rows.dueSubscriptions(after, most, this.dependencies.clock());
      if (due?.length === 0) {
        break;
      }
      const look = async (changes: SendingChanges) => due ?? changes.dueSubscriptions(after, most);
      const begun = await this.#begin(call, look, false);
      if (begun.claim.deliveries.length > 0) {
        return { claim: begun.claim };
      }
      locked ||= begun.locked.size > 0;
      unsuited ||= begun.isShort;
      isNew = begun.lookedAt.some(({ id }) => !seen.has(id));
      for (const { id } of begun.lookedAt) {
        seen.add(id);
      }
    }
    const quiet = !unsuited && !call.isOver() && (await this.#isQuiet());
    return { claim: NOTHING, locked, unsuited, quiet };
  }

  /** Asks the database only while other nodes wake this one: otherwise the pause is short anyway. */
  async #isQuiet(): Promise<boolean> {
    const { deliveriesDue, settings, unitOfWork } = this.dependencies;
    const { notifiedMs } = this.pauses;
    // A retry delay shorter than the pause could begin and end within it. Factor two, because jitter shortens
    // delays.
    const areDelaysLonger = Math.min(...settings.retryDelaysMs) >= 2 * notifiedMs;
    return (
      deliveriesDue.isNotified &&
      areDelaysLonger &&
      !(await unitOfWork.rows.anyDue(this.dependencies.clock() + notifiedMs))
    );
  }

  /** Begins attempts in one write, and notes after its commit what it leaves for the next. */
  async #begin(
    { request, caller }: Call,
    look: (changes: SendingChanges) => Promise<readonly DueSubscription[]>,
    isNamed: boolean,
  ): Promise<{ claim: Claim } & Pick<Begun, 'lookedAt' | 'locked' | 'isShort'>> {
    const { unitOfWork, deliveriesDue, onNotTakenBack } = this.dependencies;
    const begun = await unitOfWork.run(
      async (changes) => this.#beginnings.begin(changes, request, this.#round.waiting, await look(changes)),
      { signal: caller },
    );
    const { begunAt, leaseUntil, lookedAt, shares, locked, isShort, answers } = begun;
    const [deliveries, events] = await answers();
    const { claim, unfitting } = together(shares, deliveries, events, leaseUntil);
    // A caller who left during the commit gets no answer.
    const hasLeft = caller.aborted;
    const untaken = hasLeft ? deliveries.map(({ seq }) => seq) : unfitting;
    if (untaken.length > 0) {
      // If this fails, or we end before it, their leases lapse, which counts as an attempt.
      await unitOfWork.run((changes) => changes.takeBack(untaken, begunAt)).catch(onNotTakenBack);
    }
    if (hasLeft) {
      return { claim: NOTHING, lookedAt, locked, isShort };
    }
    const isFull = begun.left === 0 || unfitting.length > 0;
    const reached = unfitting.length > 0 ? claim.targets : begun.reached.map(({ target }) => target);
    this.#round = roundAfter(this.#round, begun, reached, { isNamed, isFull });
    if (isFull || (isShort && deliveries.length > 0)) {
      // Another claim may have slots for what this one leaves.
      deliveriesDue.wake();
    }
    return { claim, lookedAt, locked, isShort };
  }
}

/** As many subscriptions as the claim has slots, within bounds. */
function mostLookedAt({ freeSlots }: ClaimRequest): number {
  return Math.max(MIN_LOOKED_AT, Math.min(freeSlots, MAX_LOOKED_AT));
}
