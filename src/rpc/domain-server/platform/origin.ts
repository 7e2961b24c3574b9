import type { PlatformUnitOfWork } from '../../../domain/platform/unit-of-work.js';
import type { WriteOrigin } from '../../../domain/unit-of-work.js';
import type { AnyService } from '../../definitions.js';
import type { CallContext, Handler, Handlers } from '../../handlers.js';

/** The handlers of a service, made for each call with a unit of work that knows the call. */
export function perCall<S extends AnyService, Dependencies extends { unitOfWork: PlatformUnitOfWork }>(
  dependencies: Dependencies,
  handlersOver: (dependencies: Dependencies) => Handlers<S>,
  reachOf: (unitOfWork: PlatformUnitOfWork, name: string, context: CallContext) => PlatformUnitOfWork,
): Handlers<S> {
  const forCall = (name: string) => (request: object, context: CallContext) => {
    const origin = { ...originOf(request, context), requestId: context.requestId };
    const unitOfWork = from(origin, dependencies.unitOfWork);
    const handlers = handlersOver({ ...dependencies, unitOfWork: reachOf(unitOfWork, name, context) });
    return (handlers[name] as Handler<S[string]>)(request as never, context);
  };
  const names = Object.keys(handlersOver(dependencies));
  return Object.fromEntries(names.map((name) => [name, forCall(name)])) as unknown as Handlers<S>;
}

function from(origin: WriteOrigin, unitOfWork: PlatformUnitOfWork): PlatformUnitOfWork {
  return { ...unitOfWork, run: (work, options) => unitOfWork.run(work, { ...options, ...origin }) };
}

/**
 * The queue of a write: the instance of a limited token; else the token with the client, instance or account
 * of the request. An import has one queue, because its lines build on each other.
 */
export function originOf(
  request: object,
  { tokenId = '', instanceId: only, signal }: CallContext,
): WriteOrigin {
  if (only !== undefined) {
    return { signal, lane: only };
  }
  if (Symbol.asyncIterator in request) {
    return { signal, lane: `${tokenId} imports` };
  }
  const { instanceId, clientId, accountId } = request as Record<string, unknown>;
  return { signal, lane: `${tokenId} ${instanceId ?? clientId ?? accountId ?? ''}` };
}
