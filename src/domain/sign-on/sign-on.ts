import type { Rate, RateLimiter } from '../access/rate-limiter.js';
import type { Clock } from '../clock.js';
import type { PasswordHasher } from '../credentials/passwords.js';
import type { InteractionSeals } from './interactions.js';
import type { FormTokens, IdTokenReader, RefreshTokens, TokenSigner } from './signing.js';
import type { SignOnUnitOfWork } from './unit-of-work.js';

export interface SessionLimits {
  /** Without a request for so long, a session is over. */
  idleMs: number;
  /** So long after its sign-in, it is over in any case. */
  absoluteMs: number;
}

/** What every rule of sign-on stands on. */
export interface SignOn {
  /** As in `iss`: the public address of the sign-on server. */
  issuer: string;
  clock: Clock;
  unitOfWork: SignOnUnitOfWork;
  passwords: PasswordHasher;
  signer: TokenSigner;
  idTokens: IdTokenReader;
  refreshTokens: RefreshTokens;
  formTokens: FormTokens;
  interactionSeals: InteractionSeals;
  /** Keyed with what stands outside the database: what guesses are counted by tells nobody what was typed. */
  throttleHash(text: string): Buffer;
  sessionLimits: SessionLimits;
  /** Counts the authorizations that each network begins without being signed in. */
  strangers: RateLimiter;
  /** The same, of larger networks that may be one person's or many people's. */
  crowds: RateLimiter;
  /** Counts the passwords that each network or known browser tries, before they are counted in the database. */
  guesses: RateLimiter;
  /** Counts the authorizations and sign-ins of each person: they leave codes and audit records behind. */
  people: RateLimiter;
  /** The same over a day, which is how long these rows are kept at least. */
  peopleByDay: RateLimiter;
}

/** Ten a second: more than a large office makes at nine o'clock. */
export const STRANGERS_RATE: Rate = { limit: 600, windowMs: 60_000 };
export const CROWDS_RATE: Rate = { limit: 16 * STRANGERS_RATE.limit, windowMs: 60_000 };
/** Five a second: more sign-ins than a large office makes, and few enough writes. */
export const GUESSES_RATE: Rate = { limit: 300, windowMs: 60_000 };
/** Two a second: more than a person makes, and a browser that restores all its tabs. */
export const PEOPLE_RATE: Rate = { limit: 120, windowMs: 60_000 };
/** Applications that ask again every five minutes, seven of them all day. */
export const PEOPLE_RATE_BY_DAY: Rate = { limit: 2_000, windowMs: 24 * 3_600_000 };
