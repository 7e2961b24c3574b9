import type { TokenAlgorithm } from '../operator/applications.js';

export const TOKEN_ALGORITHMS: readonly TokenAlgorithm[] = ['RS256', 'ES256', 'EdDSA'];

/** What a key is by itself; when it signs is the rotation's to say. */
export interface KeyMaterial {
  kid: string;
  algorithm: TokenAlgorithm;
  /** With `kid`, `alg` and `use`. */
  publicJwk: Record<string, unknown>;
  sealedPrivateKey: string;
}

/** A key that signs tokens, with its private half encrypted. */
export interface SigningKey extends KeyMaterial {
  createdAt: number;
  /** Published from `createdAt` on, it signs from here on, so that every client knows it by then. */
  activatesAt: number;
  /** When its successor took over, whenever that was noted. */
  supersededAt: number | null;
  /** When its last token is over. */
  retiresAt: number | null;
  /** No longer published; earlier than `retiresAt`, or without one, it was withdrawn. */
  retiredAt: number | null;
}

export interface SigningKeyRows {
  /** Newest first, retired ones included. */
  all(): Promise<SigningKey[]>;
  insert(key: SigningKey): Promise<void>;
  /** Only its times. */
  update(key: SigningKey): Promise<void>;
}

/** Makes keys, which takes RSA a good part of a second: never within a transaction. */
export interface SigningKeyMaker {
  make(algorithm: TokenAlgorithm): Promise<KeyMaterial>;
}

export type SigningKeyStatus = 'published' | 'active' | 'superseded' | 'retired';

/**
 * The one that signs: of those whose time has come, the newest. Only rows and time decide, so that every node answers alike, whether or not anybody has
 * noted yet that its predecessor is superseded.
 */
export function activeKey(
  keys: readonly SigningKey[],
  algorithm: TokenAlgorithm,
  now: number,
): SigningKey | undefined {
  return keys
    .filter((key) => key.algorithm === algorithm && isPublic(key) && key.activatesAt <= now)
    .reduce<SigningKey | undefined>(
      (newest, key) => (newest === undefined || isLater(key, newest) ? key : newest),
      undefined,
    );
}

/** Whether clients are told of it. */
export function isPublic({ retiredAt }: SigningKey): boolean {
  return retiredAt === null;
}

/** Whether it was taken back before its tokens were over: what it signed proves nothing. */
export function isWithdrawn({ retiresAt, retiredAt }: SigningKey): boolean {
  return retiredAt !== null && (retiresAt === null || retiredAt < retiresAt);
}

export function statusOf(key: SigningKey, keys: readonly SigningKey[], now: number): SigningKeyStatus {
  if (!isPublic(key)) {
    return 'retired';
  }
  if (key.activatesAt > now) {
    return 'published';
  }
  return activeKey(keys, key.algorithm, now)?.kid === key.kid ? 'active' : 'superseded';
}

/** Two of the same millisecond stand in the order of their ids, which is the same on every node. */
export function isLater(key: SigningKey, other: SigningKey): boolean {
  return key.activatesAt === other.activatesAt ? key.kid > other.kid : key.activatesAt > other.activatesAt;
}
