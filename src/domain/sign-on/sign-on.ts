import type { CallLimiter, Rate, RateLimiter } from '../access/rate-limiter.js';
import type { Clock } from '../clock.js';
import type { PasswordHasher } from '../credentials/passwords.js';
import type { Observe } from '../operator/audit.js';
import type { InteractionSeals } from './interaction/interactions.js';
import type { FormTokens, RefreshTokens, TokenKeys } from './keys/signing.js';
import type { SignOnUnitOfWork } from './unit-of-work.js';

export interface SessionLimits {
  /** A session ends after this long without a step in a sign-in; pages shown or denied do not count. */
  idleMs: number;
  /** A session ends this long after its sign-in. */
  absoluteMs: number;
}

/** The dependencies of all sign-on rules. */
export interface SignOn {
  /** As in `iss`: the public address of the sign-on server. */
  issuer: string;
  clock: Clock;
  unitOfWork: SignOnUnitOfWork;
  passwords: PasswordHasher;
  keys: TokenKeys;
  refreshTokens: RefreshTokens;
  formTokens: FormTokens;
  interactionSeals: InteractionSeals;
  /** Keyed with a key outside the database, so that counters do not disclose what was typed. */
  throttleHash(text: string): Buffer;
  sessionLimits: SessionLimits;
  /** Counts authorizations per network without a sign-in. */
  strangers: CallLimiter;
  /** The same for larger networks, which may be one person or many. */
  crowds: CallLimiter;
  /** Counts authorizations per browser with a cookie and without a sign-in; each node has its own limit. */
  browsers: CallLimiter;
  /** Counts passwords per network, known browser, person in known browsers (also at a network), and link. */
  guesses: CallLimiter;
  /** Counts authorizations per person and, apart, sign-ins: both leave codes and audit records. */
  people: CallLimiter;
  /** The same per day, the least time for which these rows are kept. */
  peopleByDay: CallLimiter;
  /** Counts the refusals that get an audit record of their own; each node has its own limit. */
  refusalRecords: Pick<RateLimiter, 'take'>;
  /** Counts refusals that have no record of their own. */
  observe: Observe;
  /** Reports a failure of the service that the application is told by redirect. */
  onFault: (requestId: string, fault: unknown) => void;
}

/** The dependencies for answering applications. */
export interface TokenIssuer extends SignOn {
  /** Counts wrong client secrets per network. */
  wrongSecrets: CallLimiter;
  /** Reports lost notes of last use. */
  onBackgroundError: (error: unknown) => void;
}

/** The rates of the limiters of the same names. */
export const RATES = {
  /** Ten a second: more than a large office at nine o'clock. */
  strangers: { limit: 600, windowMs: 60_000 },
  crowds: { limit: 16 * 600, windowMs: 60_000 },
  /** One a second: more than a person begins; ten such browsers use up the limit of their network. */
  browsers: { limit: 60, windowMs: 60_000 },
  /** Five a second: more sign-ins than a large office makes, and few enough writes. */
  guesses: { limit: 300, windowMs: 60_000 },
  /** Two a second: more than a person makes, and a browser that restores all its tabs. */
  people: { limit: 120, windowMs: 60_000 },
  /** Seven applications that ask every five minutes, all day. */
  peopleByDay: { limit: 2_000, windowMs: 24 * 3_600_000 },
  /** Each is kept for a year. A node that is not attacked refuses fewer passwords. */
  refusalRecords: { limit: 60, windowMs: 60_000 },
  /** Beyond it, wrong secrets get a time to retry; right ones always pass. */
  wrongSecrets: { limit: 60, windowMs: 60_000 },
} satisfies Record<string, Rate>;
