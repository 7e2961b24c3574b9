import type { Operation } from 'openapi-backend';
import { operations } from '../../../generated/openapi/sign-on-operations.js';
import { ErrorCode, type ServiceError } from '../../errors/service-error.js';
import type { Failure } from '../contract/contract-api.js';
import { judgesItself } from '../contract/validation.js';
import { BodyRefusal, type HttpAnswer, type HttpRequest } from '../http/exchange.js';
import { errorPage, inWords, lockedOutPage, WAIT_FIRST } from '../pages/error.js';
import type { PageContent } from '../pages/layout.js';
import { NoAccessToken } from './oauth-request.js';
import { ForeignForm, LockedOut } from './page-handlers.js';
import type { PageWriter } from './page-writer.js';
import { NO_STORE } from './sign-on-handler.js';

interface Told {
  status: number;
  heading?: string;
  message: string;
  hint?: string;
}

const START_AGAIN = 'Go back to your application and start again from there.';
/** Mail programs break long links. */
const OPEN_AGAIN = 'Open the link in the message again. If it is broken into lines, copy all of it.';
const MAILED_LINKS: ReadonlySet<string> = new Set(
  [operations.setPassword, operations.verifyEmail, operations.changeEmail].map(({ path }) => path),
);

/** For a form without a page of its own: the page that leads on to where the sign-in waits. */
const PAGE_OF_FORM: Record<string, string> = {
  [operations.cancelSignIn.path]: operations.showContexts.path,
};

const FAULT: Told = {
  status: 500,
  message: 'We could not complete this. Please try again.',
};

const TOLD: Partial<Record<ErrorCode, Told>> = {
  [ErrorCode.INVALID_REQUEST]: {
    status: 400,
    message: 'This address or form is not complete.',
    hint: START_AGAIN,
  },
  [ErrorCode.ROUTE_NOT_FOUND]: {
    status: 404,
    message: 'There is no page at this address.',
    hint: START_AGAIN,
  },
  [ErrorCode.METHOD_NOT_ALLOWED]: {
    status: 405,
    message: 'This address cannot be used that way.',
    hint: START_AGAIN,
  },
  [ErrorCode.UNAVAILABLE]: {
    status: 503,
    message: 'We are briefly unable to answer.',
    hint: 'Please try again in a moment. Nothing is lost.',
  },
};

const BODY_TOLD: Record<BodyRefusal['status'], Told> = {
  408: { status: 408, message: 'The form did not arrive.', hint: 'Please go back and try again.' },
  413: { status: 413, message: 'The form is too large.' },
  415: { status: 415, message: 'The form could not be read.' },
};

/** Errors have the format of their endpoint: JSON for programs, a page for people. */
export function signOnErrors(pages: PageWriter) {
  return (error: ServiceError, requestId: string, failure: Failure): HttpAnswer =>
    answersPeople(failure.operation, failure.request)
      ? toPage(error, requestId, pages, failure)
      : toOAuthError(error, failure);
}

function answersPeople(operation: Operation | undefined, { method, path }: HttpRequest): boolean {
  if (!operation) {
    return (method === 'GET' || method === 'HEAD') && !path.startsWith('/.well-known/');
  }
  const response = operation.responses?.['500'] as { content?: object } | undefined;
  return 'text/html' in (response?.content ?? {});
}

function toPage(error: ServiceError, requestId: string, pages: PageWriter, failure: Failure): HttpAnswer {
  const { status, page } = pageOf(error, requestId, failure);
  const answer = pages.page(page);
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      ...answer.headers,
      ...retryAfterOf(status, error),
    },
    body: String(answer.body),
  };
}

function pageOf(
  error: ServiceError,
  requestId: string,
  failure: Failure,
): { status: number; page: PageContent } {
  if (error instanceof LockedOut) {
    const { backUrl, message, retryAfterSeconds: waitSeconds = 1 } = error;
    const page = lockedOutPage({ message, waitSeconds, now: Date.now(), backUrl, requestId });
    return { status: 429, page };
  }
  const { status, hint: usual, ...said } = toldOf(error);
  const isRefused = usual === START_AGAIN;
  const hint = isRefused && MAILED_LINKS.has(failure.request.path) ? OPEN_AGAIN : usual;
  const onward = isRefused ? {} : onwardFrom(failure);
  return { status, page: errorPage({ ...said, hint, ...onward, requestId }) };
}

/** Where people go on once the service works again; only our own forms carry the query of their page. */
function onwardFrom({ request, operation }: Failure): { continueUrl?: string; continueLabel?: string } {
  const { method, rawQuery } = request;
  const isForm = method === 'POST';
  if (operation?.path === undefined || (isForm && (rawQuery === '' || judgesItself(operation)))) {
    return {};
  }
  const path = PAGE_OF_FORM[operation.path] ?? operation.path;
  const continueUrl = rawQuery === '' ? path : `${path}?${rawQuery}`;
  return { continueUrl, continueLabel: isForm ? 'Back' : 'Try again' };
}

function toldOf(error: ServiceError): Told {
  if (error instanceof BodyRefusal) {
    return BODY_TOLD[error.status];
  }
  if (error instanceof ForeignForm) {
    return { status: 400, message: error.message, hint: START_AGAIN };
  }
  if (error.code === ErrorCode.RATE_LIMITED) {
    const { message, retryAfterSeconds = 1 } = error;
    return { status: 429, heading: WAIT_FIRST, message, hint: waitOf(retryAfterSeconds) };
  }
  return TOLD[error.code] ?? FAULT;
}

function waitOf(seconds: number): string {
  const wait = seconds <= 60 ? 'about a minute' : inWords(seconds);
  return `Please wait ${wait} before you try again.`;
}

interface Refusal {
  status: number;
  error: string;
}

const BUSY: Refusal = { status: 503, error: 'temporarily_unavailable' };
const SERVER_ERROR: Refusal = { status: 500, error: 'server_error' };

/** The only mapping from refusals to statuses and OAuth errors. */
const REFUSALS: Partial<Record<ErrorCode, Refusal>> = {
  [ErrorCode.INVALID_REQUEST]: { status: 400, error: 'invalid_request' },
  [ErrorCode.INVALID_CLIENT]: { status: 400, error: 'invalid_client' },
  [ErrorCode.INVALID_GRANT]: { status: 400, error: 'invalid_grant' },
  [ErrorCode.UNAUTHORIZED_CLIENT]: { status: 400, error: 'unauthorized_client' },
  [ErrorCode.UNSUPPORTED_GRANT_TYPE]: { status: 400, error: 'unsupported_grant_type' },
  [ErrorCode.UNSUPPORTED_TOKEN_TYPE]: { status: 400, error: 'unsupported_token_type' },
  [ErrorCode.INVALID_SCOPE]: { status: 400, error: 'invalid_scope' },
  [ErrorCode.INVALID_TOKEN]: { status: 401, error: 'invalid_token' },
  [ErrorCode.INSUFFICIENT_SCOPE]: { status: 403, error: 'insufficient_scope' },
  [ErrorCode.ROUTE_NOT_FOUND]: { status: 404, error: 'invalid_request' },
  [ErrorCode.METHOD_NOT_ALLOWED]: { status: 405, error: 'invalid_request' },
  [ErrorCode.RATE_LIMITED]: { status: 429, error: 'temporarily_unavailable' },
  [ErrorCode.UNAVAILABLE]: BUSY,
};

/** An error for programs: JSON with `error` and `error_description` (RFC 6749, 5.2 and RFC 6750, 3.1). */
function toOAuthError(error: ServiceError, { request, operation }: Failure): HttpAnswer {
  const isChallenged = request.headers.authorization !== undefined || operation?.operationId === 'introspect';
  const refusal = documented(refusalOf(error, isChallenged), operation);
  const description =
    refusal === SERVER_ERROR ? 'The request could not be completed.' : plainText(error.message);
  return {
    status: refusal.status,
    headers: {
      'content-type': 'application/json',
      ...NO_STORE,
      ...challengeOf(refusal, description, error, operation),
      ...retryAfterOf(refusal.status, error),
    },
    body: JSON.stringify({ error: refusal.error, error_description: description }),
  };
}

function retryAfterOf(status: number, error: ServiceError): { 'Retry-After'?: number } {
  const waits = status === 429 || status === 503;
  return waits ? { 'Retry-After': Math.max(1, error.retryAfterSeconds ?? 1) } : {};
}

function refusalOf(error: ServiceError, isChallenged: boolean): Refusal {
  const refusal = REFUSALS[error.code] ?? SERVER_ERROR;
  if (error instanceof BodyRefusal) {
    // A late body can be sent again: a client that decides by the code must not give up its refresh token.
    const { error: code } = error.status === 408 ? BUSY : refusal;
    return { status: error.status, error: code };
  }
  // For clients that used the header (RFC 6749, 5.2), and at introspection for all (RFC 7662, 2.3).
  return error.code === ErrorCode.INVALID_CLIENT && isChallenged ? { ...refusal, status: 401 } : refusal;
}

/** A refusal outside the operation's contract is an internal fault. */
function documented(refusal: Refusal, operation: Operation | undefined): Refusal {
  if (!operation) {
    return refusal;
  }
  const response = operation.responses?.[refusal.status] as
    | { content?: Record<string, { schema?: { properties?: { error?: { enum?: string[] } } } }> }
    | undefined;
  const errors = response?.content?.['application/json']?.schema?.properties?.error?.enum ?? [];
  return errors.includes(refusal.error) ? refusal : SERVER_ERROR;
}

/** The challenge of a failed authentication. */
function challengeOf(
  { status, error }: Refusal,
  description: string,
  cause: ServiceError,
  operation: Operation | undefined,
): { 'WWW-Authenticate'?: string } {
  const schemes = (operation?.security ?? []).flatMap((requirement) => Object.keys(requirement));
  if (schemes.includes('clientBasic')) {
    return status === 401 ? { 'WWW-Authenticate': 'Basic realm="sign-on", charset="UTF-8"' } : {};
  }
  if (!schemes.includes('accessToken') || ![400, 401, 403].includes(status)) {
    return {};
  }
  const scope = status === 403 ? ', scope="openid"' : '';
  const said =
    cause instanceof NoAccessToken ? '' : `, error="${error}", error_description="${description}"${scope}`;
  return { 'WWW-Authenticate': `Bearer realm="sign-on"${said}` };
}

/** Keeps the characters that OAuth allows in a description. */
function plainText(message: string): string {
  return message.replaceAll('"', "'").replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');
}
