import { ErrorCode, ServiceError } from '../errors/service-error.js';

const LIMITS = {
  /** Long-lived calls: each may hold a message in memory without limit of time. */
  longCalls: 32,
  /** Other calls whose message has not arrived yet. */
  arrivingCalls: 512,
};

export type TokenLimits = typeof LIMITS;

type Kind = keyof TokenLimits;

/** Limits the calls of each token, so that none takes the memory of others. */
export class TokenShares {
  readonly #taken = new Map<string, Record<Kind, number>>();
  readonly #limits: TokenLimits;

  constructor(limits: Partial<TokenLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Takes a share; the returned function gives it back. */
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
