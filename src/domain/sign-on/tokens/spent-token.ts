import type { Grant } from '../../credentials/grants.js';
import { RETRY_WINDOW_MS } from './token-lifetimes.js';

/** `retry`: a lost answer, repeated. `reuse`: two parties hold the token. `over`: no sign of theft. */
export function judgeSpentToken(
  { generation, rotatedAt, refreshExpiresAt, revokedAt }: Grant,
  presented: number,
  now: number,
): 'retry' | 'reuse' | 'over' {
  const isOver = revokedAt !== null || refreshExpiresAt === null || refreshExpiresAt <= now;
  if (isOver || presented >= generation) {
    return 'over';
  }
  // An unused successor is the newest. The clock of another node may be slightly behind.
  const isNextToLast = presented === generation - 1;
  return isNextToLast && now - rotatedAt <= RETRY_WINDOW_MS ? 'retry' : 'reuse';
}
