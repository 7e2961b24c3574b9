import { expect, test } from '@jest/globals';
import * as gatewayHandlers from '../../../src/edge/gateway/index.js';
import * as signOnHandlers from '../../../src/edge/sign-on/index.js';
import { AnswerJudge } from '../../support/contract/answer-judge.js';
import { ask, openGatewayApi } from '../../support/contract/contract-api.js';
import { contractDocument } from '../../support/contract/contract-document.js';

test.each([
  ['gateway', gatewayHandlers],
  ['sign-on', signOnHandlers],
] as const)('the %s has a handler for each operation', (name, handlers) => {
  const operationIds = new AnswerJudge(name).operations().map(({ operationId }) => operationId);
  expect(Object.keys(handlers).sort()).toEqual(operationIds.sort());
});

test('an operation without a handler says that it is not part of this release, however it is asked', async () => {
  const dispatch = await openGatewayApi({ handlers: {} });
  for (const query of ['', '?limit=none']) {
    const answer = await ask(dispatch, `/v1/instance-integrations${query}`);
    expect(answer).toMatchObject({ status: 501, operation: 'listInstanceIntegrations' });
    expect(answer.problem).toMatchObject({ code: 'not_implemented', requestId: 'request-1' });
  }
});

// The domain checks `apiKey` and `clientBasic`, the AccessTokenVerifier of the edge `accessToken`.
test('a contract names no security scheme but these, each of which is checked', () => {
  const schemesOf = (name: 'gateway' | 'sign-on') =>
    Object.keys(contractDocument(name).components?.securitySchemes ?? {});
  expect(schemesOf('gateway')).toEqual(['apiKey']);
  expect(schemesOf('sign-on')).toEqual(['clientBasic', 'accessToken']);
});
