import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { ErrorDetail } from '../../generated/proto/integration/errors/v1/errors.js';
import { ErrorCode, internalError, ServiceError } from '../errors/service-error.js';
import { grpcStatusOf } from './grpc-status.js';

const TRAILER = 'integration-error-bin';

/** HTTP/2 peers break off at 64 KiB of headers, of which base64 and the message beside it take their part. */
const MAX_DETAIL_BYTES = 16_384;
const MAX_MESSAGE_CHARACTERS = 1_000;

/** CANCELLED is what a call hears that a server cuts as it ends; nobody here cancels a call and still waits for it. */
const NOT_REACHED: ReadonlySet<status> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
]);

/** The public half of an error, as the trailer carries it. */
export function toStatus(error: ServiceError): StatusObject {
  const metadata = new Metadata();
  const { message } = error;
  const details =
    message.length > MAX_MESSAGE_CHARACTERS ? `${message.slice(0, MAX_MESSAGE_CHARACTERS)}…` : message;
  metadata.set(TRAILER, encodeDetail(error, details));
  return { code: grpcStatusOf[error.code], details, metadata };
}

/** With as many violations as there is room for: whoever made that many mends the first ones first. */
function encodeDetail(error: ServiceError, message: string): Buffer {
  const { code, rateLimit, retryAfterSeconds } = error;
  let fieldViolations = [...error.fieldViolations];
  for (;;) {
    const detail: ErrorDetail = { code, message, fieldViolations, rateLimit, retryAfterSeconds };
    const bytes = Buffer.from(ErrorDetail.encode(detail).finish());
    if (bytes.length <= MAX_DETAIL_BYTES || fieldViolations.length === 0) {
      return bytes;
    }
    fieldViolations = fieldViolations.slice(0, Math.floor(fieldViolations.length / 2));
  }
}

/** The error a peer refused with; without its trailer the peer itself was not reached or not well. */
export function fromStatus(failure: { code: number; details: string; metadata?: Metadata }): ServiceError {
  const detail = decodeDetail(failure.metadata?.get(TRAILER)[0]);
  if (detail) {
    return new ServiceError(detail.code, detail.message, {
      internal: `refused with ${status[failure.code]}`,
      fieldViolations: detail.fieldViolations,
      rateLimit: detail.rateLimit,
      retryAfterSeconds: detail.retryAfterSeconds,
    });
  }
  const internal = `${status[failure.code]}: ${failure.details}`;
  if (NOT_REACHED.has(failure.code)) {
    return new ServiceError(
      ErrorCode.UNAVAILABLE,
      'The service cannot answer right now. Please try again shortly.',
      {
        internal,
        retryAfterSeconds: 1,
      },
    );
  }
  return internalError(new Error(internal));
}

/** A trailer that cannot be read is none: this runs in callbacks of grpc-js, where an error would end the process. */
function decodeDetail(trailer: unknown): ErrorDetail | undefined {
  try {
    return trailer instanceof Uint8Array ? ErrorDetail.decode(trailer) : undefined;
  } catch {
    return undefined;
  }
}
