import { ErrorCode, publicCode, type ServiceError } from '../../errors/service-error.js';

/** A call that was refused or got no answer, as a message for the caller. */
export class FailedCall extends Error {
  constructor(error: ServiceError, address: string) {
    super(messageOf(error, address), { cause: error });
    this.name = 'FailedCall';
  }
}

/** Operators also see the internal message: why there was no answer, and from which address. */
function messageOf({ code, message, internal, fieldViolations }: ServiceError, address: string): string {
  if (code === ErrorCode.UNAVAILABLE || code === ErrorCode.INTERNAL_ERROR) {
    return `${address} gave no usable answer: ${asOneLine(internal ?? message)}`;
  }
  const violations = fieldViolations.map(({ path, message: what }) => `\n  - ${path} ${what}`);
  return `${message} (${publicCode(code)})${violations.join('')}`;
}

/** grpc-js appends notes that may be empty, and quotes OpenSSL with its line breaks. */
function asOneLine(text: string): string {
  return text
    .replace(/Resolution note: *$/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
