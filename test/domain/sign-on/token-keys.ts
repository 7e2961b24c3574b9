import { randomBytes } from 'node:crypto';
import { importJWK, jwtVerify } from 'jose';
import type { Clock } from '../../../src/domain/clock.js';
import { type SigningKey, TOKEN_ALGORITHMS } from '../../../src/domain/sign-on/keys/signing-keys.js';
import type { VerifiedAccessToken } from '../../../src/domain/sign-on/tokens/standing.js';
import { AccessTokenVerifier } from '../../../src/keys/access-token-verifier.js';
import { KeyRing, signingKeyMaker } from '../../../src/keys/key-ring.js';
import { derivedKeys, newTokenKeys } from '../../../src/keys/subkeys.js';
import { newRing } from '../../keys/ring-of-keys.js';

export const ISSUER = 'https://sign-on.example.com';

export const secrets = derivedKeys(newRing(), newTokenKeys());

export function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}

/** An RSA key takes a while to make: one set does for all tests of a file. */
let made: Promise<SigningKey[]> | undefined;

/** One key of each algorithm that has signed for long. */
export async function newKeyRing(clock: Clock): Promise<KeyRing> {
  const maker = signingKeyMaker(secrets.signingKeys);
  made ??= Promise.all(
    TOKEN_ALGORITHMS.map(async (algorithm) => ({
      ...(await maker.make(algorithm)),
      createdAt: 0,
      activatesAt: 0,
      supersededAt: null,
      retiresAt: null,
      retiredAt: null,
    })),
  );
  const keys = await made;
  return new KeyRing({
    issuer: ISSUER,
    box: secrets.signingKeys,
    clock,
    load: async () => keys,
    onError: (error) => {
      throw error;
    },
  });
}

/** What a token says, once its signature was found good with the published keys. */
export async function verified(ring: KeyRing, clock: Clock, token: string) {
  const { keys } = await ring.publicKeys();
  const { payload, protectedHeader } = await jwtVerify(
    token,
    async ({ kid, alg }) => importJWK(keys.find((key) => key.kid === kid)?.publicJwk as never, alg),
    { currentDate: new Date(clock()) },
  );
  return { claims: payload as Record<string, unknown>, header: protectedHeader };
}

/** As the edge hands it on. */
export async function verifiedAccessToken(
  ring: KeyRing,
  clock: Clock,
  token: string,
): Promise<VerifiedAccessToken> {
  const { keys, maxAgeSeconds } = await ring.publicKeys();
  const verifier = new AccessTokenVerifier({
    issuer: ISSUER,
    clock,
    fetchKeySet: async () => ({
      keys: keys.map(({ publicJwk, ...key }) => ({ ...key, jwkJson: JSON.stringify(publicJwk) })),
      maxAgeSeconds,
    }),
  });
  const found = await verifier.verify(token);
  if (!found) {
    throw new Error('The access token is not one.');
  }
  const { scope, issuedAt, expiresAt, ...rest } = found;
  return {
    ...rest,
    scopes: scope.split(' '),
    issuedAt: issuedAt.getTime(),
    expiresAt: expiresAt.getTime(),
  };
}
