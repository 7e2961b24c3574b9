import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { InteractionSeals } from '../domain/sign-on/interactions.js';
import type { FormTokens, RefreshTokens } from '../domain/sign-on/signing.js';
import { formTokens } from './form-tokens.js';
import { interactionSeals } from './interaction-seals.js';
import { refreshTokens } from './refresh-tokens.js';
import { type Box, SealedBox } from './sealed-box.js';
import type { SealingRing } from './sealing-ring.js';

const SUBKEY_BYTES = 32;

/** One key a purpose, so that what one of them makes means nothing to another. */
export type Purpose = 'signing-keys' | 'webhook-secrets' | 'token-keys' | TokenPurpose;

/** Whose keys must outlive the encryption key: what they made stands in tokens and in rows, and is compared rather than opened. */
export const TOKEN_PURPOSES = [
  'refresh-tokens',
  'form-tokens',
  'interactions',
  'idempotency',
  'throttles',
  'audit',
] as const;

export type TokenPurpose = (typeof TOKEN_PURPOSES)[number];

/** Kept sealed in the database, so that a rotation seals them anew and changes nothing that they made. */
export type TokenKeys = Readonly<Record<TokenPurpose, Uint8Array>>;

/** A digest that only this environment can make: what is kept of it tells nobody what it is of. */
export type KeyedHash = (bytes: Uint8Array | string) => Buffer;

/** All that follows from the key file. */
export interface DerivedKeys {
  signingKeys: Box;
  refreshTokens: RefreshTokens;
  /** For the secrets that deliveries are signed with. */
  webhookSecrets: Box;
  formTokens: FormTokens;
  interactionSeals: InteractionSeals;
  /** For requests that are remembered by their idempotency key. */
  idempotency: KeyedHash;
  /** For the addresses and accounts by which guesses are counted. */
  throttles: KeyedHash;
  /** For the chains of audit records: who can write the database but has no key cannot make them anew. */
  audit: KeyedHash;
}

export function derivedKeys(ring: SealingRing, tokenKeys: TokenKeys): DerivedKeys {
  return {
    signingKeys: ring.box('signing-keys'),
    refreshTokens: refreshTokens(tokenKeys['refresh-tokens']),
    formTokens: formTokens(tokenKeys['form-tokens']),
    interactionSeals: interactionSeals(new SealedBox(tokenKeys.interactions)),
    webhookSecrets: ring.box('webhook-secrets'),
    idempotency: keyedHash(tokenKeys.idempotency),
    throttles: keyedHash(tokenKeys.throttles),
    audit: keyedHash(tokenKeys.audit),
  };
}

/** Those of an environment that is new. */
export function newTokenKeys(): TokenKeys {
  return tokenKeysBy(() => randomBytes(SUBKEY_BYTES));
}

/** Those that the first releases derived from the key file at each start. */
export function firstTokenKeys(secretsKey: Uint8Array): TokenKeys {
  return tokenKeysBy((purpose) => subkeyOf(secretsKey, purpose));
}

export function tokenKeysBy(keyOf: (purpose: TokenPurpose) => Uint8Array): TokenKeys {
  return Object.fromEntries(TOKEN_PURPOSES.map((purpose) => [purpose, keyOf(purpose)])) as TokenKeys;
}

/** HKDF-SHA256. It takes no salt: the key file is random already. */
export function subkeyOf(secretsKey: Uint8Array, purpose: Purpose): Buffer {
  return Buffer.from(hkdfSync('sha256', secretsKey, '', `integration-service/${purpose}`, SUBKEY_BYTES));
}

function keyedHash(key: Uint8Array): KeyedHash {
  return (bytes) => createHmac('sha256', key).update(bytes).digest();
}
