import type { ProblemCode } from './generated/gateway/models/ProblemCode.js';
import type { Open } from './open.js';

/** What every error of this package is: catch it to catch them all. */
export class IntegrationServiceError extends Error {
  override readonly name: string = 'IntegrationServiceError';
}

/** What the gateway says of itself, or what was made of an answer that is not its own: `unexpected_response`. */
export type ApiErrorCode = Open<ProblemCode | 'unexpected_response'>;

/** A part of the request that is wrong. */
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

/** The gateway refused, or failed. Decide by `status` and `code`; `message` is for people. */
export class ApiError extends IntegrationServiceError {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ApiErrorCode;
  /** Quote it when you ask for help. `null` where the answer came from somewhere else, a proxy for instance. */
  readonly requestId: string | null;
  /** Every part of the request that is wrong, with `invalid_request`. */
  readonly fields: readonly FieldError[];
  readonly retryAfterSeconds: number | null;

  constructor(message: string, details: ApiErrorDetails, options?: ErrorOptions) {
    super(message, options);
    this.status = details.status;
    this.code = details.code;
    this.requestId = details.requestId;
    this.fields = details.fields ?? [];
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

/** The sign-on server refused: in an answer of its own, or by way of the browser (`status` is `null` then). */
export class OAuthError extends IntegrationServiceError {
  override readonly name = 'OAuthError';
  /** `invalid_grant`, `access_denied`…, or `unexpected_response` for an answer that is not the server's own. */
  readonly error: string;
  readonly description: string | null;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(details: OAuthErrorDetails, options?: ErrorOptions) {
    super(details.description ? `${details.error}: ${details.description}` : details.error, options);
    this.error = details.error;
    this.description = details.description;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

export type SignInErrorReason =
  | 'callback_malformed'
  | 'state_mismatch'
  | 'issuer_mismatch'
  | 'id_token_missing'
  | 'id_token_invalid'
  | 'nonce_mismatch';

/** What came back is not the answer to what was asked. Do not sign the person in; begin again. */
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

/** No connection, or one that broke before the answer was whole. `cause` says more. */
export class ConnectionError extends IntegrationServiceError {
  override readonly name = 'ConnectionError';
}

/** No whole answer within `timeoutMs`. */
export class TimeoutError extends IntegrationServiceError {
  override readonly name = 'TimeoutError';
}
