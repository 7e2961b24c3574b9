import { CallerLeft } from '../../errors/service-error.js';
import { AtOnce } from '../../fairness/at-once.js';
import type { AnyMethod } from '../definitions.js';
import type { Handler } from '../handlers.js';

/** Half of the connections to PostgreSQL for reads: sign-on and gateway keep the others. */
const READS_AT_ONCE = 4;
const READ = /\/(?:Get|List)\w*$/;

/**
 * Runs few reads of tokens of the database at once, and in each turn of the event loop: on SQLite, a read is
 * synchronous. Owners take turns, and calls of the roles run in between. Writes have queues of their own, and
 * many at once share a commit.
 */
export class ReadTurns {
  readonly #reads = new AtOnce(READS_AT_ONCE);

  /** The handler of a method, in turn if it is a read. */
  handlerOf(method: AnyMethod, handler: Handler<AnyMethod>): Handler<AnyMethod> {
    if (method.requestStream || method.responseStream || !READ.test(method.path)) {
      return handler;
    }
    return (request, context) => {
      const { instanceId, tokenId, ownerId = tokenId } = context.identity;
      const owner = instanceId ?? ownerId;
      if (owner === undefined) {
        return handler(request, context);
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
