import { createHash } from 'node:crypto';
import { type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { Clock } from '../domain/clock.js';
import { FetchedKeys, type FetchKeySet } from './fetched-keys.js';
import { VerifiedTokens } from './verified-tokens.js';

const ALGORITHM = 'ES256';
/** Far more than a token of ours takes. */
const MAX_TOKEN_LENGTH = 4_096;
/** 64 bytes of signature in their one spelling: readers of base64 take padding too, and any last letter with the same two bits, and then one token would be many texts. */
const ONE_SPELLING = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{85}[AQgw]$/;
/** Two machines' clocks are never quite the same. */
const CLOCK_TOLERANCE_SECONDS = 5;
const REQUIRED_CLAIMS = ['iss', 'sub', 'aud', 'client_id', 'exp', 'iat', 'jti', 'scope', 'grant_id'];

/** What an access token of this server says, its signature, type, issuer, audience and end being in order. */
export interface VerifiedAccessToken {
  kid: string;
  tokenId: string;
  grantId: string;
  clientId: string;
  accountId: string;
  scope: string;
  issuedAt: Date;
  expiresAt: Date;
}

export interface AccessTokenVerifierOptions {
  /** As in `iss`, and in `aud`: the service is what its access tokens are for. */
  issuer: string;
  /** Only asked on first use, for keys that are not known, and when the set has come to its age. */
  fetchKeySet: FetchKeySet;
  clock?: Clock;
}

/**
 * Checks access tokens without asking anybody, with keys fetched now and then. Whether the grant still stands is the domain's to say. A token that was found in order is not calculated
 * again: a signature takes a hundred times as long as a digest.
 */
export class AccessTokenVerifier {
  readonly #issuer: string;
  readonly #clock: Clock;
  readonly #keys: FetchedKeys;
  readonly #verified = new VerifiedTokens<VerifiedAccessToken>();

  constructor({ issuer, fetchKeySet, clock = Date.now }: AccessTokenVerifierOptions) {
    this.#issuer = issuer;
    this.#clock = clock;
    this.#keys = new FetchedKeys({
      algorithm: ALGORITHM,
      fetch: fetchKeySet,
      clock,
      onChange: () => this.#verified.clear(),
    });
  }

  /** Undefined for anything but a token of this server that is in force. Throws only where no keys could be fetched yet. */
  async verify(token: string): Promise<VerifiedAccessToken | undefined> {
    if (token.length > MAX_TOKEN_LENGTH || !ONE_SPELLING.test(token)) {
      return undefined;
    }
    await this.#keys.atHand();
    const digest = createHash('sha256').update(token).digest('base64');
    const known = this.#verified.find(digest, this.#clock() - CLOCK_TOLERANCE_SECONDS * 1_000);
    if (known) {
      return known;
    }
    const generation = this.#verified.generation;
    const found = await this.#check(token);
    if (found) {
      this.#verified.add(digest, found, generation);
    }
    return found;
  }

  async #check(token: string): Promise<VerifiedAccessToken | undefined> {
    const options: JWTVerifyOptions = {
      algorithms: [ALGORITHM],
      typ: 'at+jwt',
      issuer: this.#issuer,
      audience: this.#issuer,
      requiredClaims: REQUIRED_CLAIMS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(this.#clock()),
    };
    try {
      const keyOf = ({ kid }: { kid?: string }) => this.#keys.find(kid);
      const { payload, protectedHeader } = await jwtVerify<JWTPayload>(token, keyOf, options);
      return factsOf(payload, protectedHeader.kid);
    } catch {
      // Whatever is wrong with it, it proves nothing.
      return undefined;
    }
  }
}

function factsOf(claims: JWTPayload, kid: string | undefined): VerifiedAccessToken | undefined {
  const { sub, aud, client_id, exp, iat, jti, scope, grant_id } = claims;
  const texts = [kid, sub, aud, client_id, jti, scope, grant_id];
  if (!texts.every((text) => typeof text === 'string') || !Number.isInteger(exp) || !Number.isInteger(iat)) {
    return undefined;
  }
  return {
    kid: kid as string,
    tokenId: jti as string,
    grantId: grant_id as string,
    clientId: client_id as string,
    accountId: sub as string,
    scope: scope as string,
    issuedAt: new Date((iat as number) * 1_000),
    expiresAt: new Date((exp as number) * 1_000),
  };
}
