import { ErrorCode, ServiceError } from '../../errors/service-error.js';

/** How long the reader of a stream may pause. */
export const READER_PATIENCE_MS = 120_000;

export function notRead(): ServiceError {
  return new ServiceError(ErrorCode.UNAVAILABLE, 'The answer was not read for two minutes.');
}
