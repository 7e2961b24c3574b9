import type { SubscriptionId } from '../../../generated/ids.js';
import type { Clock } from '../clock.js';
import { type Claim, NOTHING, type Share, shareOut, together } from './claims-shares.js';
import { leaseFrom, type Receiver, type SendingChanges, type SendingDependencies } from './sending.js';
import { recordLapsed } from './sending-lapses.js';
import type { DeliveryTargets } from './sending-targets.js';
import { ToldRarely } from './told-rarely.js';

export interface ClaimRequest {
  /** At most so many are claimed, so that a crash burns no more. */
  freeSlots: number;
  /** With those in use. */
  totalSlots: number;
  /** Over all workers. */
  maxRunningPerSubscription: number;
  maxWaitMs: number;
}

/** Nobody tells of what another node has recorded, nor of a lease that lapsed. */
const LOOK_EVERY_MS = 250;
const SWEEP_EVERY_MS = 1_000;
const TELL_OF_UNSENDABLE_EVERY_MS = 60_000;
const MAX_SWEPT_AT_ONCE = 500;
/** So many attempts are enough to see whether a subscriber that fails is back. */
const LEAST_RUNNING_WHILE_FAILING = 4;
/** Beyond that they share so much of all slots, which is plenty where they fail soon, and where they hang leaves the rest to the others. */
const PART_FOR_FAILING = 1 / 8;
/** A claim looks at so many subscriptions as it has slots, within bounds; the next one goes on behind them. */
const MIN_LOOKED_AT = 16;
const MAX_LOOKED_AT = 256;

export class DeliveryClaims {
  /** As much as had been told of when a claim last looked. */
  #heard = 0;
  /** Where the round of the subscriptions goes on. */
  #after = '';
  #turn: Promise<unknown> = Promise.resolve();
  #sweptAt = Number.NEGATIVE_INFINITY;
  /** Whether some subscription has more due than may run to it now. */
  #heldBack = false;
  readonly #unsendable = new ToldRarely(TELL_OF_UNSENDABLE_EVERY_MS);

  constructor(
    private readonly dependencies: SendingDependencies,
    private readonly targets: DeliveryTargets,
    private readonly clock: Clock,
  ) {}

  /** Waits while nothing is due, until the caller has gone or nothing more is handed out. */
  async claim(request: ClaimRequest, caller: AbortSignal): Promise<Claim> {
    const { deliveriesDue } = this.dependencies;
    const endsAt = performance.now() + request.maxWaitMs;
    for (;;) {
      if (caller.aborted || deliveriesDue.closing.aborted) {
        // It may have been woken for nothing.
        deliveriesDue.wake();
        return NOTHING;
      }
      const claim = await this.#inTurn(() => this.#claimNow(request, caller));
      const leftMs = endsAt - performance.now();
      if (claim.deliveries.length > 0 || leftMs <= 0) {
        return claim;
      }
      await deliveriesDue.news(this.#heard, Math.min(leftMs, LOOK_EVERY_MS), caller);
    }
  }

  /** After attempts have ended: those that were held back may have room now. */
  attemptsEnded(): void {
    if (this.#heldBack) {
      this.dependencies.deliveriesDue.wake();
    }
  }

  /** One claim at a time: two would only wait for each other in the database, each with a connection of its own. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work, work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #claimNow(request: ClaimRequest, caller: AbortSignal): Promise<Claim> {
    const { unitOfWork, deliveriesDue } = this.dependencies;
    await this.#sweep();
    // What is told of need not be committed yet: only a write is sure to find it.
    let isTold = this.#heard !== deliveriesDue.count;
    this.#heard = deliveriesDue.count;
    const seen = new Set<SubscriptionId>();
    while (!caller.aborted && (isTold || (await unitOfWork.rows.anyDue()))) {
      isTold = false;
      const { claim, lookedAt, full } = await unitOfWork.run((changes) => this.#claimIn(changes, request));
      if (full) {
        // There may be more than one could take.
        deliveriesDue.wake();
      }
      const isNewTo = lookedAt.some((id) => !seen.has(id));
      if (claim.deliveries.length > 0 || !isNewTo) {
        return claim;
      }
      for (const id of lookedAt) {
        seen.add(id);
      }
    }
    return NOTHING;
  }

  async #claimIn(
    changes: SendingChanges,
    request: ClaimRequest,
  ): Promise<{ claim: Claim; lookedAt: SubscriptionId[]; full: boolean }> {
    await changes.claimAlone();
    const leaseUntil = leaseFrom(changes.now, this.dependencies.settings);
    const lookedAt = await this.#nextInRound(changes, request);
    const receivers = await changes.receivers(lookedAt);
    const byId = new Map(receivers.map((receiver) => [receiver.id, receiver]));
    const spare = await spareForFailing(changes, receivers, request);
    const shares = lookedAt.flatMap((id) =>
      this.#shareOf(byId.get(id), request.maxRunningPerSubscription, spare),
    );
    const left = await shareOut(changes, shares, request.freeSlots);
    this.#heldBack = shares.some(({ room }) => room <= 0);
    const served = shares.filter(({ due }) => due.length > 0);
    const begun = await changes.beginFirst(
      served.flatMap(({ due }) => due),
      leaseUntil,
    );
    const events = await changes.events([...new Set(begun.map(({ eventSeq }) => eventSeq))]);
    const { claim, unfitting } = together(served, begun, events, leaseUntil);
    await changes.takeBack(unfitting);
    const full = left === 0 || unfitting.length > 0;
    const last = unfitting.length > 0 ? claim.targets.at(-1)?.subscriptionId : served.at(-1)?.receiver.id;
    this.#after = (full ? last : lookedAt.at(-1)) ?? '';
    return { claim, lookedAt, full };
  }

  /** Those with deliveries that are due, from where the last claim ended, and on from the first one. */
  async #nextInRound(changes: SendingChanges, { freeSlots }: ClaimRequest): Promise<SubscriptionId[]> {
    const most = Math.max(MIN_LOOKED_AT, Math.min(freeSlots, MAX_LOOKED_AT));
    const behind = await changes.dueSubscriptions(this.#after, most);
    if (this.#after === '' || behind.length === most) {
      return behind;
    }
    const first = await changes.dueSubscriptions('', most - behind.length);
    return [...behind, ...first.filter((id) => id <= this.#after)];
  }

  #shareOf(receiver: Receiver | undefined, maxRunning: number, spareForFailing: number): Share[] {
    if (!receiver) {
      return [];
    }
    const whileFailing = Math.max(LEAST_RUNNING_WHILE_FAILING, receiver.running + spareForFailing);
    const limit = isFailing(receiver) ? Math.min(maxRunning, whileFailing) : maxRunning;
    try {
      const target = this.targets.of(receiver);
      return [{ receiver, target, room: limit - receiver.running, due: [] }];
    } catch (error) {
      if (this.#unsendable.isTime(receiver.id, this.clock())) {
        this.dependencies.onUnsendable(receiver.id, error);
      }
      return [];
    }
  }

  async #sweep(): Promise<void> {
    const now = this.clock();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) {
      return;
    }
    this.#sweptAt = now;
    const lapsed = await this.dependencies.unitOfWork.rows.lapsed(now, MAX_SWEPT_AT_ONCE);
    if (lapsed.length > 0) {
      await recordLapsed(this.dependencies, lapsed);
    }
  }
}

/** How many more attempts may begin to each of those that fail, beside what runs already to all that do. */
async function spareForFailing(
  changes: SendingChanges,
  receivers: readonly Receiver[],
  { totalSlots }: ClaimRequest,
): Promise<number> {
  const failing = receivers.filter(isFailing).length;
  if (failing === 0) {
    return 0;
  }
  const spare = totalSlots * PART_FOR_FAILING - (await changes.runningToFailing());
  return Math.max(0, Math.floor(spare / failing));
}

function isFailing({ failingSince }: Receiver): boolean {
  return failingSince !== null;
}
