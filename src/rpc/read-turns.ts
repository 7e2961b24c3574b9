import { CallerLeft, ErrorCode, ServiceError } from '../errors/service-error.js';
import { AtOnce } from '../fairness/at-once.js';
import type { AnyMethod } from './definitions.js';
import type { Handler } from './handlers.js';

const READ = /\/(?:Get|List)\w*$/;
/** As many calls as a token can have in progress. Calls whose callers have left also wait for their turn. */
const MOST_WAITING = 512;

/** For reads that wait for a server: an owner may have half of them. */
const BESIDE = { most: 4, perLane: 2 };
/** For reads that block the event loop. Two, because a search of a log gives others turns before it ends. */
const ALONE = { most: 2, perLane: 1 };

/**
 * Limits how many reads of service tokens run at once and begin in one turn of the event loop. Owners take
 * turns, and calls of edges and workers run in between. Writes have their own queues and share commits.
 */
export class ReadTurns {
  readonly #reads: AtOnce;

  constructor({ readsBlock = false } = {}) {
    const { most, perLane } = readsBlock ? ALONE : BESIDE;
    this.#reads = new AtOnce(most, { perLane });
  }

  /** The handler of a method, in turn if it is a read. */
  handlerOf(method: AnyMethod, handler: Handler<AnyMethod>): Handler<AnyMethod> {
    if (method.requestStream || method.responseStream || !READ.test(method.path)) {
      return handler;
    }
    return async (request, context) => {
      const { instanceId, tokenId, ownerId = tokenId } = context.identity;
      const owner = instanceId ?? ownerId;
      if (owner === undefined) {
        return handler(request, context);
      }
      if (this.#reads.waitingIn(owner) >= MOST_WAITING) {
        const message = 'Too many reads of this token or its instance are waiting. Please try again shortly.';
        throw new ServiceError(ErrorCode.RATE_LIMITED, message);
      }
      const readInTurn = async () => {
        if (context.isCancelled) {
          throw new CallerLeft();
        }
        return handler(request, context);
      };
      return this.#reads.run(owner, readInTurn, () => true);
    };
  }
}
