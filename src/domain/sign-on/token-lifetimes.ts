import type { Application, TokenLifetimes } from '../operator/applications.js';

/** So long after a rotation the token before it is answered with the same successor again, while that is unused. */
export const RETRY_WINDOW_MS = 10_000;

const DEFAULT_SECONDS = {
  accessTokenSeconds: 3_600,
  refreshTokenSeconds: 30 * 86_400,
  idTokenSeconds: 3_600,
};

export function lifetimeSeconds(
  { tokenLifetimes }: Pick<Application, 'tokenLifetimes'>,
  token: keyof TokenLifetimes,
): number {
  return tokenLifetimes[token] ?? DEFAULT_SECONDS[token];
}

/** Until when the tokens that are issued now hold; a retry within its window may issue one more access token. */
export function grantEnds(
  application: Pick<Application, 'tokenLifetimes'>,
  mayRefresh: boolean,
  now: number,
): { refreshExpiresAt: number | null; expiresAt: number } {
  const accessEnd = now + lifetimeSeconds(application, 'accessTokenSeconds') * 1_000 + RETRY_WINDOW_MS;
  const refreshEnd = now + lifetimeSeconds(application, 'refreshTokenSeconds') * 1_000;
  return mayRefresh
    ? { refreshExpiresAt: refreshEnd, expiresAt: Math.max(accessEnd, refreshEnd) }
    : { refreshExpiresAt: null, expiresAt: accessEnd };
}
