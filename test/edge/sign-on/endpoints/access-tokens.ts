import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { SignOnMethods } from '../server.js';
import { SIGN_ON_URL } from '../server.js';

const { privateKey, publicKey } = await generateKeyPair('ES256');
const KID = 'key-1';
const jwk = { ...(await exportJWK(publicKey)), kid: KID, alg: 'ES256', use: 'sig' };

/** A domain that publishes the key of these tokens. */
export const publishing: SignOnMethods = {
  getKeySet: async () => ({
    keys: [{ kid: KID, algorithm: 'ES256', jwkJson: JSON.stringify(jwk) }],
    maxAgeSeconds: 300,
  }),
};

const issuedAt = Math.floor(Date.now() / 1_000) - 60;
const expiresAt = issuedAt + 3_600;

const CLAIMS = {
  iss: SIGN_ON_URL,
  aud: SIGN_ON_URL,
  sub: 'acc_EUgY3HzXMd8Ka4yIM4g5UF',
  client_id: 'app_GRiNdE2svJ6Uj1h5qWVsYI',
  jti: 'Qm3x9vT1LkZr8sWd',
  scope: 'openid profile email',
  grant_id: 'cuFEEZ-nt-JWY2Ao6w4J4g',
  iat: issuedAt,
  exp: expiresAt,
};

/** What the domain learns of a token in order. */
export const verified = {
  kid: KID,
  tokenId: CLAIMS.jti,
  grantId: CLAIMS.grant_id,
  clientId: CLAIMS.client_id,
  accountId: CLAIMS.sub,
  scope: CLAIMS.scope,
  issuedAt: new Date(issuedAt * 1_000),
  expiresAt: new Date(expiresAt * 1_000),
};

/** A token of this server, or one that differs in its claims or its type. */
export function aToken(claims: object = {}, typ = 'at+jwt'): Promise<string> {
  return new SignJWT({ ...CLAIMS, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: KID, typ })
    .sign(privateKey);
}
