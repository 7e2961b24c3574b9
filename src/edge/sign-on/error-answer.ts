import type { Operation } from 'openapi-backend';
import { operations } from '../../../generated/openapi/sign-on-operations.js';
import { ErrorCode, type ServiceError } from '../../errors/service-error.js';
import type { Failure } from '../contract/contract-api.js';
import type { HttpAnswer, HttpRequest } from '../http/exchange.js';
import { BodyRefusal } from '../http/request-body.js';
import { errorPage, inWords, lockedOutPage } from '../pages/error.js';
import type { PageContent } from '../pages/layout.js';
import { retryAfterOf, toOAuthError } from './oauth-error.js';
import { ForeignForm, LockedOut } from './page-handlers.js';
import type { PageWriter } from './page-writer.js';

interface Told {
  status: number;
  message: string;
  hint?: string;
}

const START_AGAIN = 'Go back to your application and start again from there.';
/** Mail programs break long links. */
const OPEN_AGAIN = 'Open the link in the message again. If it is broken into lines, copy all of it.';
const MAILED_LINKS: ReadonlySet<string> = new Set(
  [operations.setPassword, operations.verifyEmail, operations.changeEmail].map(({ path }) => path),
);

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
  [ErrorCode.RATE_LIMITED]: { status: 429, message: 'Too many tries.' },
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
      ? toPage(error, requestId, pages, failure.request.path)
      : toOAuthError(error, failure);
}

function answersPeople(operation: Operation | undefined, { method, path }: HttpRequest): boolean {
  if (!operation) {
    return (method === 'GET' || method === 'HEAD') && !path.startsWith('/.well-known/');
  }
  const response = operation.responses?.['500'] as { content?: object } | undefined;
  return 'text/html' in (response?.content ?? {});
}

function toPage(error: ServiceError, requestId: string, pages: PageWriter, path: string): HttpAnswer {
  const { status, page } = pageOf(error, requestId, path);
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

function pageOf(error: ServiceError, requestId: string, path: string): { status: number; page: PageContent } {
  if (error instanceof LockedOut) {
    const { backUrl, message, retryAfterSeconds: waitSeconds = 1 } = error;
    const page = lockedOutPage({ message, waitSeconds, now: Date.now(), backUrl, requestId });
    return { status: 429, page };
  }
  const { status, message, hint: usual } = toldOf(error);
  const hint = usual === START_AGAIN && MAILED_LINKS.has(path) ? OPEN_AGAIN : usual;
  return { status, page: errorPage({ message, hint, requestId }) };
}

function toldOf(error: ServiceError): Told {
  if (error instanceof BodyRefusal) {
    return BODY_TOLD[error.status];
  }
  if (error instanceof ForeignForm) {
    return { status: 400, message: error.message, hint: START_AGAIN };
  }
  const told = TOLD[error.code] ?? FAULT;
  return told.status === 429 ? { ...told, hint: waitOf(error.retryAfterSeconds ?? 1) } : told;
}

function waitOf(seconds: number): string {
  const wait = seconds <= 60 ? 'about a minute' : inWords(seconds);
  return `Please wait ${wait} before you try again.`;
}
