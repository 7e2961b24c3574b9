import type { SubscriptionId } from '../../../../../generated/ids.js';
import type { Begun } from './begin.js';
import type { DeliveryTarget } from './claim.js';
import { type SlotKind, wantedBy } from './shares.js';

/** What a committed claim leaves for the next one. */
export interface Round {
  /**
   * The subscription after which the round continues. Claims with only last slots have a round of their own:
   * they pass over subscriptions that wait for others.
   */
  after: Readonly<Record<SlotKind, string>>;
  /** Failing subscriptions that the limit kept from a slot, the longest wait first. */
  waiting: ReadonlySet<SubscriptionId>;
  /** Whether a subscription has more due than may run now. */
  heldBack: boolean;
  /** Whether the last claim with other slots than last ones passed over some that got none. */
  wentOn: boolean;
}

/**
 * `reached`: those that got slots. The next claim begins after the last of them if no slot is left. While
 * only last slots are left, this is so after every second claim: the others go on to those not yet seen,
 * which may use the last slots. A look at named subscriptions leaves the round where it is, and does not end
 * `heldBack`, because it has not seen the others.
 */
export function roundAfter(
  round: Round,
  begun: Begun,
  reached: readonly DeliveryTarget[],
  { isNamed, isFull }: { isNamed: boolean; isFull: boolean },
): Round {
  const { lookedAt, waiting, shares, slots, left, isShort } = begun;
  const heldBack = shares.some(({ room }) => room <= 0) || (isShort && left > 0);
  if (isNamed) {
    return { ...round, waiting: waitingAfter(round, begun), heldBack: round.heldBack || heldBack };
  }
  const areOpenTaken = slots === 'open' && isShort && reached.length > 0;
  const endsHere = isFull || (areOpenTaken && round.wentOn);
  const last = reached.findLast(({ subscriptionId }) => !waiting.includes(subscriptionId));
  const next = endsHere ? (last?.subscriptionId ?? round.after[slots]) : (lookedAt.at(-1)?.id ?? '');
  return {
    after: { ...round.after, [slots]: next },
    waiting: waitingAfter(round, begun),
    heldBack,
    wentOn: slots === 'open' ? areOpenTaken && !endsHere : round.wentOn,
  };
}

/** Without those that got a slot or had nothing due for it; newly denied ones come last. */
function waitingAfter(round: Round, { waiting, shares, denied, locked }: Begun): ReadonlySet<SubscriptionId> {
  const byId = new Map(shares.map((share) => [share.receiver.id, share]));
  const over = waiting.filter((id) => {
    const share = byId.get(id);
    const hadNoTurn = share && wantedBy(share) > 0 && share.first.length + share.later.length === 0;
    return !locked.has(id) && !denied.has(id) && !hadNoTurn;
  });
  return new Set([...round.waiting, ...denied].filter((id) => !over.includes(id)));
}
