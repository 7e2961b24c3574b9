import { expect, test } from '@jest/globals';
import { inJsonNames } from '../../src/errors/json-names.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';

test('an error names its fields as JSON does, also in a sentence that is made of one', () => {
  const fieldViolations = [
    { path: 'manager_user_id', message: 'must be a user of the client' },
    { path: 'redirect_uris[0].instance_id', message: 'must not be empty' },
    { path: '', message: 'must have one' },
  ];
  const sentence = 'The user cannot be written: manager_user_id must be a user of the client.';
  const error = new ServiceError(ErrorCode.INVALID_REQUEST, sentence, { fieldViolations });
  expect(inJsonNames(error)).toMatchObject({
    code: ErrorCode.INVALID_REQUEST,
    message: 'The user cannot be written: managerUserId must be a user of the client.',
    fieldViolations: [
      { path: 'managerUserId' },
      { path: 'redirectUris[0].instanceId' },
      { path: '', message: 'must have one' },
    ],
  });
});
