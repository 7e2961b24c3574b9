import type { AccountId, ApplicationId } from '../../../generated/ids.js';
import type { TokenAlgorithm } from '../operator/applications.js';

/** Signs with the key of the algorithm that is active now. */
export interface TokenSigner {
  sign(algorithm: TokenAlgorithm, type: 'JWT' | 'at+jwt', claims: Record<string, unknown>): Promise<string>;
}

/** A key as every client may know it. */
export interface PublicKey {
  kid: string;
  algorithm: TokenAlgorithm;
  /** With `kid`, `alg` and `use`. */
  jwk: Record<string, unknown>;
}

/** The public halves of the keys: those that will sign, that sign now, and those whose tokens are not over. */
export interface PublishedKeys {
  /** Whether what the key has signed still counts; withdrawn and retired ones do not. */
  isKnown(kid: string): boolean | Promise<boolean>;
  publicKeys(): Promise<{ keys: readonly PublicKey[]; maxAgeSeconds: number }>;
}

export interface IdTokenReader {
  /** What an ID token of this server says, expired or not; undefined for anything else. */
  read(idToken: string): Promise<{ accountId: AccountId; applicationId: ApplicationId } | undefined>;
}

/** Family, generation and their HMAC with a key that stands outside the database: the same again whenever it is asked for. */
export interface RefreshTokens {
  seal(grantId: string, generation: number): string;
  open(token: string): { grantId: string; generation: number } | undefined;
}

/** Ties a form to what it was shown for. */
export interface FormTokens {
  make(...parts: readonly string[]): string;
  matches(token: string, ...parts: readonly string[]): boolean;
}
