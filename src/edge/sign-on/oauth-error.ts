import type { Operation } from 'openapi-backend';
import { ErrorCode, type ServiceError } from '../../errors/service-error.js';
import type { Failure } from '../contract/contract-api.js';
import type { HttpAnswer } from '../http/exchange.js';
import { BodyRefusal } from '../http/request-body.js';
import { NoAccessToken } from './presented-token.js';
import { NO_STORE } from './sign-on-handler.js';

interface Refusal {
  status: number;
  error: string;
}

const BUSY: Refusal = { status: 503, error: 'temporarily_unavailable' };
const FAULT: Refusal = { status: 500, error: 'server_error' };

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
export function toOAuthError(error: ServiceError, { request, operation }: Failure): HttpAnswer {
  const isChallenged = request.headers.authorization !== undefined || operation?.operationId === 'introspect';
  const refusal = documented(refusalOf(error, isChallenged), operation);
  const description = refusal === FAULT ? 'The request could not be completed.' : plainText(error.message);
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

export function retryAfterOf(status: number, error: ServiceError): { 'Retry-After'?: number } {
  const waits = status === 429 || status === 503;
  return waits ? { 'Retry-After': Math.max(1, error.retryAfterSeconds ?? 1) } : {};
}

function refusalOf(error: ServiceError, isChallenged: boolean): Refusal {
  const refusal = REFUSALS[error.code] ?? FAULT;
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
  return errors.includes(refusal.error) ? refusal : FAULT;
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
