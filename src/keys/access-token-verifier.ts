import { createHash } from 'node:crypto';
import { type CryptoKey, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { Clock } from '../domain/clock.js';
import { ACCESS_TOKEN_ALGORITHM, FetchedKeys, type FetchKeySet } from './fetched-keys.js';

/** Far longer than any of our tokens. */
const MAX_TOKEN_LENGTH = 4_096;
/** 64 bytes of signature in one spelling: base64url accepts others for the same bytes. */
const ONE_SPELLING = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{85}[AQgw]$/;
/**
 * The domain checks the expiry by the time of the database. The edge must not refuse tokens that the domain
 * would accept, because its own clock is wrong.
 */
const CLOCK_TOLERANCE_SECONDS = 900;
const REQUIRED_CLAIMS = ['iss', 'sub', 'aud', 'client_id', 'exp', 'iat', 'jti', 'scope', 'grant_id'];

/** The content of an access token with a valid signature, type, issuer, audience and expiry. */
type VerifiedAccessToken = NonNullable<ReturnType<typeof factsOf>>;

interface AccessTokenVerifierOptions {
  /** As in `iss` and `aud`: our access tokens are for the service itself. */
  issuer: string;
  /** Called on first use, for unknown keys, and when the set is old. */
  fetchKeySet: FetchKeySet;
  clock?: Clock;
}

/** Verifies access tokens with fetched keys and caches the verified ones. The domain checks the grant. */
export class AccessTokenVerifier {
  readonly #issuer: string;
  readonly #clock: Clock;
  readonly #keys: FetchedKeys;
  readonly #verified = new VerifiedTokens<VerifiedAccessToken>();

  constructor({ issuer, fetchKeySet, clock = Date.now }: AccessTokenVerifierOptions) {
    this.#issuer = issuer;
    this.#clock = clock;
    const onChange = () => this.#verified.clear();
    this.#keys = new FetchedKeys({ fetch: fetchKeySet, clock, onChange });
  }

  /** Undefined for anything but a valid token of this server. Throws only if its key cannot be looked up. */
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
      algorithms: [ACCESS_TOKEN_ALGORITHM],
      typ: 'at+jwt',
      issuer: this.#issuer,
      audience: this.#issuer,
      requiredClaims: REQUIRED_CLAIMS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(this.#clock()),
    };
    let key: Promise<CryptoKey | undefined> | undefined;
    const keyOf = ({ kid }: { kid?: string }) => {
      key = this.#keys.find(kid);
      return key as Promise<CryptoKey>;
    };
    try {
      const { payload, protectedHeader } = await jwtVerify<JWTPayload>(token, keyOf, options);
      return factsOf(payload, protectedHeader.kid);
    } catch {
      // Throws if the key could not be looked up. A token that fails for any other reason proves nothing.
      await key;
      return undefined;
    }
  }
}

function factsOf(claims: JWTPayload, kid: string | undefined) {
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

/** A few megabytes at most. */
const CAPACITY = 10_000;

/** Recently verified tokens by digest; the least recently used go first. */
export class VerifiedTokens<T extends { expiresAt: Date }> {
  readonly #byDigest = new Map<string, T>();
  #generation = 0;

  /** Counts the changes of the keys. */
  get generation(): number {
    return this.#generation;
  }

  find(digest: string, now: number): T | undefined {
    const found = this.#byDigest.get(digest);
    if (found === undefined) {
      return undefined;
    }
    this.#byDigest.delete(digest);
    if (found.expiresAt.getTime() <= now) {
      return undefined;
    }
    this.#byDigest.set(digest, found);
    return found;
  }

  /** Skips a token that was verified before the keys changed: its key may be gone. */
  add(digest: string, token: T, generation: number): void {
    if (generation !== this.#generation) {
      return;
    }
    this.#byDigest.set(digest, token);
    if (this.#byDigest.size > CAPACITY) {
      const [oldest] = this.#byDigest.keys();
      this.#byDigest.delete(oldest as string);
    }
  }

  clear(): void {
    this.#generation += 1;
    this.#byDigest.clear();
  }
}
