import { createHash } from 'node:crypto';
import { randomBase62 } from '../../../identifiers/base62.js';
import type { Grant } from '../../credentials/access.js';
import type { Application, TokenAlgorithm, TokenLifetimes } from '../../operator/rows/applications.js';
import type { AuthorizationCode } from '../authorization/codes.js';
import { CONTEXT_CLASS } from '../authorization/requested-claims.js';
import type { AdmittedPerson } from '../identity.js';
import type { TokenIssuer } from '../sign-on.js';
import { identityClaims } from './claims.js';

/** The answer of the token endpoint. */
export interface IssuedTokens {
  accessToken: string;
  expiresInSeconds: number;
  refreshToken?: string;
  idToken?: string;
  scope: string;
}

const TOKEN_ID_LENGTH = 22;

interface AccessTokenFacts {
  grant: Pick<Grant, 'id' | 'accountId'>;
  application: Application;
  scopes: readonly string[];
  /** Milliseconds since 1970. */
  issuedAt: number;
}

/** Always ES256: only this server verifies it, at a tenth of the cost of RS256. */
export async function signAccessToken(
  { issuer, keys }: TokenIssuer,
  { grant, application, scopes, issuedAt }: AccessTokenFacts,
): Promise<Pick<IssuedTokens, 'accessToken' | 'expiresInSeconds' | 'scope'>> {
  const expiresInSeconds = lifetimeSeconds(application, 'accessTokenSeconds');
  const scope = scopes.join(' ');
  const accessToken = await keys.sign('ES256', 'at+jwt', {
    iss: issuer,
    sub: grant.accountId,
    aud: issuer,
    client_id: application.id,
    ...period(issuedAt, expiresInSeconds),
    jti: randomBase62(TOKEN_ID_LENGTH),
    scope,
    grant_id: grant.id,
  });
  return { accessToken, expiresInSeconds, scope };
}

interface IdTokenFacts {
  code: Pick<AuthorizationCode, 'nonce' | 'context' | 'authenticatedAt'>;
  person: AdmittedPerson;
  application: Application;
  scopes: readonly string[];
  /** The one that comes with it. */
  accessToken: string;
  /** Milliseconds since 1970. */
  issuedAt: number;
}

export function signIdToken(
  { issuer, keys }: TokenIssuer,
  { code, person, application, scopes, accessToken, issuedAt }: IdTokenFacts,
): Promise<string> {
  const { idTokenAlgorithm } = application;
  return keys.sign(idTokenAlgorithm, 'JWT', {
    iss: issuer,
    ...period(issuedAt, lifetimeSeconds(application, 'idTokenSeconds')),
    auth_time: toSeconds(code.authenticatedAt),
    ...(code.nonce !== null && { nonce: code.nonce }),
    acr: CONTEXT_CLASS,
    at_hash: leftHalfOfHash(accessToken, idTokenAlgorithm),
    ...identityClaims({ ...person, lastContext: code.context }, application.id, scopes),
  });
}

/** By the hash of the signature: Ed25519 has SHA-512 (OpenID Connect Core, 3.1.3.6). */
function leftHalfOfHash(accessToken: string, algorithm: TokenAlgorithm): string {
  const hash = createHash(algorithm === 'EdDSA' ? 'sha512' : 'sha256')
    .update(accessToken)
    .digest();
  return hash.subarray(0, hash.length / 2).toString('base64url');
}

function period(issuedAt: number, seconds: number): { iat: number; exp: number } {
  const iat = toSeconds(issuedAt);
  return { iat, exp: iat + seconds };
}

/** Rounds down, so that no correct clock sees it in the future. */
function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}

/**
 * How long after a rotation the previous token gets the same successor again, while that is unused. So long
 * that an answer that got lost in a restart or a fail-over of the database does not sign the person out.
 */
export const RETRY_WINDOW_MS = 60_000;

const DEFAULT_SECONDS = {
  accessTokenSeconds: 3_600,
  refreshTokenSeconds: 30 * 86_400,
  idTokenSeconds: 3_600,
  refreshFamilySeconds: 365 * 86_400,
};

export function lifetimeSeconds(
  { tokenLifetimes }: Pick<Application, 'tokenLifetimes'>,
  token: keyof TokenLifetimes,
): number {
  return tokenLifetimes[token] ?? DEFAULT_SECONDS[token];
}

/** When tokens issued now expire, with room for a retry. `refreshEndsAt` is null without refresh. */
export function grantEnds(
  application: Pick<Application, 'tokenLifetimes'>,
  refreshEndsAt: number | null,
  now: number,
): { refreshExpiresAt: number | null; expiresAt: number } {
  const accessEnd = now + lifetimeSeconds(application, 'accessTokenSeconds') * 1_000 + RETRY_WINDOW_MS;
  if (refreshEndsAt === null) {
    return { refreshExpiresAt: null, expiresAt: accessEnd };
  }
  const rolledEnd = now + lifetimeSeconds(application, 'refreshTokenSeconds') * 1_000;
  const refreshExpiresAt = Math.min(rolledEnd, refreshEndsAt);
  return { refreshExpiresAt, expiresAt: Math.max(accessEnd, refreshExpiresAt) };
}
