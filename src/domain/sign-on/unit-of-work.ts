import type { CredentialRows } from '../credentials/end-access.js';
import type { Changes, WriteOrigin } from '../platform/unit-of-work.js';
import type { KnownApplicationRows } from './applications.js';
import type { AttemptRows } from './attempts.js';
import type { CodeMinutes, CodeRows } from './codes.js';
import type { ConsentRows } from './consents.js';
import type { IdentityRows } from './identity.js';
import type { InteractionRows } from './interactions.js';
import type { LoginContextRows } from './login-contexts.js';
import type { SigningKeyRows } from './signing-keys.js';

/** Everything that signing in looks at. */
export interface SignOnRows extends CredentialRows {
  readonly applications: KnownApplicationRows;
  readonly identities: IdentityRows;
  readonly interactions: InteractionRows;
  readonly consents: ConsentRows;
  readonly loginContexts: LoginContextRows;
  readonly codes: CodeRows;
  readonly codeMinutes: CodeMinutes;
  readonly attempts: AttemptRows;
  readonly signingKeys: SigningKeyRows;
}

/** Everything that one step of signing in may touch, inside its one transaction. */
export interface SignOnChanges extends Changes, SignOnRows {}

export interface SignOnUnitOfWork {
  /** One transaction: all of the work or none. Nothing but the changes may be awaited inside. */
  run<T>(work: (changes: SignOnChanges) => Promise<T>, origin?: WriteOrigin): Promise<T>;
  /** What is committed, without a transaction. */
  readonly rows: SignOnRows & Pick<Changes, 'instances' | 'accounts' | 'clients'>;
}
