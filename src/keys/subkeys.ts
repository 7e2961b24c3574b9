import { createHmac, createSecretKey, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Interaction, InteractionSeals } from '../domain/sign-on/interaction/interactions.js';
import type { FormTokens, RefreshTokens } from '../domain/sign-on/keys/signing.js';
import { changeCursors } from './change-cursors.js';
import { type Box, opened, SealedBox } from './sealed-box.js';
import type { SealingRing } from './sealing-ring.js';

const SUBKEY_BYTES = 32;

/** One key per purpose, so that output for one purpose is useless for another. */
export type Purpose = 'signing-keys' | 'webhook-secrets' | 'token-keys' | TokenPurpose;

/**
 * Keys that outlive the encryption key: rotating it must not invalidate tokens, open pages, cursors or stored
 * hashes made with them.
 */
export const TOKEN_PURPOSES = [
  'refresh-tokens',
  'form-tokens',
  'interactions',
  'idempotency',
  'throttles',
  'audit',
  'cursors',
] as const;

type TokenPurpose = (typeof TOKEN_PURPOSES)[number];

/**
 * Stored sealed in the database. A rotation of the encryption key seals them again, and what was made with
 * them stays valid.
 */
export type TokenKeys = Readonly<Record<TokenPurpose, Uint8Array>>;

export type DerivedKeys = ReturnType<typeof derivedKeys>;

/** Everything that seals or hashes with the key file or the token keys. */
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

export function formTokens(key: Uint8Array): FormTokens {
  const hmacOf = keyedHash(key);
  const make = (...parts: readonly string[]) => hmacOf(joined(parts)).toString('base64url');
  return {
    make,
    matches: (token, ...parts) => {
      const [given, expected] = [Buffer.from(token), Buffer.from(make(...parts))];
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

/** Prefixes each part with its length, so that different lists of parts never give the same bytes. */
function joined(parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

const INTERACTION = 'interaction';

/**
 * Compressed: the request contains its query a second time, so the seal is hardly longer than the address
 * that the application sent.
 */
export function interactionSeals(box: Box): InteractionSeals {
  return {
    seal: (interaction) => box.seal(deflateRawSync(JSON.stringify(interaction)), INTERACTION),
    open: (token) => {
      const bytes = opened(() => box.open(token, INTERACTION));
      return bytes && (JSON.parse(inflateRawSync(bytes).toString()) as Interaction);
    },
  };
}

const FAMILY_BYTES = 16;
const GENERATION_BYTES = 4;
const MAX_GENERATION = 2 ** (GENERATION_BYTES * 8) - 1;
const HMAC_BYTES = 32;
const NAMED_BYTES = FAMILY_BYTES + GENERATION_BYTES;
const TOKEN_BYTES = NAMED_BYTES + HMAC_BYTES;

/** Family, generation and the HMAC of both, in base64url. Each generation of a family has one token. */
export function refreshTokens(key: Uint8Array): RefreshTokens {
  const hmacOf = keyedHash(key);
  return {
    seal: (grantId, generation) => {
      const named = nameOf(grantId, generation);
      return Buffer.concat([named, hmacOf(named)]).toString('base64url');
    },
    open: (token) => {
      const bytes = decoded(token, TOKEN_BYTES);
      if (
        bytes === undefined ||
        !timingSafeEqual(hmacOf(bytes.subarray(0, NAMED_BYTES)), bytes.subarray(NAMED_BYTES))
      ) {
        return undefined;
      }
      return {
        grantId: bytes.subarray(0, FAMILY_BYTES).toString('base64url'),
        generation: bytes.readUInt32BE(FAMILY_BYTES),
      };
    },
  };
}

function nameOf(grantId: string, generation: number): Buffer {
  const family = decoded(grantId, FAMILY_BYTES);
  if (
    family === undefined ||
    !Number.isInteger(generation) ||
    generation < 1 ||
    generation > MAX_GENERATION
  ) {
    throw new RangeError('A grant is named by 16 bytes in base64url, and its generations count from 1.');
  }
  const named = Buffer.alloc(NAMED_BYTES);
  named.set(family);
  named.writeUInt32BE(generation, FAMILY_BYTES);
  return named;
}

/** Accepts only the canonical base64url of so many bytes: other spellings decode to the same bytes. */
function decoded(text: string, length: number): Buffer | undefined {
  if (text.length !== Math.ceil((length * 4) / 3)) {
    return undefined;
  }
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === length && bytes.toString('base64url') === text ? bytes : undefined;
}
