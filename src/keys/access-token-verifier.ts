import { createHash } from 'node:crypto';
import { type CryptoKey, importJWK, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { Clock } from '../domain/clock.js';

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

/** Limits how often an old set causes a fetch while the domain is unavailable. */
const MIN_FETCH_INTERVAL_MS = 10_000;
/** Limits how often unknown key ids cause a fetch. */
const MIN_SEARCH_INTERVAL_MS = 1_000;

/** Keys of other algorithms are left out. */
const ACCESS_TOKEN_ALGORITHM = 'ES256';

/** Fetches the key set of the contract. It is given the id of the wanted key where the set may lack it. */
type FetchKeySet = (wantedKid?: string) => Promise<{
  keys: readonly { kid: string; algorithm: string; jwkJson: string }[];
  maxAgeSeconds: number;
}>;

interface FetchedKeysOptions {
  fetch: FetchKeySet;
  clock: Clock;
  /** Called when another set was fetched. */
  onChange(): void;
}

/** A fetched key set. It is used until a newer one is fetched: keys are published long before they sign. */
class FetchedKeys {
  #byKid: ReadonlyMap<string, CryptoKey> | undefined;
  #kids = '';
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #staleAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;
  #searchedAt = Number.NEGATIVE_INFINITY;
  /** The newest search for a key, under way or done. */
  #searched: Promise<void> | undefined;
  #fetchesBegun = 0;
  /** The number of the fetch that the set is from. */
  #setFrom = 0;

  constructor(private readonly options: FetchedKeysOptions) {}

  /** Waits only for the first set. An old set is replaced while it is in use. */
  async atHand(): Promise<void> {
    const now = this.options.clock();
    // After the clock was set back, the age of the set is unknown.
    const isOld = now < this.#fetchedAt || now >= this.#staleAt;
    if (this.#byKid === undefined) {
      await this.#fetchOnce();
    } else if (isOld && Math.abs(now - this.#triedAt) >= MIN_FETCH_INTERVAL_MS) {
      this.#fetchOnce().catch(() => undefined);
    }
  }

  /**
   * Undefined if the set does not have the key; anything can be in the header of a token. Throws if that is
   * unknown, because the last search failed.
   */
  async find(kid: unknown): Promise<CryptoKey | undefined> {
    if (typeof kid !== 'string') {
      return undefined;
    }
    const key = this.#byKid?.get(kid);
    if (key) {
      return key;
    }
    const now = this.options.clock();
    if (Math.abs(now - this.#searchedAt) >= MIN_SEARCH_INTERVAL_MS) {
      this.#searchedAt = now;
      this.#searched = this.#load(kid);
    }
    await this.#searched;
    return this.#byKid?.get(kid);
  }

  #fetchOnce(): Promise<void> {
    this.#triedAt = this.options.clock();
    this.#fetching ??= this.#load().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #load(wantedKid?: string): Promise<void> {
    this.#fetchesBegun += 1;
    const number = this.#fetchesBegun;
    const beganAt = this.options.clock();
    const { keys, maxAgeSeconds } = await this.options.fetch(wantedKid);
    const wanted = keys.filter(({ algorithm }) => algorithm === ACCESS_TOKEN_ALGORITHM);
    const imported = await Promise.all(
      wanted.map(
        async ({ kid, jwkJson }) =>
          [kid, (await importJWK(JSON.parse(jwkJson), ACCESS_TOKEN_ALGORITHM)) as CryptoKey] as const,
      ),
    );
    if (number < this.#setFrom) {
      // The answer to a later fetch came first.
      return;
    }
    this.#setFrom = number;
    this.#fetchedAt = beganAt;
    this.#staleAt = beganAt + maxAgeSeconds * 1_000;
    const kids = wanted
      .map(({ kid }) => kid)
      .sort()
      .join(' ');
    if (this.#byKid === undefined || kids !== this.#kids) {
      this.#byKid = new Map(imported);
      this.#kids = kids;
      this.options.onChange();
    }
  }
}
