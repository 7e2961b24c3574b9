import { SignOnServiceService } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import type { TokenIssuer } from '../../../domain/sign-on/sign-on.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { type CallContext, type Handler, type Handlers, serve } from '../../handlers.js';
import { browserHandlers } from './browser.js';
import { linkHandlers } from './links.js';
import { tokenHandlers } from './tokens.js';

/** The rules of the sign-on server, for the edge. */
export function signOnService(issuer: TokenIssuer) {
  return serve(SignOnServiceService, perCall(issuer));
}

const AREAS = [browserHandlers, linkHandlers, tokenHandlers];

/**
 * Each call makes those of its area, with a unit of work that drops writes of disconnected callers. A rule
 * whose write has to be made all the same gives no signal.
 */
function perCall(issuer: TokenIssuer): Handlers<SignOnServiceService> {
  const forCall =
    (handlersOf: (typeof AREAS)[number], name: string) => (request: object, context: CallContext) => {
      const { unitOfWork } = issuer;
      const run: typeof unitOfWork.run = (work, options) =>
        unitOfWork
          .run(work, { signal: context.signal, requestId: context.requestId, ...options })
          .catch(toPassing);
      const handlers: Record<string, unknown> = handlersOf({ ...issuer, unitOfWork: { ...unitOfWork, run } });
      return (handlers[name] as Handler<never>)(request as never, context);
    };
  const ofArea = (handlersOf: (typeof AREAS)[number]) =>
    Object.keys(handlersOf(issuer)).map((name) => [name, forCall(handlersOf, name)]);
  return Object.fromEntries(AREAS.flatMap(ofArea));
}

/**
 * Not 429: a write mostly waits for other callers' writes to the same data, such as an import, and sometimes
 * for refreshes of the same person by the same application, or for attempts to sign in from the same network.
 */
function toPassing(error: unknown): never {
  if (error instanceof ServiceError && error.code === ErrorCode.RATE_LIMITED) {
    const message = 'Other changes to the same data are under way. Try again in a moment.';
    const { retryAfterSeconds } = error;
    throw new ServiceError(ErrorCode.UNAVAILABLE, message, { retryAfterSeconds });
  }
  throw error;
}
