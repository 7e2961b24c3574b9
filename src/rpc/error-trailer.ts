import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import type { Any } from '../../generated/proto/google/protobuf/any.js';
import { BadRequest, ErrorInfo, RetryInfo } from '../../generated/proto/google/rpc/error_details.js';
import { Status } from '../../generated/proto/google/rpc/status.js';
import { grpcStatusOf } from '../../generated/proto/grpc-statuses.js';
import { ErrorDetail, FieldViolation } from '../../generated/proto/integration/errors/v1/errors.js';
import { asServiceError, internalError, NotReached, ServiceError } from '../errors/service-error.js';
import { encoded } from './bytes.js';

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
    const found = `${(cause as Error).message}, in ${failure.code}: ${failure.message}`;
    return internalError(new Error(found, { cause: failure }));
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
  return NOT_REACHED.has(failure.code) ? new NotReached(internal) : internalError(new Error(internal));
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

/** Ignores an unreadable trailer: an error in a callback of grpc-js would end the process. */
function decodeDetail(trailer: unknown): ErrorDetail | undefined {
  try {
    return trailer instanceof Uint8Array ? ErrorDetail.decode(trailer) : undefined;
  } catch {
    return undefined;
  }
}
