import { describe, expect, test } from '@jest/globals';
import * as gatewayHandlers from '../../../src/edge/gateway/index.js';
import * as signOnHandlers from '../../../src/edge/sign-on/index.js';
import { OAUTH_OPERATIONS } from '../../../src/edge/sign-on/sign-on-handler.js';
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

describe('who judges requests', () => {
  const document = contractDocument('sign-on');
  const securityHandlers = { clientBasic: () => true, accessToken: () => true };
  const opening = (name: string, asReceived: string[]) =>
    openGatewayApi({
      document,
      securityHandlers,
      handlers: { [name]: async () => undefined },
      asReceived: asReceived as never[],
    });

  test.each(OAUTH_OPERATIONS)('is the handler of %s, as the document says', async (name) => {
    await expect(opening(name, [name])).resolves.toBeInstanceOf(Function);
    await expect(opening(name, [])).rejects.toThrow(`the handler ${name} and the document disagree`);
  });

  test.each(['signIn', 'showSignIn', 'setPassword'])('is the document of %s', async (name) => {
    await expect(opening(name, [])).resolves.toBeInstanceOf(Function);
    await expect(opening(name, [name])).rejects.toThrow(`the handler ${name} and the document disagree`);
  });
});
