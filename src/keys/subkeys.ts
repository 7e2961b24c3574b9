import { createHmac, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import { changeCursors } from './change-cursors.js';
import { formTokens } from './form-tokens.js';
import { interactionSeals } from './interaction-seals.js';
import { refreshTokens } from './refresh-tokens.js';
import { SealedBox } from './sealed-box.js';
import type { SealingRing } from './sealing-ring.js';

const SUBKEY_BYTES = 32;

/** One key per purpose, so that output for one purpose is useless for another. */
export type Purpose = 'signing-keys' | 'webhook-secrets' | 'token-keys' | TokenPurpose;

/** Keys that must outlive the encryption key: their output in tokens and rows is compared, not opened. */
export const TOKEN_PURPOSES = [
  'refresh-tokens',
  'form-tokens',
  'interactions',
  'idempotency',
  'throttles',
  'audit',
  'cursors',
] as const;

export type TokenPurpose = (typeof TOKEN_PURPOSES)[number];

/** Kept sealed in the database: a rotation seals them anew and changes none of their output. */
export type TokenKeys = Readonly<Record<TokenPurpose, Uint8Array>>;

export type DerivedKeys = ReturnType<typeof derivedKeys>;

/** Everything derived from the key file. */
export function derivedKeys(ring: SealingRing, tokenKeys: TokenKeys) {
  return {
    signingKeys: ring.box('signing-keys'),
    refreshTokens: refreshTokens(tokenKeys['refresh-tokens']),
    formTokens: formTokens(tokenKeys['form-tokens']),
    interactionSeals: interactionSeals(new SealedBox(tokenKeys.interactions)),
    /** Seals the secrets that sign deliveries. */
    webhookSecrets: ring.box('webhook-secrets'),
    /** For requests that are stored by idempotency key. */
    idempotency: keyedHash(tokenKeys.idempotency),
    /** For the addresses and accounts that throttles count. */
    throttles: keyedHash(tokenKeys.throttles),
    /** For the chains of audit records: without the key, database access is not enough to forge them. */
    audit: keyedHash(tokenKeys.audit),
    changeCursors: changeCursors(tokenKeys.cursors),
  };
}

/** For a new environment. */
export function newTokenKeys(): TokenKeys {
  return tokenKeysBy(() => randomBytes(SUBKEY_BYTES));
}

/** As the first releases derived them from the key file at each start. */
export function firstTokenKeys(secretsKey: Uint8Array): TokenKeys {
  return tokenKeysBy((purpose) => subkeyOf(secretsKey, purpose));
}

export function tokenKeysBy(keyOf: (purpose: TokenPurpose) => Uint8Array): TokenKeys {
  return Object.fromEntries(TOKEN_PURPOSES.map((purpose) => [purpose, keyOf(purpose)])) as TokenKeys;
}

/** HKDF-SHA256 without a salt: the key file is random already. */
export function subkeyOf(secretsKey: Uint8Array, purpose: Purpose): Buffer {
  return Buffer.from(hkdfSync('sha256', secretsKey, '', `integration-service/${purpose}`, SUBKEY_BYTES));
}

/**
 * A digest that needs a key of this environment, so that it does not disclose its input. The key object is
 * made once: Node 24 takes four times as long for an HMAC or a cipher whose key is bytes.
 */
function keyedHash(key: Uint8Array) {
  const secret = createSecretKey(key);
  return (bytes: Uint8Array | string): Buffer => createHmac('sha256', secret).update(bytes).digest();
}
