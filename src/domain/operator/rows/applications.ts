import type { ApplicationId } from '../../../../generated/ids.js';
import type { PageRequest } from '../../directory/page.js';
import type { Versioned } from '../../version.js';
import type { SecretRows } from '../lifetime.js';

export type ApplicationType = 'confidential' | 'public';

export type GrantType = 'authorization_code' | 'refresh_token';

export type TokenAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

/** Null means the service's default. */
export interface TokenLifetimes {
  accessTokenSeconds: number | null;
  refreshTokenSeconds: number | null;
  idTokenSeconds: number | null;
  /** From the sign-in, regardless of rotations. */
  refreshFamilySeconds: number | null;
}

/** Web addresses for people; null where there is none. */
export interface ApplicationLinks {
  logoUri: string | null;
  policyUri: string | null;
  tosUri: string | null;
  /** Where signing in begins. */
  initiateLoginUri: string | null;
}

/** Where people return after a sign-in, and the only instance it is for. */
export interface RedirectUri {
  uri: string;
  instanceId: string;
}

/** An application that people sign in to; its id is the `client_id`. */
export interface Application extends Versioned, ApplicationLinks {
  id: ApplicationId;
  name: string;
  type: ApplicationType;
  enabled: boolean;
  allowedScopes: string[];
  allowedGrantTypes: GrantType[];
  requirePkce: boolean;
  firstParty: boolean;
  /** Whether a sign-out ends the tokens that the application got in that session. */
  signOutEndsTokens: boolean;
  idTokenAlgorithm: TokenAlgorithm;
  tokenLifetimes: TokenLifetimes;
  postLogoutRedirectUris: string[];
  redirectUris: RedirectUri[];
  secrets: ApplicationSecret[];
}

export interface ApplicationRows extends SecretRows {
  find(id: string): Promise<Application | undefined>;
  /** Newest first; with an instance, only those with a redirect URI for it. */
  page(page: PageRequest, instanceId: string | undefined): Promise<Application[]>;
  /** With its redirect URIs; secrets are separate. */
  insert(application: Application): Promise<void>;
  /** Everything but redirect URIs and secrets. */
  update(application: Application): Promise<void>;
  insertRedirectUri(id: ApplicationId, redirectUri: RedirectUri): Promise<void>;
  deleteRedirectUri(id: ApplicationId, uri: string): Promise<void>;
  insertSecret(id: ApplicationId, secret: ApplicationSecret, hash: Uint8Array): Promise<void>;
}

/** A credential of a confidential application, without the secret itself. */
export interface ApplicationSecret {
  id: string;
  createdAt: number;
  /** Null until a rotation sets it. */
  expiresAt: number | null;
  lastUsedAt: number | null;
}
