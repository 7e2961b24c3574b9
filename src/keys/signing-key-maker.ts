import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { KeyMaterial, SigningKeyMaker } from '../domain/sign-on/keys/signing-keys.js';
import type { Box } from './sealed-box.js';

const RSA_BITS = 2_048;

/** Makes keys and seals their private halves. */
export function signingKeyMaker(box: Box): SigningKeyMaker {
  return {
    make: async (algorithm) => {
      const options = { modulusLength: RSA_BITS, extractable: true };
      const { publicKey, privateKey } = await generateKeyPair(algorithm, options);
      const jwk = await exportJWK(publicKey);
      // The RFC 7638 thumbprint: two keys never share a name.
      const kid = await calculateJwkThumbprint(jwk);
      const content = new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey));
      return {
        kid,
        algorithm,
        publicJwk: { ...jwk, kid, alg: algorithm, use: 'sig' },
        sealedPrivateKey: box.seal(content, kid),
      } satisfies KeyMaterial;
    },
  };
}
