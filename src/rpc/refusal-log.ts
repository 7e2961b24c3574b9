import { publicCode } from '../errors/service-error.js';
import { boundedWarnings } from '../telemetry/bounded-warnings.js';
import type { Log } from '../telemetry/log.js';
import type { RefusedCall } from './gate.js';

const MOST_LINES_PER_MINUTE = 60;

/** Logs calls that the gate refused. */
export function refusalLog(log: Log): (call: RefusedCall) => void {
  const warn = boundedWarnings(log, MOST_LINES_PER_MINUTE);
  return ({ method, requestId, peer, caller, tokenId, error }) =>
    warn('call refused', { requestId, method, peer, caller, tokenId, reason: publicCode(error.code) });
}
