import type { UnitOfWork, WriteOrigin } from '../../../domain/platform/unit-of-work.js';
import type { AnyService } from '../../definitions.js';
import type { CallContext, Handler, Handlers } from '../../handlers.js';

/** The handlers of a service, made anew for each call over a unit of work that knows whose call it is. */
export function perCall<S extends AnyService, Dependencies extends { unitOfWork: UnitOfWork }>(
  dependencies: Dependencies,
  handlersOver: (dependencies: Dependencies) => Handlers<S>,
  reachOf: (unitOfWork: UnitOfWork, name: string, context: CallContext) => UnitOfWork,
): Handlers<S> {
  const forCall = (name: string) => (request: object, context: CallContext) => {
    const unitOfWork = inNameOf(originOf(request, context), dependencies.unitOfWork);
    const handlers = handlersOver({ ...dependencies, unitOfWork: reachOf(unitOfWork, name, context) });
    return (handlers[name] as Handler<S[string]>)(request as never, context);
  };
  const names = Object.keys(handlersOver(dependencies));
  return Object.fromEntries(names.map((name) => [name, forCall(name)])) as unknown as Handlers<S>;
}

function inNameOf(origin: WriteOrigin, unitOfWork: UnitOfWork): UnitOfWork {
  return { ...unitOfWork, run: (work, repeatable) => unitOfWork.run(work, repeatable, origin) };
}

/**
 * The lane is the tenant's: of a token that is limited to an instance that instance, whatever else the request names. Of others it is the token's for
 * what the request names, and one for all imports of a token, as their lines rely on their order and may be about anybody.
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
