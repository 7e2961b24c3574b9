import { ErrorCode, ServiceError } from '../../../errors/service-error.js';

/** For names that are unique within a client. The client must be locked, so that the name stays free. */
export function refuseTakenName(kind: 'location' | 'unit type', holder: object | undefined): void {
  if (holder) {
    const fieldViolations = [{ path: 'name', message: `is the name of another ${kind} of the client` }];
    throw new ServiceError(ErrorCode.ALREADY_EXISTS, `The client already has a ${kind} of this name.`, {
      fieldViolations,
    });
  }
}
