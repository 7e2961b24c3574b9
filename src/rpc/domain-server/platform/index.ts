import { PlatformServiceService } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { limitedTo } from '../../../domain/platform/instance-limit.js';
import type { PlatformUnitOfWork } from '../../../domain/platform/unit-of-work.js';
import type { WriteOrigin } from '../../../domain/unit-of-work.js';
import { type AnyMethod, type CallContext, type Handler, type Handlers, serve } from '../../handlers.js';
import { accountHandlers } from './accounts.js';
import { credentialHandlers } from './credentials.js';
import { importHandlers } from './import.js';
import { organizationHandlers } from './organization.js';
import { userHandlers } from './users.js';
import { workerHandlers } from './workers.js';
import type { PlatformCall, PlatformDependencies, PlatformHandlers } from './write.js';

/** The platform service: the back office writes; operators and support read. */
export function platformService({ unitOfWork, ...dependencies }: PlatformDependencies) {
  const handlers = {
    ...organizationHandlers(dependencies),
    ...userHandlers(dependencies),
    ...accountHandlers(dependencies),
    ...credentialHandlers(dependencies),
    ...workerHandlers(dependencies),
  };
  return serve(PlatformServiceService, perCall({ ...handlers, ...importHandlers(handlers) }, unitOfWork));
}

/**
 * The handlers, made once. Each call gives them a unit of work that knows the call and reaches no further
 * than its token.
 */
function perCall(
  handlers: PlatformHandlers,
  unitOfWork: PlatformUnitOfWork,
): Handlers<PlatformServiceService> {
  const forCall = (handler: Handler<AnyMethod, PlatformCall>) => (request: object, context: CallContext) => {
    const run: PlatformUnitOfWork['run'] = (work, options) =>
      unitOfWork.run(work, { ...options, ...originOf(request, context) });
    // The only place where the limit of a token becomes the reach of its call.
    const { instanceId } = context.identity;
    const whole = { ...unitOfWork, run };
    return handler(request, instanceId === undefined ? whole : limitedTo(instanceId, whole), context);
  };
  const named = Object.entries(handlers) as [string, Handler<AnyMethod, PlatformCall>][];
  return Object.fromEntries(named.map(([name, handler]) => [name, forCall(handler)]));
}

/**
 * The queue of a write: the instance of a limited token; else the token with the client, instance or account
 * of the request. An import has one queue, because its lines build on each other.
 */
function originOf(request: object, { identity, requestId, signal }: CallContext): WriteOrigin {
  const { tokenId = '', instanceId: only } = identity;
  if (only !== undefined) {
    return { signal, requestId, lane: only, limitedTo: only };
  }
  if (Symbol.asyncIterator in request) {
    return { signal, requestId, lane: `${tokenId} imports` };
  }
  const { instanceId, clientId, accountId } = request as Record<string, unknown>;
  return { signal, requestId, lane: `${tokenId} ${instanceId ?? clientId ?? accountId ?? ''}` };
}
