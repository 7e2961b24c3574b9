import type { TokenAlgorithm } from '../../operator/rows/applications.js';

export const TOKEN_ALGORITHMS: readonly TokenAlgorithm[] = ['RS256', 'ES256', 'EdDSA'];

/** A key by itself; the rotation decides when it signs. */
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
  /** When it begins to sign. Published from `createdAt` on, so that clients know it by then. */
  activatesAt: number;
  /** When its successor took over, even if recorded later. */
  supersededAt: number | null;
  /** When its last token expires. */
  retiresAt: number | null;
  /** When its publication ended; before `retiresAt`, or without one, it was withdrawn. */
  retiredAt: number | null;
}

export interface SigningKeyRows {
  /** Newest first, including retired ones. */
  all(): Promise<SigningKey[]>;
  insert(key: SigningKey): Promise<void>;
  /** Writes its times only. */
  update(key: SigningKey): Promise<void>;
}

/** Makes keys. RSA takes up to a second: never within a transaction. */
export interface SigningKeyMaker {
  make(algorithm: TokenAlgorithm): Promise<KeyMaterial>;
}

type SigningKeyStatus = 'published' | 'active' | 'superseded' | 'retired';

/** The newest due key. Only rows and time decide, so that all nodes agree before it is recorded. */
export function activeKey(
  keys: readonly SigningKey[],
  algorithm: TokenAlgorithm,
  now: number,
): SigningKey | undefined {
  return dueKeys(keys, algorithm, now).at(-1);
}

/** In the order in which they begin to sign; of the same millisecond by id, on every node alike. */
export function dueKeys(keys: readonly SigningKey[], algorithm: TokenAlgorithm, now: number): SigningKey[] {
  return keys
    .filter((key) => key.algorithm === algorithm && isPublic(key) && key.activatesAt <= now)
    .sort((one, other) => one.activatesAt - other.activatesAt || (one.kid > other.kid ? 1 : -1));
}

/** False for a key that only a newer release, on the same database, can use. */
export function isOfKnownAlgorithm({ algorithm }: SigningKey): boolean {
  return TOKEN_ALGORITHMS.includes(algorithm);
}

/** Whether it is in the key set. */
export function isPublic({ retiredAt }: SigningKey): boolean {
  return retiredAt === null;
}

/** Whether it ended before its tokens: its signatures prove nothing. */
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
