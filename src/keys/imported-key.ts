import { type CryptoKey, importJWK, type JWK } from 'jose';
import type { TokenAlgorithm } from '../domain/operator/rows/applications.js';
import type { SigningKey } from '../domain/sign-on/keys/signing-keys.js';
import type { Box } from './sealed-box.js';

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

  /** Whether it matches this row: a rotation of the encryption key seals it anew. */
  isOf({ sealedPrivateKey }: SigningKey): boolean {
    return sealedPrivateKey === this.key.sealedPrivateKey;
  }

  private(): Promise<CryptoKey> {
    this.#private ??= this.#importPrivate();
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
