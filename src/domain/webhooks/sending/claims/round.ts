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
}

/**
 * `reached`: those that got slots, if all that others may have are taken. A look at named subscriptions
 * leaves the round where it is, and does not end `heldBack`, because it has not seen the others.
 */
export function roundAfter(
  round: Round,
  begun: Begun,
  reached: readonly DeliveryTarget[] | undefined,
  isNamed: boolean,
): Round {
  const { lookedAt, waiting, shares, slots, left, isShort } = begun;
  const last = reached?.findLast(({ subscriptionId }) => !waiting.includes(subscriptionId));
  const reachedTo = reached ? (last?.subscriptionId ?? round.after[slots]) : (lookedAt.at(-1)?.id ?? '');
  return {
    after: isNamed ? round.after : { ...round.after, [slots]: reachedTo },
    waiting: waitingAfter(round, begun),
    heldBack: (isNamed && round.heldBack) || shares.some(({ room }) => room <= 0) || (isShort && left > 0),
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
