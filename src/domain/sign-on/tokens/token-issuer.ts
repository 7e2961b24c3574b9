import type { CallLimiter, Rate } from '../../access/rate-limiter.js';
import type { Observe } from '../../operator/audit.js';
import type { PublishedKeys } from '../keys/signing.js';
import type { SignOn } from '../sign-on.js';

/** The dependencies for answering applications. */
export interface TokenIssuer extends SignOn {
  keys: PublishedKeys;
  /** Counts wrong client secrets per network. */
  wrongSecrets: CallLimiter;
  /** Reports lost notes of last use. */
  onBackgroundError: (error: unknown) => void;
  /** Observes refused secrets and reused refresh tokens. */
  observe: Observe;
}

/** Beyond it, wrong secrets get a time to retry; right ones always pass. */
export const WRONG_SECRETS_RATE: Rate = { limit: 60, windowMs: 60_000 };
