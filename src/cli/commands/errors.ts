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

/** How grpc-js says that it could not connect. */
const UNSENT = /^UNAVAILABLE: (?:No connection established|Name resolution failed)/;
const MAY_BE_DONE =
  '\nIf the command changes something, the change may have been made: check before you repeat it.';

/** Operators also see the internal message: why there was no answer, and from which address. */
function messageOf({ code, message, internal, fieldViolations }: ServiceError, address: string): string {
  if (code === ErrorCode.UNAVAILABLE || code === ErrorCode.INTERNAL_ERROR) {
    // In one line: grpc-js quotes messages of OpenSSL, which contain line breaks.
    const why = printableLine(internal ?? message);
    if (UNSENT.test(why) && why.includes('ECONNREFUSED')) {
      return `Nothing listens at ${address}. Start the service there, or set INTEGRATION_ADDRESS to where it is.`;
    }
    return `${address} gave no usable answer: ${why}${UNSENT.test(why) ? '' : MAY_BE_DONE}`;
  }
  // Some sentences are made of the one violation that there is.
  const violations = fieldViolations
    .filter(({ message: what }) => !message.includes(what))
    .map(({ path, message: what }) => `\n  - ${`${path} ${what}`.trimStart()}`);
  return `${message} (${publicCode(code)})${violations.join('')}`;
}
