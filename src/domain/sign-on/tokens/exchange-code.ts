import { createHash, timingSafeEqual } from 'node:crypto';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { Grant } from '../../credentials/access.js';
import type { AuthorizationCode } from '../authorization/codes.js';
import { registeredRedirect } from '../authorization/redirect-target.js';
import { type AdmittedPerson, admitted, type Identity } from '../identity.js';
import { findContext } from '../interaction/login-contexts.js';
import type { KnownApplication, TokenIssuer } from '../sign-on.js';
import type { ProvenClient } from './client-authentication.js';
import { actionOn, scopesInForce } from './standing.js';
import { grantEnds, type IssuedTokens, lifetimeSeconds, signAccessToken, signIdToken } from './tokens.js';

export interface CodeExchange {
  /** SHA-256 of the code. */
  codeHash: Uint8Array;
  redirectUri: string;
  codeVerifier?: string;
}

/** All facts for the checks before the redemption. */
interface Attempt {
  application: KnownApplication;
  code: AuthorizationCode;
  exchange: CodeExchange;
  scopes: readonly string[];
  person: AdmittedPerson | undefined;
  now: number;
}

type Checks = Readonly<Record<string, (attempt: Attempt) => ServiceError | undefined>>;

/**
 * What proves that the code is the asker's, by the reason that a refusal records. The checks run in this
 * order, after client authentication. Nothing is written until all pass: a failed attempt consumes nothing,
 * and only a fully proven repetition revokes, so that an eavesdropper cannot end a sign-in.
 */
const PROOFS: Checks = {
  application: ({ application, code }) => (code.applicationId === application.id ? undefined : codeIsOver()),
  redirect_uri: ({ code, exchange }) =>
    code.redirectUri === exchange.redirectUri
      ? undefined
      : invalidGrant('The redirect_uri is not that of the authorization request.'),
  code_verifier: faultOfVerifier,
};

/** What must still hold at the first redemption of a code. A repetition revokes without these checks. */
const CONDITIONS: Checks = {
  redirect_uri_removed: ({ application, code }) =>
    registeredRedirect(application, code.redirectUri)?.instanceId === code.instanceId
      ? undefined
      : invalidGrant('The redirect_uri is not registered any more.'),
  scopes: ({ scopes }) =>
    scopes.length > 0 ? undefined : invalidGrant('The application may not use the granted scopes any more.'),
  // Only the user or worker that the person chose counts, not another one of the same person.
  person: ({ person, code }) =>
    person && findContext(person.contexts, code.context)
      ? undefined
      : invalidGrant('The person may not sign in there any more.'),
  expired: ({ code: { status, expiresAt }, now }) =>
    status === 'EXPIRED' || expiresAt <= now ? codeIsOver() : undefined,
};

/** A code, and the person who has signed in. */
interface FoundCode {
  code: AuthorizationCode;
  identity: Identity | undefined;
}

export async function findCode(
  { unitOfWork: { rows } }: TokenIssuer,
  { codeHash }: Pick<CodeExchange, 'codeHash'>,
): Promise<FoundCode | undefined> {
  const hash = Buffer.from(codeHash).toString('base64url');
  const [code, identity] = await Promise.all([rows.codes.find(hash), rows.identities.ofCode(hash)]);
  return code && { code, identity };
}

export async function exchangeCode(
  issuer: TokenIssuer,
  asker: ProvenClient,
  exchange: CodeExchange,
  found: FoundCode | undefined,
): Promise<IssuedTokens> {
  const { application } = asker;
  const { code, scopes, person } = checked(issuer, asker, exchange, found);
  const { grants } = issuer.unitOfWork.rows;
  // Only the first repetition has something to revoke. Further ones, which may be many, open no write.
  if (code.status === 'REDEEMED' && (await grants.find(code.grantId))?.revokedAt !== null) {
    throw codeIsOver();
  }
  const grant = await redeem(issuer, asker, code);
  const issuedAt = grant.rotatedAt;
  const access = await signAccessToken(issuer, { grant, application, scopes, issuedAt });
  const { accessToken } = access;
  const idToken = scopes.includes('openid')
    ? await signIdToken(issuer, { code, person, application, scopes, accessToken, issuedAt })
    : undefined;
  const mayRefresh = grant.refreshExpiresAt !== null;
  return {
    ...access,
    ...(mayRefresh && { refreshToken: issuer.refreshTokens.seal(grant.id, grant.generation) }),
    ...(idToken !== undefined && { idToken }),
  };
}

function checked(
  { observe, clock }: TokenIssuer,
  { application, actor }: ProvenClient,
  exchange: CodeExchange,
  found: FoundCode | undefined,
) {
  if (!found) {
    throw codeIsOver();
  }
  const { code } = found;
  const person = admitted(found.identity);
  const scopes = scopesInForce(code.scopes, application);
  const checks = code.status === 'REDEEMED' ? PROOFS : { ...PROOFS, ...CONDITIONS };
  for (const [reason, check] of Object.entries(checks)) {
    const refusal = check({ application, code, exchange, scopes, person, now: clock() });
    if (refusal) {
      // Recorded, because the code exists and only a redirect discloses one: it may be stolen or injected.
      observe({ actor, ...actionOn(code, 'code.refused', { reason }), outcome: 'refused' });
      throw refusal;
    }
  }
  return { code, scopes, person: person as AdmittedPerson };
}

/** The length and alphabet of RFC 7636. */
const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Refuses a challenge without a verifier, and the reverse: both are attempts to bypass PKCE. */
function faultOfVerifier({ application, code, exchange }: Attempt): ServiceError | undefined {
  const { codeVerifier } = exchange;
  if (codeVerifier !== undefined && !CODE_VERIFIER.test(codeVerifier)) {
    const message = 'The code_verifier must have 43 to 128 characters, of A-Z a-z 0-9 . _ ~ and - alone.';
    return new ServiceError(ErrorCode.INVALID_REQUEST, message);
  }
  if (code.codeChallenge === null) {
    const mayDoWithout =
      code.status === 'REDEEMED' || (application.type === 'confidential' && !application.requirePkce);
    return codeVerifier === undefined && mayDoWithout
      ? undefined
      : invalidGrant('The authorization request had no code_challenge.');
  }
  if (codeVerifier === undefined) {
    return invalidGrant('The code_verifier is missing.');
  }
  return provesChallenge(codeVerifier, code.codeChallenge)
    ? undefined
    : invalidGrant('The code_verifier does not match the code_challenge.');
}

/** One transaction: of concurrent redemptions, one makes the grant, and later ones revoke it. */
async function redeem(
  { unitOfWork, clock }: TokenIssuer,
  { application, actor }: ProvenClient,
  code: AuthorizationCode,
): Promise<Grant> {
  const grant = await unitOfWork.run(async (changes) => {
    const now = clock();
    if (!(await changes.codes.redeem(code.hash, now))) {
      const { status } = (await changes.codes.find(code.hash)) ?? {};
      // Recorded only if it revoked something: further repetitions change nothing.
      if (status === 'REDEEMED' && (await changes.grants.revoke(code.grantId, now))) {
        await changes.audit(actor, { ...actionOn(code, 'code.replayed'), outcome: 'refused' });
      }
      return undefined;
    }
    const made = grantOf(application, code, now);
    await changes.grants.insert(made);
    await changes.audit(actor, actionOn(code, 'token.issued', { grant_type: 'authorization_code' }));
    return made;
  });
  if (!grant) {
    throw codeIsOver();
  }
  return grant;
}

function grantOf(application: KnownApplication, code: AuthorizationCode, now: number): Grant {
  const refreshEndsAt = application.allowedGrantTypes.includes('refresh_token')
    ? now + lifetimeSeconds(application, 'refreshFamilySeconds') * 1_000
    : null;
  return {
    id: code.grantId,
    applicationId: code.applicationId,
    accountId: code.accountId,
    instanceId: code.instanceId,
    scopes: code.scopes,
    authenticatedAt: code.authenticatedAt,
    sessionId: code.sessionId,
    generation: 1,
    rotatedAt: now,
    ...grantEnds(application, refreshEndsAt, now),
    refreshEndsAt,
    revokedAt: null,
  };
}

function codeIsOver(): ServiceError {
  return invalidGrant('The code is invalid, expired or already used.');
}

function invalidGrant(message: string): ServiceError {
  return new ServiceError(ErrorCode.INVALID_GRANT, message);
}

/** Whether `BASE64URL(SHA256(verifier))` is the challenge (S256, the only method). */
function provesChallenge(verifier: string, challenge: string): boolean {
  const proof = Buffer.from(createHash('sha256').update(verifier, 'ascii').digest('base64url'));
  const expected = Buffer.from(challenge);
  return proof.length === expected.length && timingSafeEqual(proof, expected);
}
