import type { Application, TokenLifetimes } from '../operator/applications.js';

/** So long after a rotation the token before it is answered with the same successor again, while that is unused. */
export const RETRY_WINDOW_MS = 10_000;

const DEFAULT_SECONDS = {
  accessTokenSeconds: 3_600,
  refreshTokenSeconds: 30 * 86_400,
  idTokenSeconds: 3_600,
  refreshFamilySeconds: 365 * 86_400,
};

export function lifetimeSeconds(
  { tokenLifetimes }: Pick<Application, 'tokenLifetimes'>,
  token: keyof TokenLifetimes,
): number {
  return tokenLifetimes[token] ?? DEFAULT_SECONDS[token];
}

/**
 * Until when the tokens that are issued now hold; a retry within its window may issue one more access token. No refresh token outlives `refreshEndsAt`, which is null where
 * the application may not refresh.
 */
export function grantEnds(
  application: Pick<Application, 'tokenLifetimes'>,
  refreshEndsAt: number | null,
  now: number,
): { refreshExpiresAt: number | null; expiresAt: number } {
  const accessEnd = now + lifetimeSeconds(application, 'accessTokenSeconds') * 1_000 + RETRY_WINDOW_MS;
  if (refreshEndsAt === null) {
    return { refreshExpiresAt: null, expiresAt: accessEnd };
  }
  const rolledEnd = now + lifetimeSeconds(application, 'refreshTokenSeconds') * 1_000;
  const refreshExpiresAt = Math.min(rolledEnd, refreshEndsAt);
  return { refreshExpiresAt, expiresAt: Math.max(accessEnd, refreshExpiresAt) };
}
