import { CallerLeft, ErrorCode, ServiceError } from '../../errors/service-error.js';
import { AtOnce } from '../../fairness/at-once.js';
import type { AnyMethod } from '../definitions.js';
import type { Handler } from '../handlers.js';

const READ = /\/(?:Get|List)\w*$/;
/** As many as a token can have under way. More were left by callers that did not wait for their turn. */
const MOST_WAITING = 512;

/** For reads that wait for a server: an owner may have half of them. */
const BESIDE = { most: 4, perLane: 2 };
/** For reads that block the event loop. */
const ALONE = { most: 1, perLane: 1 };

/**
 * Runs few reads of tokens of the database at once, and in each turn of the event loop. Owners take turns,
 * and calls of the roles run in between. Writes have queues of their own, and many at once share a commit.
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
        const message = 'Too many reads of this token wait for their turn. Please try again shortly.';
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
