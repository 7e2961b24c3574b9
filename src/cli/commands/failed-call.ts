import { ErrorCode, publicCode, type ServiceError } from '../../errors/service-error.js';

/** A call that was refused or got no answer, told to the person who made it. */
export class FailedCall extends Error {
  constructor(error: ServiceError, address: string) {
    super(messageOf(error, address), { cause: error });
    this.name = 'FailedCall';
  }
}

/** An operator may see what no integrator should: why there was no answer, and from where. */
function messageOf({ code, message, internal, fieldViolations }: ServiceError, address: string): string {
  if (code === ErrorCode.UNAVAILABLE || code === ErrorCode.INTERNAL_ERROR) {
    return `${address} gave no answer to use: ${asOneLine(internal ?? message)}`;
  }
  const violations = fieldViolations.map(({ path, message: what }) => `\n  - ${path} ${what}`);
  return `${message} (${publicCode(code)})${violations.join('')}`;
}

/** grpc-js ends its sentences with notes that may be empty, and quotes OpenSSL with its line breaks. */
function asOneLine(text: string): string {
  return text
    .replace(/Resolution note: *$/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
