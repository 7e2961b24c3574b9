import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint, type JWK } from 'jose';
import type { TokenAlgorithm } from '../domain/operator/rows/applications.js';
import type { KeyMaterial, SigningKeyMaker } from '../domain/sign-on/keys/signing-keys.js';
import type { Box } from './sealed-box.js';

const RSA_BITS = 2_048;

const generate = promisify(generateKeyPair);

const PAIRS: Record<TokenAlgorithm, () => Promise<{ publicKey: KeyObject; privateKey: KeyObject }>> = {
  RS256: () => generate('rsa', { modulusLength: RSA_BITS }),
  ES256: () => generate('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generate('ed25519'),
};

/** Makes keys and seals their private halves. */
export function signingKeyMaker(box: Box): SigningKeyMaker {
  return {
    make: async (algorithm) => {
      const { publicKey, privateKey } = await PAIRS[algorithm]();
      const jwk = publicKey.export({ format: 'jwk' }) as JWK;
      // The RFC 7638 thumbprint: two keys never share a name.
      const kid = await calculateJwkThumbprint(jwk);
      const content = privateKey.export({ format: 'der', type: 'pkcs8' });
      return {
        kid,
        algorithm,
        publicJwk: { ...jwk, kid, alg: algorithm, use: 'sig' },
        sealedPrivateKey: box.seal(content, kid),
      } satisfies KeyMaterial;
    },
  };
}
