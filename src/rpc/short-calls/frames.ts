import { callersOf, roleRights } from '../callers.js';
import type { AnyMethod } from '../definitions.js';

export const MAX_REQUEST_BYTES = 256 * 1_024;
export const MAX_ANSWER_BYTES = 16 * 1_024 * 1_024;
/** The overhead of frames for the largest message: method, ids, lengths, and an id per cancelled call. */
export const FRAME_BYTES = 8 * 1_024;
/** Longer ids are truncated here: the server replaces or refuses them at any length above 200. */
export const MAX_ID_CHARACTERS = 256;

/** The limit of a gRPC message, which carries the frames of one turn of the event loop. */
export const BATCH_BYTES = 64 * 1_024;
export const BATCH_CALLS = 64;

/** Messages that are written and not sent yet. Further calls wait here, where cancelled ones are removed. */
export const MAX_WRITES = 2;

/** Calls that were sent and have no known end, including cancelled ones. Further calls wait at the caller. */
export const MAX_SENT = 256;

/** Calls in progress in a channel, and in a stream at the server, until their handlers return. */
export const MAX_CALLS_UNDER_WAY = 1_024;

/** The longest time that `setTimeout` takes. */
export const LONGEST_MS = 2 ** 31 - 1;

/** Whether calls of the method are multiplexed: unary methods that only roles may call. */
export function travelsInStreams({ path, requestStream, responseStream }: AnyMethod): boolean {
  return !requestStream && !responseStream && callersOf(path).every((caller) => roleRights.has(caller));
}
