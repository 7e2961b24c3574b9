import {
  type CryptoKey,
  calculateJwkThumbprint,
  compactVerify,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  SignJWT,
} from 'jose';
import type { AccountId, ApplicationId } from '../../generated/ids.js';
import type { TokenAlgorithm } from '../domain/operator/rows/applications.js';
import {
  MAX_ID_TOKEN_LENGTH,
  type PublicKey,
  type ReadIdToken,
  type TokenKeys,
} from '../domain/sign-on/keys/signing.js';
import {
  activeKey,
  isOfKnownAlgorithm,
  isPublic,
  isWithdrawn,
  type KeyMaterial,
  type SigningKey,
  type SigningKeyMaker,
} from '../domain/sign-on/keys/signing-keys.js';
import { ErrorCode, ServiceError } from '../errors/service-error.js';
import { KnownKeys, type KnownKeysOptions } from './known-keys.js';
import { type Box, SealError } from './sealed-box.js';
import { OTHER_KEY_FILE, SecretsKeyError } from './secrets-key.js';

/** How long clients may cache the key set: much shorter than a key is published before it signs. */
const KEY_SET_MAX_AGE_SECONDS = 300;

interface KeyRingOptions extends KnownKeysOptions {
  /** As in `iss`. */
  issuer: string;
  box: Box;
}

/** Signs and reads tokens with the keys of the database, of which it keeps a recent copy. */
export class KeyRing implements TokenKeys {
  readonly #known: KnownKeys;
  readonly #imported = new Map<string, ImportedKey>();

  constructor(private readonly options: KeyRingOptions) {
    this.#known = new KnownKeys(options);
  }

  /** Opens every key that signs or will sign, so that a wrong key file fails the start, not a sign-in. */
  async ready(): Promise<void> {
    await this.#known.reload();
    const keys = (await this.#known.all()).filter(
      (key) => isPublic(key) && key.supersededAt === null && isOfKnownAlgorithm(key),
    );
    try {
      await Promise.all(keys.map((key) => this.#import(key).private()));
    } catch (error) {
      throw error instanceof SealError ? new SecretsKeyError(OTHER_KEY_FILE, { cause: error }) : error;
    }
  }

  /** Call it after a change that this node made. */
  reload(): Promise<void> {
    return this.#known.reload();
  }

  async sign(
    algorithm: TokenAlgorithm,
    type: 'JWT' | 'at+jwt',
    claims: Record<string, unknown>,
  ): Promise<string> {
    const active = (keys: readonly SigningKey[]) => activeKey(keys, algorithm, this.options.clock());
    const key = active(this.#known.young ?? []) ?? (await this.#known.search(active));
    if (key === undefined) {
      throw new ServiceError(ErrorCode.INTERNAL_ERROR, 'Something went wrong on our side.', {
        internal: `no ${algorithm} key is there to sign with`,
      });
    }
    return new SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, typ: type, kid: key.kid })
      .sign(await this.#import(key).private());
  }

  isKnown(kid: string): boolean | Promise<boolean> {
    const isIt = (key: SigningKey) => key.kid === kid;
    if (this.#known.young?.some((key) => isIt(key) && isPublic(key))) {
      return true;
    }
    return this.#known.search((keys) => keys.find(isIt)).then((key) => key !== undefined && isPublic(key));
  }

  async publicKeys(wantedKid?: string): Promise<{ keys: PublicKey[]; maxAgeSeconds: number }> {
    if (wantedKid !== undefined) {
      // The edge lacks this key. Rows here that have it may still be older than its set in other keys.
      await this.#known.searchAnew();
    }
    const keys = (await this.#known.newestAtHand()).filter(isPublic);
    return {
      keys: keys.map(({ kid, algorithm, publicJwk }) => ({ kid, algorithm, publicJwk })),
      maxAgeSeconds: KEY_SET_MAX_AGE_SECONDS,
    };
  }

  async read(idToken: string): Promise<ReadIdToken | undefined> {
    const header = idToken.length <= MAX_ID_TOKEN_LENGTH ? headerOf(idToken) : undefined;
    if (typeof header?.kid !== 'string' || header.typ !== 'JWT') {
      return undefined;
    }
    const { kid } = header;
    const key = await this.#known.search((keys) => keys.find((each) => each.kid === kid));
    // A key past its lifetime still proves who a person was; a withdrawn one proves nothing.
    if (key === undefined || isWithdrawn(key) || !isOfKnownAlgorithm(key)) {
      return undefined;
    }
    const claims = await verifiedClaims(idToken, await this.#import(key).public(), key.algorithm);
    return claims?.iss === this.options.issuer &&
      typeof claims.sub === 'string' &&
      typeof claims.aud === 'string' &&
      typeof claims.iat === 'number'
      ? {
          accountId: claims.sub as AccountId,
          applicationId: claims.aud as ApplicationId,
          issuedAtSeconds: claims.iat,
        }
      : undefined;
  }

  #import(key: SigningKey): ImportedKey {
    let imported = this.#imported.get(key.kid);
    if (!imported?.canServe(key)) {
      imported = new ImportedKey(key, this.options.box);
      this.#imported.set(key.kid, imported);
    }
    return imported;
  }
}

function headerOf(token: string): { kid?: unknown; typ?: unknown } | undefined {
  try {
    return decodeProtectedHeader(token);
  } catch {
    return undefined;
  }
}

async function verifiedClaims(
  token: string,
  key: CryptoKey,
  algorithm: TokenAlgorithm,
): Promise<Record<string, unknown> | undefined> {
  try {
    const { payload } = await compactVerify(token, key, { algorithms: [algorithm] });
    const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const IMPORTS: Record<TokenAlgorithm, Parameters<typeof crypto.subtle.importKey>[2]> = {
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  EdDSA: { name: 'Ed25519' },
};

/** A key for the cryptography library; each half is opened once, when it is first needed. */
export class ImportedKey {
  #private: Promise<CryptoKey> | undefined;
  #public: Promise<CryptoKey> | undefined;

  constructor(
    private readonly key: SigningKey,
    private readonly box: Box,
  ) {}

  /** An open key stays valid when its row is sealed anew: the `kid` is its thumbprint. */
  canServe({ sealedPrivateKey }: SigningKey): boolean {
    return this.#private !== undefined || sealedPrivateKey === this.key.sealedPrivateKey;
  }

  /** A failure is forgotten: the key file may get the key that opens it while the process runs. */
  private(): Promise<CryptoKey> {
    this.#private ??= this.#importPrivate().catch((error) => {
      this.#private = undefined;
      throw error;
    });
    return this.#private;
  }

  public(): Promise<CryptoKey> {
    this.#public ??= importJWK(this.key.publicJwk as JWK, this.key.algorithm) as Promise<CryptoKey>;
    return this.#public;
  }

  async #importPrivate(): Promise<CryptoKey> {
    const { algorithm, kid, sealedPrivateKey } = this.key;
    const content = this.box.open(sealedPrivateKey, kid);
    try {
      return await crypto.subtle.importKey('pkcs8', content, IMPORTS[algorithm], false, ['sign']);
    } finally {
      content.fill(0);
    }
  }
}

const RSA_BITS = 2_048;

/** Makes keys and seals their private halves. */
export function signingKeyMaker(box: Box): SigningKeyMaker {
  return {
    make: async (algorithm) => {
      const options = { modulusLength: RSA_BITS, extractable: true };
      const { publicKey, privateKey } = await generateKeyPair(algorithm, options);
      const jwk = await exportJWK(publicKey);
      // The RFC 7638 thumbprint: two keys never share a name.
      const kid = await calculateJwkThumbprint(jwk);
      const content = new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey));
      return {
        kid,
        algorithm,
        publicJwk: { ...jwk, kid, alg: algorithm, use: 'sig' },
        sealedPrivateKey: box.seal(content, kid),
      } satisfies KeyMaterial;
    },
  };
}
