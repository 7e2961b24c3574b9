import { ErrorCode, publicCode, type ServiceError } from '../../errors/service-error.js';
import { printableLine } from './output/printable.js';

/** The command got an unusable argument; the message says what is accepted. */
export class UsageError extends Error {}

/** The work did not complete, or only in part; the message says more. */
export class Unfinished extends Error {}

/** A call that was refused or got no answer, as a message for the caller. */
export class FailedCall extends Error {
  constructor(error: ServiceError, address: string) {
    super(messageOf(error, address), { cause: error });
  }
}

/** Operators also see the internal message: why there was no answer, and from which address. */
function messageOf({ code, message, internal, fieldViolations }: ServiceError, address: string): string {
  if (code === ErrorCode.UNAVAILABLE || code === ErrorCode.INTERNAL_ERROR) {
    // In one line: grpc-js quotes messages of OpenSSL, which contain line breaks.
    return `${address} gave no usable answer: ${printableLine(internal ?? message)}`;
  }
  // Some sentences are made of the one violation that there is.
  const violations = fieldViolations
    .filter(({ message: what }) => !message.includes(what))
    .map(({ path, message: what }) => `\n  - ${`${path} ${what}`.trimStart()}`);
  return `${message} (${publicCode(code)})${violations.join('')}`;
}
