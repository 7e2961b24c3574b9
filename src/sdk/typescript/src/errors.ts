import type { ProblemCode } from './generated/gateway/models/ProblemCode.js';
import type { Open } from './models.js';

/** The base class of all errors of this package. */
export class IntegrationServiceError extends Error {
  override readonly name: string = 'IntegrationServiceError';
}

/** An error code of the gateway, or `unexpected_response` for an answer that is not the gateway's. */
export type ApiErrorCode = Open<ProblemCode | 'unexpected_response'>;

/** An invalid part of the request. */
export interface FieldError {
  /** `path`, `query`, `header`… */
  in: string;
  /** Name of the parameter or header. */
  path: string;
  message: string;
}

export interface ApiErrorDetails {
  status: number;
  code: ApiErrorCode;
  requestId: string | null;
  fields?: readonly FieldError[];
  retryAfterSeconds: number | null;
}

/**
 * An error answer of the gateway. Decide by `status` and `code`; `message`, which has both and the
 * request id, is for people.
 */
export class ApiError extends IntegrationServiceError {
  override readonly name = 'ApiError';
  /** The gateway's own sentence, without status, code and request id. */
  readonly detail: string;
  readonly status: number;
  readonly code: ApiErrorCode;
  /** For support requests. `null` if the answer is not the gateway's, for example from a proxy. */
  readonly requestId: string | null;
  /** The invalid parts of the request, with `invalid_request`. */
  readonly fields: readonly FieldError[];
  readonly retryAfterSeconds: number | null;

  constructor(message: string, details: ApiErrorDetails, options?: ErrorOptions) {
    const fields = details.fields ?? [];
    const places = fields.map((field) => `${field.in} ${field.path} ${field.message}`).join('; ');
    const said = `${message} (${details.status} ${details.code}${requestIn(details)})`;
    super(places === '' ? said : `${said}: ${places}`, options);
    this.detail = message;
    this.status = details.status;
    this.code = details.code;
    this.requestId = details.requestId;
    this.fields = fields;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

export interface OAuthErrorDetails {
  error: string;
  description: string | null;
  status: number | null;
  requestId: string | null;
  retryAfterSeconds: number | null;
}

/** An error of the sign-on server, in an answer or by way of the browser (`status` is `null` then). */
export class OAuthError extends IntegrationServiceError {
  override readonly name = 'OAuthError';
  /** `invalid_grant`, `access_denied`…, or `unexpected_response` for an answer that is not the server's. */
  readonly error: string;
  readonly description: string | null;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(details: OAuthErrorDetails, options?: ErrorOptions) {
    const said = details.description ? `${details.error}: ${details.description}` : details.error;
    super(details.status === null ? said : `${said} (${details.status}${requestIn(details)})`, options);
    this.error = details.error;
    this.description = details.description;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

function requestIn({ requestId }: { requestId: string | null }): string {
  return requestId ? `, request ${requestId}` : '';
}

export type SignInErrorReason =
  | 'callback_malformed'
  | 'state_mismatch'
  | 'issuer_mismatch'
  | 'id_token_missing'
  | 'id_token_invalid'
  | 'nonce_mismatch';

/** The callback is not a valid answer to the request. Do not sign the person in; begin again. */
export class SignInError extends IntegrationServiceError {
  override readonly name = 'SignInError';

  constructor(
    readonly reason: SignInErrorReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** No connection, or one that broke before the end of the answer. See `cause`. */
export class ConnectionError extends IntegrationServiceError {
  override readonly name = 'ConnectionError';
}

/** The answer was not complete within `timeoutMs`, or within a shorter limit of `fetch`. */
export class TimeoutError extends IntegrationServiceError {
  override readonly name = 'TimeoutError';
}
