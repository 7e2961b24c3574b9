import type { AccountId, ApplicationId } from '../../../../generated/ids.js';
import type { TokenAlgorithm } from '../../operator/rows/applications.js';
import type { KeyMaterial } from './signing-keys.js';

/** As long as a form may be: an ID token names all clients of the person. */
export const MAX_ID_TOKEN_LENGTH = 65_536;

/** The content of an ID token of this server. */
export interface ReadIdToken {
  accountId: AccountId;
  applicationId: ApplicationId;
  issuedAtSeconds: number;
}

export type PublicKey = Pick<KeyMaterial, 'kid' | 'algorithm' | 'publicJwk'>;

/** The keys of this server's tokens. */
export interface TokenKeys {
  /** Signs with the active key of the algorithm. */
  sign(algorithm: TokenAlgorithm, type: 'JWT' | 'at+jwt', claims: Record<string, unknown>): Promise<string>;
  /** Reads an ID token, also an expired one; undefined for anything else. */
  read(idToken: string): Promise<ReadIdToken | undefined>;
  /** Whether signatures of the key still count; not those of withdrawn and retired ones. */
  isKnown(kid: string): boolean | Promise<boolean>;
  /**
   * Future, active and superseded ones with unexpired tokens. With the id of a key that is wanted: also one
   * that another node has just made.
   */
  publicKeys(wantedKid?: string): Promise<{ keys: readonly PublicKey[]; maxAgeSeconds: number }>;
}

/** Family, generation and an HMAC with a key outside the database: deterministic. */
export interface RefreshTokens {
  seal(grantId: string, generation: number): string;
  open(token: string): { grantId: string; generation: number } | undefined;
}

/** Binds a form to the state it was shown for. */
export interface FormTokens {
  make(...parts: readonly string[]): string;
  matches(token: string, ...parts: readonly string[]): boolean;
}
