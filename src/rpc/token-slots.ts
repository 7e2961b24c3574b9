import { ErrorCode, ServiceError } from '../errors/service-error.js';
import { OwnerSlots } from '../fairness/owner-slots.js';

const LIMITS = {
  /** Long-lived calls: each may hold some messages in memory while it is open. */
  longCalls: 32,
  /** Other calls, until they end: twice as many as one connection may have. */
  calls: 512,
};

export type TokenLimits = typeof LIMITS;

/** Limits the calls of each token, so that none takes the memory of others. */
export class TokenSlots {
  readonly #slots: Record<keyof TokenLimits, OwnerSlots>;

  constructor(limits: Partial<TokenLimits> = {}) {
    const { longCalls, calls } = { ...LIMITS, ...limits };
    this.#slots = {
      longCalls: new OwnerSlots({ perOwner: longCalls }),
      calls: new OwnerSlots({ perOwner: calls }),
    };
  }

  /** Takes a slot; the returned function gives it back. */
  take(tokenId: string, kind: keyof TokenLimits): () => void {
    const slots = this.#slots[kind];
    if (!slots.take(tokenId)) {
      throw new ServiceError(
        ErrorCode.RATE_LIMITED,
        'Too many calls with this token are open at once. Please try again once some have ended.',
        { retryAfterSeconds: 1 },
      );
    }
    let isTaken = true;
    return () => {
      if (isTaken) {
        isTaken = false;
        slots.give(tokenId);
      }
    };
  }
}
