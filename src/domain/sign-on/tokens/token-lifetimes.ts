import type { Application, TokenLifetimes } from '../../operator/rows/applications.js';

/** How long after a rotation the previous token gets the same successor again, while that is unused. */
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

/** When tokens issued now expire, with room for a retry. `refreshEndsAt` is null without refresh. */
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
