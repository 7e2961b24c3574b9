import { ErrorCode, ServiceError } from '../errors/service-error.js';

export interface TokenLimits {
  /** Calls that stay open: each may keep a message in memory that never ends. */
  longCalls: number;
  /** Other calls of which the message has not come yet. */
  arrivingCalls: number;
}

export const TOKEN_LIMITS: TokenLimits = { longCalls: 32, arrivingCalls: 512 };

type Kind = keyof TokenLimits;

/** What each token has under way, so that none takes the memory that others need. */
export class TokenShares {
  readonly #taken = new Map<string, Record<Kind, number>>();
  readonly #limits: TokenLimits;

  constructor(limits: Partial<TokenLimits> = {}) {
    this.#limits = { ...TOKEN_LIMITS, ...limits };
  }

  /** Gives back what it took when the answer is called. */
  take(tokenId: string, kind: Kind): () => void {
    const taken = this.#taken.get(tokenId) ?? { longCalls: 0, arrivingCalls: 0 };
    if (taken[kind] >= this.#limits[kind]) {
      throw new ServiceError(
        ErrorCode.RATE_LIMITED,
        'Too many calls with this token are open at once. Please try again once some have ended.',
        { retryAfterSeconds: 1 },
      );
    }
    this.#taken.set(tokenId, taken);
    taken[kind] += 1;
    let isTaken = true;
    return () => {
      if (isTaken) {
        isTaken = false;
        taken[kind] -= 1;
        if (taken.longCalls + taken.arrivingCalls === 0) {
          this.#taken.delete(tokenId);
        }
      }
    };
  }
}
