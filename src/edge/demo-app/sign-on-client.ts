import { createHash } from 'node:crypto';
import { operations } from '../../../generated/openapi/sign-on-operations.js';
import { newSecret } from '../../identifiers/random-secrets.js';
import { clearCookie, cookieNamed, setCookie } from '../http/cookies.js';

const COOKIE = 'demo_app_attempt';
const SHAPE = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/;
const SEPARATOR = '~';
/** Browsers send the cookie to every server of localhost, so it must stay small. */
const MAX_ATTEMPTS = 5;
/** Longer than a page of the sign-on server can be open, an hour: its code may come at the end of that. */
const LIFETIME_MS = 75 * 60_000;

/** What an application remembers between sending a browser away and its return. */
export interface SignInAttempt {
  state: string;
  nonce: string;
  codeVerifier: string;
}

export function newAttempt(): SignInAttempt {
  return { state: newSecret(), nonce: newSecret(), codeVerifier: newSecret() };
}

/** The PKCE challenge, by method S256. */
export function challengeOf({ codeVerifier }: SignInAttempt): string {
  return createHash('sha256').update(codeVerifier).digest('base64url');
}

/** The newest first: one for each tab in which the person began to sign in. */
export function attemptsIn(cookieHeader: string | undefined): SignInAttempt[] {
  const texts = (cookieNamed(COOKIE, cookieHeader) ?? '').split(SEPARATOR);
  return texts.flatMap((text) => {
    const [, state, nonce, codeVerifier] = SHAPE.exec(text) ?? [];
    return state && nonce && codeVerifier ? { state, nonce, codeVerifier } : [];
  });
}

export function attemptsCookie(attempts: readonly SignInAttempt[]): string {
  if (attempts.length === 0) {
    return clearCookie(COOKIE, false);
  }
  const expiresAt = new Date(Date.now() + LIFETIME_MS);
  const texts = attempts
    .slice(0, MAX_ATTEMPTS)
    .map(({ state, nonce, codeVerifier }) => `${state}.${nonce}.${codeVerifier}`);
  return setCookie(COOKIE, texts.join(SEPARATOR), { secure: false, expiresAt });
}

const TIMEOUT_MS = 10_000;

/** Why there are no tokens, in words for the page. */
export class NoTokens extends Error {
  constructor(
    message: string,
    /** The error code of OAuth, if the sign-on server gave one. */
    readonly code?: string,
  ) {
    super(message);
  }
}

export interface Tokens {
  accessToken: string;
  idToken: string;
  refreshToken: string;
  expiresInSeconds: number;
}

export interface Exchange {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  code: string;
  codeVerifier: string;
}

type Json = Readonly<Record<string, unknown>>;

export async function exchangeCode(signOnUrl: string, exchange: Exchange): Promise<Tokens> {
  const { clientId, clientSecret, redirectUri, code, codeVerifier } = exchange;
  const answer = await ask(`${signOnUrl}${operations.token.path}`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      redirect_uri: redirectUri,
      code_verifier: codeVerifier,
      code,
    }),
  });
  return {
    accessToken: String(answer.access_token),
    idToken: String(answer.id_token),
    refreshToken: String(answer.refresh_token),
    expiresInSeconds: Number(answer.expires_in),
  };
}

export function userinfoOf(signOnUrl: string, { accessToken }: Tokens): Promise<Json> {
  const headers = { authorization: `Bearer ${accessToken}` };
  return ask(`${signOnUrl}${operations.userinfo.path}`, { headers });
}

/**
 * The claims of an ID token for this application and this sign-in. Its signature needs no check here: it
 * came from the token endpoint itself (OpenID Connect Core 3.1.3.7, step 6), over TLS or on one machine.
 */
export function claimsOf(
  { idToken }: Tokens,
  { issuer, clientId, nonce }: { issuer: string; clientId: string; nonce: string },
): Json {
  const claims = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()) as Json;
  const isOurs =
    claims.iss === issuer &&
    claims.aud === clientId &&
    claims.nonce === nonce &&
    Number(claims.exp) * 1_000 > Date.now();
  if (!isOurs) {
    throw new NoTokens('The ID token is not for this application and this sign-in.');
  }
  return claims;
}

async function ask(url: string, init: RequestInit): Promise<Json> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => {
    throw new NoTokens(`The sign-on server does not answer at ${url}.`);
  });
  const answer = (await response.json().catch(() => ({}))) as Json;
  if (!response.ok) {
    const { error = response.status, error_description: why = 'The sign-on server refused.' } = answer;
    throw new NoTokens(String(why), String(error));
  }
  return answer;
}
