import { CallServiceService } from '../../../generated/proto/integration/calls/v1/calls.js';
import { callersOf, ROLE_RIGHTS } from '../callers.js';
import { type AnyMethod, serviceNameOf } from '../handlers.js';

/** A process that is not frozen answers a health check of this name, however slow its database is. */
export const CALLS = serviceNameOf(CallServiceService);

export const MAX_REQUEST_BYTES = 256 * 1_024;
export const MAX_ANSWER_BYTES = 16 * 1_024 * 1_024;
/** Room for a frame beside its message: method, ids, lengths, and the ids of cancelled calls. */
export const FRAME_BYTES = 8 * 1_024;
/** Longer ids are truncated. That changes no outcome: the server accepts 200 characters at most. */
export const MAX_ID_CHARACTERS = 256;

/** The limits of a gRPC message with several frames, which are those that waited when it was written. */
export const BATCH_BYTES = 64 * 1_024;
export const BATCH_CALLS = 64;

/** gRPC messages written and not sent yet. Further calls wait at the caller, which removes cancelled ones. */
export const MAX_WRITES = 2;

/** Calls sent and not known to have ended, cancelled ones included. Further calls wait at the caller. */
export const MAX_SENT = 256;

/** Calls in progress in a channel, and in a stream at the server, until their handlers return. */
export const MAX_CALLS_UNDER_WAY = 1_024;

/** The longest delay of `setTimeout`. */
export const LONGEST_MS = 2 ** 31 - 1;

/** Whether calls of the method are multiplexed: unary methods that only roles may call. */
export function travelsInStreams({ path, requestStream, responseStream }: AnyMethod): boolean {
  return !requestStream && !responseStream && callersOf(path).every((caller) => ROLE_RIGHTS.has(caller));
}
