import {
  createRemoteJWKSet,
  customFetch,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  errors as joseErrors,
  jwtVerify,
} from 'jose';
import { IntegrationServiceError, SignInError, TimeoutError } from './errors.js';
import { isObject } from './exchange.js';
import type { IdTokenClaims as GeneratedClaims } from './generated/sign-on/models/IdTokenClaims.js';
import type { LoginContext as GeneratedLoginContext } from './generated/sign-on/models/LoginContext.js';
import type { LoginUserType } from './generated/sign-on/models/LoginUserType.js';
import type { UserinfoClaims as GeneratedUserinfo } from './generated/sign-on/models/UserinfoClaims.js';
import type { Open } from './models.js';

export type IdTokenAlgorithm = 'RS256' | 'ES256' | 'EdDSA';

export interface LoginContext extends Omit<GeneratedLoginContext, 'userType'> {
  userType: Open<LoginUserType>;
}

/** The claims of an ID token, including those unknown to this release. */
export interface IdTokenClaims extends Omit<GeneratedClaims, 'lastLoginContext'> {
  lastLoginContext: LoginContext;
  [claim: string]: unknown;
}

/** The claims of userinfo, including those unknown to this release. */
export interface UserinfoClaims extends Omit<GeneratedUserinfo, 'lastLoginContext'> {
  lastLoginContext: LoginContext;
  [claim: string]: unknown;
}

const CLOCK_TOLERANCE_SECONDS = 30;
/** As long as the service says by `Cache-Control`. */
const KEYS_MAX_AGE_MS = 300_000;

/** What the authorization request asked for. */
interface Requested {
  nonce: string;
  maxAgeSeconds: number | undefined;
}

/** Verifies ID tokens with the published keys, which it caches and reads again for an unknown one. */
export class IdTokenVerifier {
  readonly #expected: JWTVerifyOptions;
  readonly #keys: JWTVerifyGetKey;

  constructor(
    issuer: string,
    clientId: string,
    algorithm: IdTokenAlgorithm,
    readKeys: (url: string) => Promise<unknown[]>,
  ) {
    this.#expected = {
      issuer,
      audience: clientId,
      algorithms: [algorithm],
      requiredClaims: ['sub', 'iat', 'exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    };
    this.#keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`), {
      cacheMaxAge: KEYS_MAX_AGE_MS,
      // Leaves out entries that are not objects: jose would refuse the whole set.
      [customFetch]: async (url) => Response.json({ keys: (await readKeys(url)).filter(isObject) }),
    });
  }

  async verify(idToken: string, { nonce, maxAgeSeconds }: Requested): Promise<IdTokenClaims> {
    const claims = await this.#verified(idToken);
    if (!nonce || claims.nonce !== nonce) {
      throw new SignInError('nonce_mismatch', 'The ID token is the answer to another authorization request.');
    }
    if (maxAgeSeconds != null && !(ageSecondsOf(claims) - CLOCK_TOLERANCE_SECONDS <= maxAgeSeconds)) {
      throw new SignInError('id_token_invalid', 'The person entered the password too long ago.');
    }
    return claims;
  }

  async #verified(idToken: string): Promise<IdTokenClaims> {
    try {
      const { payload } = await jwtVerify(idToken, this.#keys, this.#expected);
      // jose checks this only with a maximum age.
      if ((payload.iat ?? 0) > Date.now() / 1000 + CLOCK_TOLERANCE_SECONDS) {
        throw new joseErrors.JWTClaimValidationFailed('it was issued in the future', payload, 'iat');
      }
      return payload as unknown as IdTokenClaims;
    } catch (cause) {
      throw whatWentWrong(cause);
    }
  }
}

/** Since the person entered the password. NaN if the ID token does not say. */
function ageSecondsOf({ auth_time }: IdTokenClaims): number {
  return typeof auth_time === 'number' ? Date.now() / 1000 - auth_time : Number.NaN;
}

function whatWentWrong(cause: unknown): unknown {
  if (cause instanceof IntegrationServiceError) {
    return cause;
  }
  if (cause instanceof joseErrors.JWKSTimeout) {
    return new TimeoutError('There was no whole key set in time.', { cause });
  }
  // Not with the error of jose as its cause, which has the claims.
  return cause instanceof joseErrors.JOSEError
    ? new SignInError('id_token_invalid', `The ID token is not valid: ${cause.message}.`)
    : cause;
}
