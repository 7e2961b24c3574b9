import { SignJWT } from 'jose';
import type { TokenAlgorithm } from '../../src/domain/operator/rows/applications.js';
import { activeKey, type SigningKey, TOKEN_ALGORITHMS } from '../../src/domain/sign-on/keys/signing-keys.js';
import { ImportedKey, KeyRing, signingKeyMaker } from '../../src/keys/key-ring.js';
import { type Box, SealedBox } from '../../src/keys/sealed-box.js';
import { fakeClock } from '../domain/clock.js';

export const ISSUER = 'https://sign-on.example.com';
export const box = new SealedBox(Buffer.alloc(32, 5));
const maker = signingKeyMaker(box);

/** Real ones, made once: RSA takes its time. */
const prepared = new Map<TokenAlgorithm, SigningKey>();

export async function signingKey(algorithm: TokenAlgorithm, times: Partial<SigningKey> = {}) {
  const material = await maker.make(algorithm);
  const none = { supersededAt: null, retiresAt: null, retiredAt: null };
  return { ...material, createdAt: 0, activatesAt: 0, ...none, ...times } satisfies SigningKey;
}

/** A real one, of an algorithm that this release does not know. */
export function keyOfNewerRelease(): Promise<SigningKey> {
  return signingKey('PS256' as TokenAlgorithm);
}

/** One key of each algorithm. */
export async function oneOfEach(): Promise<SigningKey[]> {
  for (const algorithm of TOKEN_ALGORITHMS) {
    if (!prepared.has(algorithm)) {
      prepared.set(algorithm, await signingKey(algorithm));
    }
  }
  return [...prepared.values()];
}

/** A token that only the holder of the key can make, with any header and claims. */
export async function forge(
  key: SigningKey,
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
): Promise<string> {
  const privateKey = await new ImportedKey(key, box).private();
  return new SignJWT(claims)
    .setProtectedHeader({ alg: key.algorithm, typ: 'JWT', kid: key.kid, ...header })
    .sign(privateKey);
}

/** A key ring over rows that the test changes. */
export function ringRig(rows: readonly SigningKey[], ringBox: Box = box) {
  const clock = fakeClock();
  const database = { rows, loads: 0, away: false };
  const errors: unknown[] = [];
  const ring = new KeyRing({
    issuer: ISSUER,
    box: ringBox,
    clock: clock.now,
    load: async () => {
      database.loads += 1;
      if (database.away) {
        throw new Error('The database is away.');
      }
      return database.rows;
    },
    onError: (error) => errors.push(error),
  });
  const activeKid = (algorithm: TokenAlgorithm) => activeKey(database.rows, algorithm, clock.now())?.kid;
  return { ring, clock, database, errors, activeKid };
}
