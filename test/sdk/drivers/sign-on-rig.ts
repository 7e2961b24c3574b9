import { beforeAll } from '@jest/globals';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import type { Driven } from './line-driver.js';
import { type Answer, json, type ScriptedServer, scriptedServers } from './scripted-server.js';

export const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'] as const;
export const REDIRECT_URI = 'https://app.example.com/callback';
/** What an application keeps while the browser is away. */
export const flow = { state: 'state-1', nonce: 'nonce-1', codeVerifier: 'v'.repeat(43) };
export const grant = {
  token_type: 'Bearer',
  expires_in: 3600,
  scope: 'openid profile email',
  refresh_token: 'refresh-2',
};
export const identity = {
  sub: 'acc_1',
  workerProfileId: 'wpf_1',
  userIds: [{ id: 'usr_1', clientId: 'cli_1' }],
  workerIds: [],
  lastLoginContext: { userType: 'ROBOT', clientId: 'cli_1' },
};

export type Signer = { privateKey: CryptoKey; jwk: JWK };

export const secondsNow = () => Math.floor(Date.now() / 1000);

/** A sign-on server with programmed answers, and keys to sign with. Call it in a describe block. */
export function signOnRig(driver: Driven) {
  const newServer = scriptedServers();
  const signers = new Map<string, Signer>();
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await newServer();
    for (const algorithm of ALGORITHMS) {
      const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
      const jwk = { ...(await exportJWK(publicKey)), kid: algorithm, alg: algorithm, use: 'sig' };
      signers.set(algorithm, { privateKey, jwk });
    }
  });
  const signer = (algorithm: string) => signers.get(algorithm) as Signer;
  const options = (more: object = {}) => ({
    issuer: server.url,
    clientId: 'app_1',
    clientSecret: 'cs_1',
    redirectUri: REDIRECT_URI,
    retry: { baseDelaySeconds: 0.001 },
    ...more,
  });
  const callback = (parameters: Record<string, string> = {}) =>
    `${REDIRECT_URI}?${new URLSearchParams({ code: 'code-1', state: flow.state, iss: server.url, ...parameters })}`;
  /** Keys of every kind, including an unknown one. */
  const keySet = () =>
    json({
      keys: [{ kty: 'PQC', kid: 'later' }, ...[...signers.values()].map(({ jwk }) => jwk), 'nonsense'],
    });
  return {
    get server(): ScriptedServer {
      return server;
    },
    signer,
    options,
    callback,
    keySet,
    exchange: (more: object = {}, settings: object = {}) =>
      driver.sdk.signOn(options(settings), 'exchangeCode', { callbackUrl: callback(), ...flow, ...more }),
    askedFor: (path: string) => server.asked.filter((asked) => asked.path === path),
    idToken: (claims: JWTPayload = {}, algorithm = 'RS256', kid = algorithm): Promise<string> => {
      const [iat, exp] = [secondsNow(), secondsNow() + 3600];
      const all = { iss: server.url, aud: 'app_1', iat, exp, nonce: flow.nonce, ...identity, ...claims };
      return new SignJWT(all).setProtectedHeader({ alg: algorithm, kid }).sign(signer(algorithm).privateKey);
    },
    /** Answers by address, whatever comes in which order. Settles with the token that is revoked. */
    serves: (token: Answer): Promise<string> => {
      const keys = keySet();
      return new Promise((resolve) => {
        server.answers((response, asked) => {
          if (asked.path === '/auth/revoke') {
            resolve(JSON.parse(asked.body).token);
          }
          (asked.path === '/.well-known/jwks.json' ? keys : token)(response, asked);
        });
      });
    },
  };
}
