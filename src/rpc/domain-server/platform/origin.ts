import type { PlatformServiceService } from '../../../../generated/proto/integration/platform/v1/platform.js';
import type { PlatformUnitOfWork } from '../../../domain/platform/unit-of-work.js';
import type { WriteOrigin } from '../../../domain/unit-of-work.js';
import type { AnyMethod } from '../../definitions.js';
import type { CallContext, Handler, Handlers } from '../../handlers.js';
import type { PlatformCall, PlatformHandlers } from './write.js';

/**
 * The handlers, made once. Each call gives them a unit of work that knows the call and reaches no further
 * than its token.
 */
export function perCall(
  handlers: PlatformHandlers,
  unitOfWork: PlatformUnitOfWork,
  reachOf: (unitOfWork: PlatformUnitOfWork, name: string, context: CallContext) => PlatformUnitOfWork,
): Handlers<PlatformServiceService> {
  const forCall =
    (name: string, handler: Handler<AnyMethod, PlatformCall>) => (request: object, context: CallContext) => {
      const run: PlatformUnitOfWork['run'] = (work, options) =>
        unitOfWork.run(work, { ...options, ...originOf(request, context) });
      return handler(request, reachOf({ ...unitOfWork, run }, name, context), context);
    };
  const named = Object.entries(handlers) as [string, Handler<AnyMethod, PlatformCall>][];
  return Object.fromEntries(named.map(([name, handler]) => [name, forCall(name, handler)]));
}

/**
 * The queue of a write: the instance of a limited token; else the token with the client, instance or account
 * of the request. An import has one queue, because its lines build on each other.
 */
function originOf(
  request: object,
  { tokenId = '', instanceId: only, requestId, signal }: CallContext,
): WriteOrigin {
  if (only !== undefined) {
    return { signal, requestId, lane: only };
  }
  if (Symbol.asyncIterator in request) {
    return { signal, requestId, lane: `${tokenId} imports` };
  }
  const { instanceId, clientId, accountId } = request as Record<string, unknown>;
  return { signal, requestId, lane: `${tokenId} ${instanceId ?? clientId ?? accountId ?? ''}` };
}
