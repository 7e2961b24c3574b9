import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import type { Any } from '../../generated/proto/google/protobuf/any.js';
import { BadRequest, ErrorInfo, RetryInfo } from '../../generated/proto/google/rpc/error_details.js';
import { Status } from '../../generated/proto/google/rpc/status.js';
import { ErrorDetail, FieldViolation } from '../../generated/proto/integration/errors/v1/errors.js';
import { asServiceError, ErrorCode, internalError, ServiceError } from '../errors/service-error.js';
import { encoded } from './bytes.js';

/** The gRPC status of each code, for peers without trailers. UNKNOWN marks codes that never cross gRPC. */
export const grpcStatusOf: Record<ErrorCode, status> = {
  [ErrorCode.UNSPECIFIED]: status.UNKNOWN,
  [ErrorCode.INVALID_REQUEST]: status.INVALID_ARGUMENT,
  [ErrorCode.RATE_LIMITED]: status.RESOURCE_EXHAUSTED,
  [ErrorCode.INTERNAL_ERROR]: status.INTERNAL,
  [ErrorCode.UNAVAILABLE]: status.UNAVAILABLE,
  [ErrorCode.NOT_IMPLEMENTED]: status.UNIMPLEMENTED,
  [ErrorCode.ROUTE_NOT_FOUND]: status.UNKNOWN,
  [ErrorCode.METHOD_NOT_ALLOWED]: status.UNKNOWN,
  [ErrorCode.NOT_ACCEPTABLE]: status.UNKNOWN,
  [ErrorCode.SERVICE_TOKEN_MISSING]: status.UNAUTHENTICATED,
  [ErrorCode.SERVICE_TOKEN_INVALID]: status.UNAUTHENTICATED,
  [ErrorCode.CALLER_NOT_ALLOWED]: status.PERMISSION_DENIED,
  [ErrorCode.API_KEY_IN_QUERY]: status.UNKNOWN,
  [ErrorCode.API_KEY_MISSING]: status.UNKNOWN,
  [ErrorCode.API_KEY_MALFORMED]: status.UNKNOWN,
  [ErrorCode.API_KEY_WRONG_ENVIRONMENT]: status.UNKNOWN,
  [ErrorCode.API_KEY_UNKNOWN]: status.UNAUTHENTICATED,
  [ErrorCode.API_KEY_EXPIRED]: status.UNAUTHENTICATED,
  [ErrorCode.INSTANCE_INTEGRATION_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.INSTANCE_INTEGRATION_NOT_CONFIGURED]: status.NOT_FOUND,
  [ErrorCode.CLIENT_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.USER_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.WORKER_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.CURSOR_EXPIRED]: status.OUT_OF_RANGE,
  [ErrorCode.UNAUTHORIZED_CLIENT]: status.PERMISSION_DENIED,
  [ErrorCode.ACCESS_DENIED]: status.PERMISSION_DENIED,
  [ErrorCode.UNSUPPORTED_RESPONSE_TYPE]: status.INVALID_ARGUMENT,
  [ErrorCode.INVALID_SCOPE]: status.INVALID_ARGUMENT,
  [ErrorCode.INVALID_CLIENT]: status.UNAUTHENTICATED,
  [ErrorCode.INVALID_GRANT]: status.FAILED_PRECONDITION,
  [ErrorCode.UNSUPPORTED_GRANT_TYPE]: status.INVALID_ARGUMENT,
  [ErrorCode.UNSUPPORTED_TOKEN_TYPE]: status.INVALID_ARGUMENT,
  [ErrorCode.INVALID_TOKEN]: status.UNAUTHENTICATED,
  [ErrorCode.INSUFFICIENT_SCOPE]: status.PERMISSION_DENIED,
  [ErrorCode.LOGIN_REQUIRED]: status.UNAUTHENTICATED,
  [ErrorCode.CONSENT_REQUIRED]: status.FAILED_PRECONDITION,
  [ErrorCode.ACCOUNT_SELECTION_REQUIRED]: status.FAILED_PRECONDITION,
  [ErrorCode.INTERACTION_REQUIRED]: status.FAILED_PRECONDITION,
  [ErrorCode.REQUEST_NOT_SUPPORTED]: status.INVALID_ARGUMENT,
  [ErrorCode.REQUEST_URI_NOT_SUPPORTED]: status.INVALID_ARGUMENT,
  [ErrorCode.INSTANCE_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.ROLE_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.UNIT_TYPE_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.UNIT_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.LOCATION_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.JOB_TITLE_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.ACCOUNT_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.APPLICATION_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.APPLICATION_SECRET_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.REDIRECT_URI_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.INTEGRATION_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.API_KEY_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.SERVICE_TOKEN_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.SUBSCRIPTION_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.EVENT_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.DELIVERY_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.RETRY_BATCH_NOT_FOUND]: status.NOT_FOUND,
  [ErrorCode.ALREADY_EXISTS]: status.ALREADY_EXISTS,
  [ErrorCode.VERSION_CONFLICT]: status.ABORTED,
  [ErrorCode.TRANSITION_REFUSED]: status.FAILED_PRECONDITION,
  [ErrorCode.IDEMPOTENCY_KEY_REUSED]: status.FAILED_PRECONDITION,
  [ErrorCode.RESOURCE_IN_USE]: status.FAILED_PRECONDITION,
  [ErrorCode.RESOURCE_BUILT_IN]: status.FAILED_PRECONDITION,
  [ErrorCode.WEBHOOK_URL_REFUSED]: status.INVALID_ARGUMENT,
  [ErrorCode.SUBSCRIPTION_DISABLED]: status.FAILED_PRECONDITION,
  [ErrorCode.UNRECOGNIZED]: status.UNKNOWN,
};

const TRAILER = 'integration-error-bin';
const GOOGLE_TRAILER = 'grpc-status-details-bin';

const MAX_DETAIL_BYTES = 16_384;
/** gRPC for Java, Python and C++ accepts 8 KiB of trailers: the detail twice in base64, and the message. */
const MAX_TRAILER_BYTES = 2_304;
const MAX_MESSAGE_CHARACTERS = 1_000;
/** The tag and length of a violation, in either trailer. */
const FRAME_BYTES = 6;

/** CANCELLED: a stopping server cuts calls with it. Our callers do not wait for calls that they cancel. */
const NOT_REACHED: ReadonlySet<status> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
]);

/** How a call failed, as grpc-js tells it. */
export interface FailedCall {
  code: number;
  details: string;
  metadata?: Metadata;
}

/**
 * What a call failed with, as an error that can be sent: a public part that cannot be encoded, such as a
 * negative wait, is a fault of ours. Thrown while an answer is written, it would end the process.
 */
export function failureOf(thrown: unknown): ServiceError {
  const failure = asServiceError(thrown);
  try {
    toDetail(failure);
    return failure;
  } catch (cause) {
    return internalError(cause);
  }
}

/** The public part of an error: in the trailer that our roles read, and in the one that other tools read. */
export function toStatus(error: ServiceError): StatusObject {
  const metadata = new Metadata();
  const code = grpcStatusOf[error.code];
  const detail = toDetail(error, MAX_TRAILER_BYTES);
  metadata.set(TRAILER, encoded(ErrorDetail, detail));
  metadata.set(GOOGLE_TRAILER, googleStatus(code, detail));
  return { code, details: detail.message, metadata };
}

/** The refusal in the form that grpcurl and the gRPC libraries of other languages read. */
function googleStatus(code: number, detail: ErrorDetail): Buffer {
  const { message, fieldViolations, retryAfterSeconds } = detail;
  const reason = detail.code.replace(/^ERROR_CODE_/, '');
  const details = [any('ErrorInfo', encoded(ErrorInfo, { reason, domain: 'integration' }))];
  if (fieldViolations.length > 0) {
    const faults = fieldViolations.map(({ path, message: description }) => ({ field: path, description }));
    details.push(any('BadRequest', encoded(BadRequest, { fieldViolations: faults })));
  }
  if (retryAfterSeconds !== undefined) {
    const retryDelay = { seconds: BigInt(retryAfterSeconds), nanos: 0 };
    details.push(any('RetryInfo', encoded(RetryInfo, { retryDelay })));
  }
  return encoded(Status, { code, message, details });
}

function any(name: string, value: Buffer): Any {
  return { typeUrl: `type.googleapis.com/google.rpc.${name}`, value };
}

/** With as many violations as fit. */
export function toDetail(error: ServiceError, maxBytes = MAX_DETAIL_BYTES): ErrorDetail {
  const { code, rateLimit, retryAfterSeconds, keyHolder } = error;
  const text =
    error.message.length > MAX_MESSAGE_CHARACTERS
      ? `${error.message.slice(0, MAX_MESSAGE_CHARACTERS)}…`
      : error.message;
  // Without half a surrogate pair, which grpc-js cannot encode.
  const message = Buffer.from(text).toString();
  const detail: ErrorDetail = { code, message, fieldViolations: [], rateLimit, retryAfterSeconds, keyHolder };
  let room = maxBytes - ErrorDetail.encode(detail).finish().length;
  for (const violation of error.fieldViolations) {
    room -= FieldViolation.encode(violation).finish().length + FRAME_BYTES;
    if (room < 0) {
      break;
    }
    detail.fieldViolations.push(violation);
  }
  return detail;
}

/** The error of a refusal; without its trailer the peer was not reached or failed. */
export function fromStatus(failure: FailedCall): ServiceError {
  const detail = decodeDetail(failure.metadata?.get(TRAILER)[0]);
  if (detail) {
    return fromDetail(detail, failure.code);
  }
  // grpc-js appends its note also when it has none.
  const internal = `${status[failure.code]}: ${failure.details.replace(/\s*Resolution note:\s*$/, '')}`;
  return NOT_REACHED.has(failure.code) ? notReached(internal) : internalError(new Error(internal));
}

/** Whether the peer itself refused. */
export function hasDetail({ metadata }: FailedCall): boolean {
  return decodeDetail(metadata?.get(TRAILER)[0]) !== undefined;
}

export function fromDetail(detail: ErrorDetail, code = grpcStatusOf[detail.code]): ServiceError {
  return new ServiceError(detail.code, detail.message, {
    ...detail,
    internal: `refused with ${status[code]}: ${detail.message}`,
  });
}

/** The peer did not answer. */
export function notReached(internal: string): ServiceError {
  return new ServiceError(
    ErrorCode.UNAVAILABLE,
    'The service cannot answer right now. Please try again shortly.',
    { internal, retryAfterSeconds: 1 },
  );
}

/** Ignores an unreadable trailer: an error in a callback of grpc-js would end the process. */
function decodeDetail(trailer: unknown): ErrorDetail | undefined {
  try {
    return trailer instanceof Uint8Array ? ErrorDetail.decode(trailer) : undefined;
  } catch {
    return undefined;
  }
}
