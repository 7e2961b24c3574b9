import type { AccountId, ApplicationId, InstanceId } from '../../../generated/ids.js';
import type { RequestedClaims } from './codes.js';
import type { LoginContext } from './login-contexts.js';

export const INTERACTION_LIFETIME_MS = 3_600_000;

export type Prompt = 'login' | 'consent' | 'select_account';

/** An authorization request after all checks: the application and the redirect URI are proven, everything else is in order. */
export interface AuthorizationRequest {
  kind: 'authorization';
  applicationId: ApplicationId;
  redirectUri: string;
  /** The one that the redirect URI belongs to. */
  instanceId: InstanceId;
  scopes: readonly string[];
  state: string | null;
  nonce: string | null;
  codeChallenge: string | null;
  prompts: readonly Prompt[];
  maxAgeSeconds: number | null;
  loginHint: string | null;
  /** Whom the application expects, from its id_token_hint or its claims. */
  hintedAccountId: AccountId | null;
  requestedClaims: RequestedClaims;
  /** The query with which the same authorization begins anew. It carries no ID token. */
  query: string;
}

/** A sign-out that waits for the person to confirm it. */
export interface SignOutRequest {
  kind: 'sign_out';
  applicationId: ApplicationId | null;
  /** Proven to be the application's. */
  postLogoutRedirectUri: string | null;
  state: string | null;
}

/** What the person has done since the request came. */
export interface Progress {
  /** When they gave their password in this interaction: what `prompt=login` asks for. */
  signedInAt?: number;
  /** What they typed as their address the last time it was refused. */
  refusedEmail?: string;
  refusal?: 'credentials' | 'no_access' | 'context';
  /** The choice, and whose it was. */
  context?: LoginContext & { accountId: AccountId };
  /** Whose approval it was. */
  approvedBy?: AccountId;
}

export interface Interaction<R = AuthorizationRequest | SignOutRequest> {
  /** 16 random bytes in base64url; it stays the same while the progress changes. */
  id: string;
  /** The session of the browser it began in; without one, the hash of its cookie. */
  sessionId: string;
  request: R;
  progress: Progress;
  expiresAt: number;
}

/**
 * An interaction travels in the address of its page, encrypted and bound to this service: beginning one writes nothing, so callers cannot fill the store with them.
 */
export interface InteractionSeals {
  seal(interaction: Interaction): string;
  /** Undefined for what this service has not sealed. */
  open(token: string): Interaction | undefined;
}

/** Only how an interaction ended is kept, until it would have expired. */
export interface InteractionRows {
  isFinished(id: string): Promise<boolean>;
  /** One conditional statement: of several ends at once, one hears yes. */
  finish(interaction: Pick<Interaction, 'id' | 'expiresAt'>): Promise<boolean>;
}
