import Negotiator from 'negotiator';
import type { Document, Operation, ParsedRequest } from 'openapi-backend';
import { problemMessages } from '../../../generated/problems.js';
import {
  asServiceError,
  ErrorCode,
  NotReached,
  publicCode,
  ServiceError,
} from '../../errors/service-error.js';
import type { Log } from '../../telemetry/log.js';
import {
  BUSY,
  CLIENT_LEFT,
  ClientLeft,
  type Dispatch,
  type DispatchedAnswer,
  type HttpAnswer,
  type HttpRequest,
} from '../http/exchange.js';
import { Html } from '../pages/html.js';
import { Admission, Busy } from './admission.js';
import { isOpenToScripts, openHeaders, preflightAnswer } from './cross-origin.js';
import { allowedBy, DocumentRouter, type RoutedRequest } from './document-router.js';
import { takeBody } from './request-body.js';
import { type Handlers, MadeJson } from './typed-handler.js';
import { judgesItself, openBackend, refuseViolations } from './validation.js';

/** A failed request, as far as it was understood. */
export interface Failure {
  request: HttpRequest;
  /** If the path has no operation for the method, another operation of the path, if it has any. */
  operation: Operation | undefined;
}

export interface ContractApiOptions<
  Operations,
  Dependencies,
  Identity,
  AsReceived extends keyof Operations = never,
> {
  document: Document;
  handlers: Handlers<Operations, Dependencies, Identity, AsReceived>;
  /** Returns the caller of an operation with security, or throws the refusal. */
  authenticate: (request: HttpRequest) => Identity;
  dependencies: Dependencies;
  /** Converts an error into the error format of this API's contract. */
  toErrorAnswer: (error: ServiceError, requestId: string, failure: Failure) => HttpAnswer;
  log: Log;
  /** Decides when requests begin; one for all APIs of a process. */
  admission?: Admission | undefined;
  /** Operations for which people wait. */
  isFirst?: (operationId: string) => boolean;
}

/** What handlers of any operation reply. */
interface AnyReply extends Omit<HttpAnswer, 'body'> {
  body?: unknown;
}

export interface ContractApi {
  dispatch: Dispatch;
  /** What a refusal adds at a path whose request did not reach the contract: scripts could not read it. */
  openHeadersAt: (path: string) => Record<string, string>;
}

/** Serves one document: a request reaches a handler only after all checks of the document. */
export async function createContractApi<
  Operations,
  Dependencies,
  Identity,
  AsReceived extends keyof Operations = never,
>(options: ContractApiOptions<Operations, Dependencies, Identity, AsReceived>): Promise<ContractApi> {
  type AnyHandler = (request: RoutedRequest, dependencies: Dependencies) => Promise<AnyReply>;
  const handlers = options.handlers as Record<string, AnyHandler | undefined>;
  const { document, log, authenticate, dependencies } = options;
  const { admission = new Admission(), isFirst = () => false } = options;
  const backend = await openBackend(document);
  const operations = backend.router.getOperations();
  const router = new DocumentRouter(operations);
  /** The checks after the body is read (operation, caller, handler, schemas), then the handler. */
  const replyTo = (at: RoutedRequest, request: HttpRequest): Promise<AnyReply> => {
    const { operation, others } = at;
    if (!operation) {
      throw others.length > 0
        ? new ServiceError(ErrorCode.METHOD_NOT_ALLOWED, problemMessages.method_not_allowed)
        : new ServiceError(ErrorCode.ROUTE_NOT_FOUND, 'There is nothing at this path.');
    }
    if (operation.security?.length) {
      at.identity = authenticate(request);
    }
    refuseUnacceptable(at);
    const handler = handlers[operation.operationId ?? ''];
    if (!handler) {
      throw new ServiceError(ErrorCode.NOT_IMPLEMENTED, 'This operation is not part of this release yet.');
    }
    if (!judgesItself(operation)) {
      refuseViolations(backend.validator.validateRequest(at as ParsedRequest, operation).errors);
    }
    return handler(at, dependencies);
  };

  // None of these paths has a parameter.
  const openPaths = new Set(operations.filter(isOpenToScripts).map(({ path }) => path));
  const openHeadersAt = (path: string) => (openPaths.has(path) ? openHeaders() : {});
  const dispatch: Dispatch = async (request) => {
    let at: RoutedRequest | undefined;
    try {
      at = router.route(request);
      if (at.method === 'OPTIONS' && at.others.some(isOpenToScripts)) {
        return { ...preflightAnswer(allowedBy(at.others)), ...tellOf(at) };
      }
      await takeBody(at);
      const { operation } = tellOf(at);
      const end = await admission.begin(request.network, isFirst(operation));
      at.makeRoom = end;
      try {
        if (request.left.aborted) {
          throw new ClientLeft();
        }
        return answerTo(at, await replyTo(at, request));
      } finally {
        end();
      }
    } catch (thrown) {
      const error = asServiceError(thrown);
      // Its calls were given up, which is no fault of the domain.
      const isGivenUp = thrown === request.left.reason || error.code === ErrorCode.UNAVAILABLE;
      if (thrown instanceof ClientLeft || (request.left.aborted && isGivenUp)) {
        return { status: CLIENT_LEFT, headers: {}, ...tellOf(at) };
      }
      logFault(log, request.requestId, error);
      return failed(error, request, at, options.toErrorAnswer);
    }
  };
  return { dispatch, openHeadersAt };
}

function failed(
  error: ServiceError,
  request: HttpRequest,
  at: RoutedRequest | undefined,
  toErrorAnswer: (error: ServiceError, requestId: string, failure: Failure) => HttpAnswer,
): DispatchedAnswer {
  const answer = toErrorAnswer(error, request.requestId, { request, operation: nearestOf(at) });
  if (error.code === ErrorCode.METHOD_NOT_ALLOWED && at) {
    answer.headers.allow = allowedBy(at.others);
  }
  const { operation, facts } = tellOf(at);
  const code = error instanceof Busy ? BUSY : publicCode(error.code);
  const told = { ...withOpenHeaders(at, answer), operation, facts: { ...facts, ...error.keyHolder, code } };
  // The domain answered with a refusal, and logs its own faults; or this edge has too many requests.
  const isRefused = error.code === ErrorCode.UNAVAILABLE && !(error instanceof NotReached);
  return isRefused ? { ...told, level: 'warn', facts: { ...told.facts, reason: error.message } } : told;
}

function answerTo(at: RoutedRequest, { status, headers, body }: AnyReply): DispatchedAnswer {
  const type = body instanceof Html ? 'text/html; charset=utf-8' : 'application/json';
  const answer =
    body === undefined
      ? { status, headers }
      : { status, headers: { 'content-type': type, ...headers }, body: bytesOf(body) };
  return { ...withOpenHeaders(at, answer), ...tellOf(at) };
}

function bytesOf(body: unknown): HttpAnswer['body'] {
  if (body instanceof Html) {
    return String(body);
  }
  return body instanceof MadeJson ? body.content : JSON.stringify(body);
}

function withOpenHeaders(at: RoutedRequest | undefined, answer: HttpAnswer): HttpAnswer {
  const operation = nearestOf(at);
  return operation && isOpenToScripts(operation)
    ? { ...answer, headers: { ...openHeaders(), ...answer.headers } }
    : answer;
}

/** The edge ignores a longer `Accept`: 16 KiB hold 4,000 types, which it needs 9 ms to parse. */
const MAX_ACCEPT_CHARACTERS = 1_000;

/** Documented successes are JSON unless the operation says otherwise, so `Accept` has to allow JSON. */
function refuseUnacceptable({ headers, operation }: RoutedRequest): void {
  const { accept } = headers;
  const responses = operation?.responses;
  const isRead = accept && accept !== '*/*' && accept.length <= MAX_ACCEPT_CHARACTERS;
  if (!isRead || !responses?.['406']) {
    return;
  }
  const offered = Object.entries(responses).flatMap(([status, response]) =>
    status.startsWith('2') && 'content' in response ? Object.keys(response.content ?? {}) : [],
  );
  // JSON is in UTF-8: clients that ask for it with its charset get it.
  const acceptable = offered.flatMap((type) => [type, `${type};charset=utf-8`]);
  if (offered.length > 0 && new Negotiator({ headers: { accept } }).mediaType(acceptable) === undefined) {
    throw new ServiceError(ErrorCode.NOT_ACCEPTABLE, `This operation answers ${offered.join(' or ')} only.`);
  }
}

function nearestOf(at: RoutedRequest | undefined): Operation | undefined {
  return at?.operation ?? at?.others[0];
}

function tellOf(
  at: RoutedRequest | undefined,
): Pick<DispatchedAnswer, 'operation'> & { facts: RoutedRequest['facts'] } {
  return { operation: at?.operation?.operationId ?? 'none', facts: at?.facts ?? {} };
}

function logFault(log: Log, requestId: string, error: ServiceError): void {
  if (error.code === ErrorCode.INTERNAL_ERROR) {
    const stack = error.cause instanceof Error ? error.cause.stack : undefined;
    log.error('request failed', { requestId, internal: error.internal, stack });
  } else if (error instanceof NotReached) {
    log.warn('the domain did not answer', { requestId, internal: error.internal });
  }
}
