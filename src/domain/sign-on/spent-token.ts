import type { Grant } from '../credentials/grants.js';
import { RETRY_WINDOW_MS } from './token-lifetimes.js';

/**
 * What it means that a refresh token could not be rotated. `retry`: the answer got lost, and the same successor is said again. `reuse`: two hold a token that was
 * meant for one. `over`: nothing that tells of theft.
 */
export function judgeSpentToken(
  { generation, rotatedAt, refreshExpiresAt, revokedAt }: Grant,
  presented: number,
  now: number,
): 'retry' | 'reuse' | 'over' {
  const isOver = revokedAt !== null || refreshExpiresAt === null || refreshExpiresAt <= now;
  if (isOver || presented >= generation) {
    return 'over';
  }
  // While the successor is unused it is the newest one. Of two nodes, the clock of one may be a little behind.
  const isNextToLast = presented === generation - 1;
  return isNextToLast && now - rotatedAt <= RETRY_WINDOW_MS ? 'retry' : 'reuse';
}
