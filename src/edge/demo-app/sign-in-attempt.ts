import { createHash } from 'node:crypto';
import { newSecret } from '../../identifiers/random-secrets.js';
import { clearCookie, cookieNamed, setCookie } from '../http/cookies.js';

const COOKIE = 'demo_app_attempt';
const SHAPE = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/;
/** As long as an authorization code can arrive after a slow sign-in. */
const LIFETIME_MS = 30 * 60_000;

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

export function attemptIn(cookieHeader: string | undefined): SignInAttempt | undefined {
  const [, state, nonce, codeVerifier] = SHAPE.exec(cookieNamed(COOKIE, cookieHeader) ?? '') ?? [];
  return state && nonce && codeVerifier ? { state, nonce, codeVerifier } : undefined;
}

export function attemptCookie({ state, nonce, codeVerifier }: SignInAttempt): string {
  const expiresAt = new Date(Date.now() + LIFETIME_MS);
  return setCookie(COOKIE, `${state}.${nonce}.${codeVerifier}`, { secure: false, expiresAt });
}

export const noAttemptCookie = clearCookie(COOKIE, false);
