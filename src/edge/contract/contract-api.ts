import addFormats from 'ajv-formats';
import Negotiator from 'negotiator';
import { type Context, type Document, OpenAPIBackend, type Operation } from 'openapi-backend';
import { asServiceError, ErrorCode, publicCode, ServiceError } from '../../errors/service-error.js';
import type { Log } from '../../telemetry/log.js';
import type { Dispatch, DispatchedAnswer, HttpAnswer, HttpRequest } from '../http/exchange.js';
import { assertComplete } from './completeness.js';
import { DocumentRouter, type RoutedRequest } from './document-router.js';
import { fallbacks as closedFallbacks, type Fallbacks } from './fallbacks.js';
import type { Handlers, ValidRequest } from './typed-handler.js';

/** Finds out who asks, or throws the refusal. */
export type SecurityHandler<Identity> = (request: HttpRequest) => Identity;

export interface ContractApiOptions<Operations, Dependencies, Identity> {
  /** The bundled document. */
  document: Document;
  handlers: Handlers<Operations, Dependencies, Identity>;
  /** One for each security scheme of the document. */
  securityHandlers: Record<string, SecurityHandler<Identity>>;
  dependencies: Dependencies;
  /** Turns an error into the shape that this API's contract gives its errors. */
  toErrorAnswer: (error: ServiceError, requestId: string) => HttpAnswer;
  log: Log;
  /** What openapi-backend runs where no handler is meant; there is one set, and tests take parts of it away. */
  fallbacks?: Partial<Fallbacks>;
}

/** openapi-backend checks documents against OpenAPI 3.0; ours are 3.1 and linted before they get here. */
class Backend extends OpenAPIBackend {
  override validateDefinition(): Document {
    return this.document;
  }
}

/** Serves one document: everything that it says is checked before a handler runs, and nothing else is reachable. */
export async function createContractApi<Operations, Dependencies, Identity>(
  options: ContractApiOptions<Operations, Dependencies, Identity>,
): Promise<Dispatch> {
  const { document, toErrorAnswer, log } = options;
  const fallbacks = options.fallbacks ?? closedFallbacks;
  const backend = new Backend({
    definition: document,
    strict: true,
    quick: true,
    // The contract promises every wrong place at once; how many there can be is bounded by the size of a request.
    // `make verify` has checked the schemas; again, against a meta-schema compiled per operation, is over a quarter of a start.
    ajvOpts: { allErrors: true, validateSchema: false },
    // What is not implemented says so, however it was asked for.
    validate: ({ operation }: Context) => Object.hasOwn(options.handlers, operation.operationId ?? ''),
    customizeAjv: (ajv) => {
      // The router has made numbers of what is written as one; a validator that guesses takes more than the contract says.
      ajv.opts.coerceTypes = false;
      return addFormats.default(ajv);
    },
  });
  await backend.init();
  const operations: Operation[] = backend.router.getOperations();
  assertComplete(operations, options.handlers, options.securityHandlers, fallbacks, document);
  const router = new DocumentRouter(operations);
  router.takeOver(backend.router, operations);
  backend.validator.preCompileRequestValidators();
  backend.register({ ...fallbacks, ...adaptHandlers(options) });
  for (const [scheme, handler] of Object.entries(options.securityHandlers)) {
    backend.registerSecurityHandler(scheme, (context: Context) => handler(routed(context).original));
  }

  return async (request) => {
    let at: RoutedRequest | undefined;
    try {
      at = router.route(request);
      refuseUnacceptable(at);
      const answer = (await backend.handleRequest(at as never)) as HttpAnswer;
      return { ...answer, ...tellOf(at) };
    } catch (thrown) {
      const error = asServiceError(thrown);
      logFault(log, request.requestId, error);
      const answer = toErrorAnswer(error, request.requestId);
      if (error.code === ErrorCode.METHOD_NOT_ALLOWED && at && 'allowed' in at.route) {
        answer.headers.allow = at.route.allowed.join(', ');
      }
      const { operation, facts } = tellOf(at);
      return { ...answer, operation, facts: { ...facts, code: publicCode(error.code) } };
    }
  };
}

function adaptHandlers<Operations, Dependencies, Identity>({
  handlers,
  securityHandlers,
  dependencies,
}: ContractApiOptions<Operations, Dependencies, Identity>) {
  type Any = (request: ValidRequest<never, Identity>, dependencies: Dependencies) => Promise<unknown>;
  return Object.fromEntries(
    Object.entries(handlers as Record<string, Any>).map(([operationId, handler]) => [
      operationId,
      (context: Context) => {
        const request = routed(context);
        const identity = Object.keys(securityHandlers).map(
          (scheme) => context.security?.[scheme],
        )[0] as Identity;
        const valid = {
          requestId: request.original.requestId,
          params: request.params,
          query: request.query,
          header: (name: string) => singleHeader(request, name),
          identity,
          note: (facts: Record<string, string>) => Object.assign(request.facts, facts),
        };
        return handler(valid as unknown as ValidRequest<never, Identity>, dependencies);
      },
    ]),
  );
}

/** Every documented success is JSON unless the operation says otherwise, so that is what must be acceptable. */
function refuseUnacceptable({ original, route }: RoutedRequest): void {
  const accept = original.headers.accept;
  if (!accept || accept === '*/*' || !('operation' in route)) {
    return;
  }
  const offered = Object.entries(route.operation.responses ?? {}).flatMap(([status, response]) =>
    status.startsWith('2') && 'content' in response ? Object.keys(response.content ?? {}) : [],
  );
  if (offered.length > 0 && new Negotiator({ headers: { accept } }).mediaType(offered) === undefined) {
    throw new ServiceError(ErrorCode.NOT_ACCEPTABLE, `This operation answers ${offered.join(' or ')} only.`);
  }
}

function tellOf(
  request: RoutedRequest | undefined,
): Pick<DispatchedAnswer, 'operation'> & { facts: RoutedRequest['facts'] } {
  const operation = request && 'operation' in request.route ? request.route.operation.operationId : undefined;
  return { operation: operation ?? 'none', facts: request?.facts ?? {} };
}

function logFault(log: Log, requestId: string, error: ServiceError): void {
  if (error.code === ErrorCode.INTERNAL_ERROR) {
    const stack = error.cause instanceof Error ? error.cause.stack : undefined;
    log.error('request failed', { requestId, internal: error.internal, stack });
  } else if (error.code === ErrorCode.UNAVAILABLE) {
    log.warn('the domain did not answer', { requestId, internal: error.internal });
  }
}

function singleHeader({ original }: RoutedRequest, name: string): string | undefined {
  const value = original.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

export function routed(context: Context): RoutedRequest {
  return context.request as unknown as RoutedRequest;
}
