import { describe, expect, test } from '@jest/globals';
import { FailedCall } from '../../../src/cli/commands/errors.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';

const failed = (code: ErrorCode, message: string, details = {}) =>
  new FailedCall(new ServiceError(code, message, details), 'localhost:4002').message;

describe('a refused call', () => {
  test('is the sentence with its code, and a line for each fault', () => {
    const fieldViolations = [
      { path: 'name', message: 'must not be empty' },
      { path: 'email', message: 'must be an e-mail address' },
    ];
    expect(failed(ErrorCode.INVALID_REQUEST, 'The request is invalid.', { fieldViolations })).toBe(
      'The request is invalid. (invalid_request)\n  - name must not be empty\n  - email must be an e-mail address',
    );
  });

  test('says a fault once that is in the sentence already', () => {
    const fieldViolations = [{ path: 'url', message: 'must be https' }];
    expect(failed(ErrorCode.WEBHOOK_URL_REFUSED, 'The address must be https.', { fieldViolations })).toBe(
      'The address must be https. (webhook_url_refused)',
    );
  });

  test('without an answer says why, with the address, and that a change may have been made', () => {
    expect(failed(ErrorCode.UNAVAILABLE, 'Later.', { internal: 'UNAVAILABLE: read\n ECONNRESET' })).toBe(
      'localhost:4002 gave no usable answer: UNAVAILABLE: read ECONNRESET\nIf the command changes something, the change may have been made: check before you repeat it.',
    );
  });

  test('to a port on which nothing listens says what to do', () => {
    const internal =
      'UNAVAILABLE: No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:4002.';
    expect(failed(ErrorCode.UNAVAILABLE, 'Later.', { internal })).toBe(
      'Nothing listens at localhost:4002. Start the service there, or set INTEGRATION_ADDRESS to where it is.',
    );
  });

  test.each(['No connection established. Last error: refused', 'Name resolution failed for target dns:x'])(
    'that was never sent says only why: %s',
    (reason) => {
      expect(failed(ErrorCode.UNAVAILABLE, 'Later.', { internal: `UNAVAILABLE: ${reason}` })).toBe(
        `localhost:4002 gave no usable answer: UNAVAILABLE: ${reason}`,
      );
    },
  );
});
