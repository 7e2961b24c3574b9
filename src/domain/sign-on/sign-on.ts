import type { AccountId } from '../../../generated/ids.js';
import type { CallLimiter, Rate, RateLimiter } from '../access/rate-limiter.js';
import type { Clock } from '../clock.js';
import type { PasswordHasher } from '../credentials/passwords.js';
import type { Observe } from '../operator/audit.js';
import type { MarkUsed } from '../operator/lifetime.js';
import type { Application, ApplicationSecret } from '../operator/rows/applications.js';
import type { Changes, PlatformRows } from '../platform/unit-of-work.js';
import type { UnitOfWork } from '../unit-of-work.js';
import type { CodeMinutes, CodeRows } from './authorization/codes.js';
import type { IdentityRows } from './identity.js';
import type { InteractionRows, InteractionSeals } from './interaction/interactions.js';
import type { LoginContextRows } from './interaction/login-contexts.js';
import type { FormTokens, RefreshTokens, TokenKeys } from './keys/signing.js';
import type { SigningKeyRows } from './keys/signing-keys.js';
import type { AttemptRows } from './sessions/attempts.js';
import type { Entrance } from './sessions/browser.js';

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

export interface SignOnRows extends PlatformRows {
  readonly applications: KnownApplicationRows;
  readonly identities: IdentityRows;
  readonly interactions: InteractionRows;
  readonly loginContexts: LoginContextRows;
  readonly codes: CodeRows;
  readonly codeMinutes: CodeMinutes;
  readonly attempts: AttemptRows;
  readonly signingKeys: SigningKeyRows;
}

/** Some of these rows, read outside or inside a write, and the time of the read. */
export type RowsAt<Name extends keyof SignOnRows> = Pick<SignOnRows, Name> & { now: number };

/** All rows that one step of sign-on may change, in its transaction. */
export interface SignOnChanges extends Changes, SignOnRows {}

export type SignOnUnitOfWork = UnitOfWork<SignOnChanges, SignOnRows>;

export interface KnownSecret extends ApplicationSecret {
  /** SHA-256 of the secret, in base64url. */
  hash: string;
}

/** An application with its secrets, to authenticate it. */
export interface KnownApplication extends Application {
  secrets: KnownSecret[];
}

export interface KnownApplicationRows {
  find(id: string): Promise<KnownApplication | undefined>;
  /** Enabled ones on instances that admit the person; first those that say where signing in begins. */
  entrancesOf(accountId: AccountId, limit: number): Promise<Entrance[]>;
  markSecretUsed: MarkUsed;
}
