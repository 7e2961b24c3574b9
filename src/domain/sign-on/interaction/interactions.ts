import type { AccountId, ApplicationId, InstanceId } from '../../../../generated/ids.js';
import type { LoginContext } from './login-contexts.js';

export const INTERACTION_LIFETIME_MS = 3_600_000;

export type Prompt = 'login' | 'consent' | 'select_account';

/** A validated authorization request with a proven application and redirect URI. */
export interface AuthorizationRequest {
  kind: 'authorization';
  applicationId: ApplicationId;
  redirectUri: string;
  /** The instance of the redirect URI. */
  instanceId: InstanceId;
  scopes: readonly string[];
  state: string | null;
  /** In the address or a posted form. Absent in pages from before the upgrade: `query`. */
  responseMode?: 'query' | 'form_post';
  nonce: string | null;
  codeChallenge: string | null;
  prompts: readonly Prompt[];
  maxAgeSeconds: number | null;
  loginHint: string | null;
  /** The expected account, from id_token_hint or claims. */
  hintedAccountId: AccountId | null;
  /** The query that begins the authorization again, without an ID token. */
  query: string;
}

/** A sign-out that awaits confirmation. */
export interface SignOutRequest {
  kind: 'sign_out';
  applicationId: ApplicationId | null;
  /** Proven to be the application's. */
  postLogoutRedirectUri: string | null;
  state: string | null;
}

/** What the person has done in the interaction. */
export interface Progress {
  /** When they entered their password in it, for `prompt=login`. */
  signedInAt?: number;
  /** The account that did. Absent in pages from before the upgrade. */
  signedInBy?: AccountId;
  /** The address that was refused last. */
  refusedEmail?: string;
  refusal?: 'credentials' | 'no_address' | 'no_access' | 'context' | 'other_sign_in';
  /** The choice, the account that made it, and the sign-in after which it did: a new one asks again. */
  context?: LoginContext & { accountId: AccountId; authenticatedAt: number };
  /** The account that approved. */
  approvedBy?: AccountId;
}

export interface Interaction<R = AuthorizationRequest | SignOutRequest> {
  /** 16 random bytes in base64url, constant over the interaction. */
  id: string;
  /** The session in which it began or, without one, the hash of its cookie. */
  sessionId: string;
  request: R;
  progress: Progress;
  expiresAt: number;
}

/** Seals interactions into page addresses: beginning one writes nothing, so it cannot fill the store. */
export interface InteractionSeals {
  seal(interaction: Interaction): string;
  /** Undefined for text that this service has not sealed. */
  open(token: string): Interaction | undefined;
}

/** Stores only that an interaction ended, until it would have expired. */
export interface InteractionRows {
  isFinished(id: string): Promise<boolean>;
  /** One conditional statement: of concurrent ends, one returns true. */
  finish(interaction: Pick<Interaction, 'id' | 'expiresAt'>): Promise<boolean>;
}
