import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { CallOptions } from '../call-metadata.js';
import type { AnyMethod } from '../definitions.js';
import { notReached } from '../error-trailer.js';
import type { CallLane } from './call-lane.js';
import { MAX_CALLS_UNDER_WAY, MAX_REQUEST_BYTES } from './frames.js';
import { PendingCall } from './pending-call.js';

/** The calls of a channel: many travel as one message in a stream to one of its servers. */
export class StreamedCalls {
  #underWay = 0;
  #isClosed = false;

  /** `laneOfNext` chooses the server of a call. */
  constructor(private readonly laneOfNext: () => CallLane) {}

  call(method: AnyMethod, request: unknown, options: CallOptions, deadlineMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      options.signal?.throwIfAborted();
      this.#assertRoom();
      const message = messageOf(method, request);
      const lane = this.laneOfNext();
      this.#underWay += 1;
      const ended = () => {
        this.#underWay -= 1;
      };
      lane.add(new PendingCall(method, message, options, deadlineMs, { resolve, reject, ended }));
    });
  }

  /** Takes no more calls. Those under way fail when their lanes break. */
  close(): void {
    this.#isClosed = true;
  }

  /** Only what failed as UNAVAILABLE: another stream would be refused alike. */
  move(calls: readonly PendingCall[], error: ServiceError): void {
    for (const call of calls) {
      if (!this.#isClosed && error.code === ErrorCode.UNAVAILABLE && call.move()) {
        this.laneOfNext().add(call);
      } else {
        call.failed(error);
      }
    }
  }

  #assertRoom(): void {
    if (this.#isClosed) {
      throw notReached('the channel was closed');
    }
    if (this.#underWay >= MAX_CALLS_UNDER_WAY) {
      throw notReached(`${this.#underWay} calls are under way`);
    }
  }
}

function messageOf(method: AnyMethod, request: unknown): Buffer {
  const message = method.requestSerialize(request);
  if (message.length > MAX_REQUEST_BYTES) {
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The request is larger than 256 KiB.');
  }
  return message;
}
