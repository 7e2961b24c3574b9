import type { Rate, RateLimiter } from '../access/rate-limiter.js';
import type { Observe } from '../operator/audit.js';
import type { SignOn } from './sign-on.js';
import type { PublishedKeys } from './signing.js';

/** What answering applications takes besides what signing people in takes. */
export interface TokenIssuer extends SignOn {
  keys: PublishedKeys;
  /** Counts the wrong secrets that came from each network. */
  wrongSecrets: RateLimiter;
  /** Hears of notes that were lost and that nobody waits for. */
  onBackgroundError: (error: unknown) => void;
  /** Hears of refused secrets and of refresh tokens that were shown again. */
  observe: Observe;
}

/** Beyond it, wrong secrets are answered with when to come back; right ones never are. */
export const WRONG_SECRETS_RATE: Rate = { limit: 60, windowMs: 60_000 };
