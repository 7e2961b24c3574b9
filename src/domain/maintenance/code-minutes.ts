import type { Clock } from '../clock.js';
import { CODE_LIFETIME_MS, type CodeMinutes } from '../sign-on/authorization/codes.js';

export const MINUTE_MS = 60_000;

export type ExpiredCodes = Awaited<ReturnType<CodeMinutes['expire']>>;

/** Expires the due codes of a minute. Until the minute has passed, more may be issued. */
export async function expireCodesOf(
  codeMinutes: CodeMinutes,
  clock: Clock,
  minute: number,
): Promise<ExpiredCodes> {
  const now = clock();
  const found = await codeMinutes.expire(minute, now);
  const endsAt = minute + MINUTE_MS;
  return now < endsAt ? { ...found, retryAt: endsAt + CODE_LIFETIME_MS } : found;
}
