import { join } from 'node:path';
import { freePorts } from '../../support/free-ports.js';
import { exchange } from '../../support/http-exchange.js';
import type { Scope } from '../harness/scope.js';
import type { SignOnSubject } from './sign-on-subject.js';
import { startNode, untilAnswers } from './started-process.js';
import { makeWorkplace } from './workplace.js';

export const OIDC_PEER_NAME = 'oidc-provider + better-sqlite3';

const MAIN = join(import.meta.dirname, 'oidc-peer.js');
const CLIENT_SECRET = 'a-secret-that-is-long-enough-for-a-benchmark';
const REDIRECT_URI = 'https://app.example.com/callback';

/** The peer with what a sign-in leaves behind; it speaks forms where ours takes JSON. */
export async function startOidcPeer(
  scope: Scope,
  {
    algorithm,
    codeChallenge,
    codeVerifier,
  }: { algorithm: string; codeChallenge: string; codeVerifier: string },
): Promise<SignOnSubject> {
  const [port] = (await freePorts(1)) as [number];
  const workplace = makeWorkplace(scope);
  const started = startNode(scope, {
    arguments: [MAIN, join(workplace, 'peer.db'), String(port)],
    logFile: join(workplace, 'peer.log'),
  });
  await untilAnswers(started, port, '/.well-known/openid-configuration', () => ({}));
  const clientId = `client-${algorithm}`;
  const make = async (kind: string, count: number) => {
    const query = new URLSearchParams({ count: String(count), clientId, codeChallenge });
    return JSON.parse((await exchange(port, `/bench/${kind}?${query}`)).body) as string[];
  };
  const form = (fields: Record<string, string>) => ({
    body: new URLSearchParams({ ...fields, client_id: clientId, client_secret: CLIENT_SECRET }).toString(),
  });
  const token = {
    host: '127.0.0.1',
    port,
    method: 'POST' as const,
    path: '/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    expectStatus: 200,
  };
  return {
    codeExchanges: async (count) => ({
      ...token,
      use: 'once',
      variants: (await make('code', count)).map((code) =>
        form({
          grant_type: 'authorization_code',
          code,
          redirect_uri: REDIRECT_URI,
          code_verifier: codeVerifier,
        }),
      ),
    }),
    // Without openid there is no ID token in the answer, which is how ours refreshes too.
    refreshes: async (count) => ({
      ...token,
      use: 'refresh',
      variants: (await make('refresh', count)).map((refreshToken) =>
        form({
          grant_type: 'refresh_token',
          refresh_token: refreshToken,
          scope: 'profile email offline_access',
        }),
      ),
    }),
    userinfos: async (count) => ({
      ...token,
      method: 'GET',
      path: '/me',
      headers: {},
      variants: (await make('access', count)).map((accessToken) => ({
        headers: { authorization: `Bearer ${accessToken}` },
      })),
    }),
  };
}
