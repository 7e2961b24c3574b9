import type { SubscriptionId } from '../../../../../generated/ids.js';
import type { Begun } from './begin.js';
import type { DeliveryTarget } from './claim.js';
import { type SlotKind, wantedBy } from './shares.js';

/** What a committed claim leaves for the next one. */
export interface Round {
  /**
   * The subscription after which the round continues. Claims with only last slots have a round of their own:
   * they pass over subscriptions that wait for open ones.
   */
  after: Readonly<Record<SlotKind, string>>;
  /** Failing subscriptions that the limit kept from a slot, the longest wait first. */
  waiting: ReadonlySet<SubscriptionId>;
  /** Whether a subscription has more due than may run now. */
  heldBack: boolean;
  /** Whether the last claim with open slots passed over subscriptions that got none. */
  wentOn: boolean;
}

/**
 * `reached`: the subscriptions that got slots. If no slot is left, the next claim begins after the last of
 * them. If only last slots are left, so does every second claim; the others continue with subscriptions that
 * were not looked at yet and may be allowed the last slots. A claim for named subscriptions does not move the
 * round, and does not clear `heldBack`, because it has not looked at the others.
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
