import type { Changes, PlatformRows } from '../platform/unit-of-work.js';
import type { UnitOfWork } from '../unit-of-work.js';
import type { KnownApplicationRows } from './applications.js';
import type { CodeMinutes, CodeRows } from './authorization/codes.js';
import type { IdentityRows } from './identity.js';
import type { InteractionRows } from './interaction/interactions.js';
import type { LoginContextRows } from './interaction/login-contexts.js';
import type { SigningKeyRows } from './keys/signing-keys.js';
import type { AttemptRows } from './sessions/attempts.js';

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
