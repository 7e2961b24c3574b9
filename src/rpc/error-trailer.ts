import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { ErrorDetail } from '../../generated/proto/integration/errors/v1/errors.js';
import { ErrorCode, internalError, ServiceError } from '../errors/service-error.js';
import { grpcStatusOf } from './grpc-status.js';

const TRAILER = 'integration-error-bin';

/** The public half of an error, as the trailer carries it. */
export function toStatus(error: ServiceError): StatusObject {
  const metadata = new Metadata();
  const detail: ErrorDetail = {
    code: error.code,
    message: error.message,
    fieldViolations: [...error.fieldViolations],
    rateLimit: error.rateLimit,
    retryAfterSeconds: error.retryAfterSeconds,
  };
  metadata.set(TRAILER, Buffer.from(ErrorDetail.encode(detail).finish()));
  return { code: grpcStatusOf[error.code], details: error.message, metadata };
}

/** The error a peer refused with; without its trailer the peer itself was not reached or not well. */
export function fromStatus(failure: { code: number; details: string; metadata?: Metadata }): ServiceError {
  const trailer = failure.metadata?.get(TRAILER)[0];
  if (trailer instanceof Buffer) {
    const detail = ErrorDetail.decode(trailer);
    return new ServiceError(detail.code, detail.message, {
      internal: `refused with ${status[failure.code]}`,
      fieldViolations: detail.fieldViolations,
      rateLimit: detail.rateLimit,
      retryAfterSeconds: detail.retryAfterSeconds,
    });
  }
  const internal = `${status[failure.code]}: ${failure.details}`;
  if (failure.code === status.UNAVAILABLE || failure.code === status.DEADLINE_EXCEEDED) {
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
