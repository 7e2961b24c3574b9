import { expect, test } from '@jest/globals';
import { loggableRequestId } from '../../src/rpc/call-metadata.js';
import { requestIdOf } from '../../workflows/activities/domain-call.js';

test.each([
  ['webhook-retry/whs_1/bat_1', 'attempts-1', 'webhook-retry/whs_1/bat_1/attempts-1/3'],
  ['no name for a log', 'one\ntwo', 'no%20name%20for%20a%20log/one%0Atwo/3'],
  ['100 % é \ud800', 'plan-1', '100%20%25%20%C3%A9%20%EF%BF%BD/plan-1/3'],
  ['w'.repeat(1_000), 'a'.repeat(1_000), `${'w'.repeat(150)}/${'a'.repeat(40)}/3`],
])('the domain takes a request id of any workflow and activity: %j, %j', (workflow, activity, expected) => {
  const requestId = requestIdOf(workflow, activity, 3);
  expect(requestId).toBe(expected);
  expect(loggableRequestId(requestId)).toBe(requestId);
});
