import { createHmac, hkdfSync } from 'node:crypto';
import type { FormTokens, RefreshTokens } from '../domain/sign-on/signing.js';
import { formTokens } from './form-tokens.js';
import { refreshTokens } from './refresh-tokens.js';
import { SealedBox } from './sealed-box.js';

const SUBKEY_BYTES = 32;

/** One key a purpose, so that what one of them makes means nothing to another. */
export type Purpose =
  | 'signing-keys'
  | 'refresh-tokens'
  | 'form-tokens'
  | 'idempotency'
  | 'throttles'
  | 'webhook-secrets';

/** A digest that only this environment can make: what is kept of it tells nobody what it is of. */
export type KeyedHash = (bytes: Uint8Array | string) => Buffer;

/** All that follows from the key file. */
export interface DerivedKeys {
  signingKeys: SealedBox;
  refreshTokens: RefreshTokens;
  /** For the secrets that deliveries are signed with. */
  webhookSecrets: SealedBox;
  formTokens: FormTokens;
  /** For requests that are remembered by their idempotency key. */
  idempotency: KeyedHash;
  /** For the addresses and accounts by which guesses are counted. */
  throttles: KeyedHash;
}

export function derivedKeys(secretsKey: Uint8Array): DerivedKeys {
  return {
    signingKeys: new SealedBox(subkeyOf(secretsKey, 'signing-keys')),
    refreshTokens: refreshTokens(subkeyOf(secretsKey, 'refresh-tokens')),
    formTokens: formTokens(subkeyOf(secretsKey, 'form-tokens')),
    webhookSecrets: new SealedBox(subkeyOf(secretsKey, 'webhook-secrets')),
    idempotency: keyedHash(subkeyOf(secretsKey, 'idempotency')),
    throttles: keyedHash(subkeyOf(secretsKey, 'throttles')),
  };
}

/** HKDF-SHA256. It takes no salt: the key file is random already. */
export function subkeyOf(secretsKey: Uint8Array, purpose: Purpose): Buffer {
  return Buffer.from(hkdfSync('sha256', secretsKey, '', `integration-service/${purpose}`, SUBKEY_BYTES));
}

function keyedHash(key: Uint8Array): KeyedHash {
  return (bytes) => createHmac('sha256', key).update(bytes).digest();
}
