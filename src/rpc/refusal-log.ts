import { RateLimiter } from '../domain/access/rate-limiter.js';
import { publicCode } from '../errors/service-error.js';
import type { Log } from '../telemetry/log.js';
import type { RefusedCall } from './gate.js';

/** What is beyond is counted, so that a stranger cannot fill the log. */
const MOST_LINES = { limit: 60, windowMs: 60_000 };

/** A line for each call that the gate refused. */
export function refusalLog(log: Log): (call: RefusedCall) => void {
  const lines = new RateLimiter(MOST_LINES, Date.now);
  let leftOut = 0;
  return ({ method, requestId, peer, caller, tokenId, error }) => {
    if (!lines.take('refusals').allowed) {
      leftOut += 1;
      return;
    }
    log.warn('call refused', {
      requestId,
      method,
      peer,
      caller,
      tokenId,
      reason: publicCode(error.code),
      leftOut,
    });
    leftOut = 0;
  };
}
