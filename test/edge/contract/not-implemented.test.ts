import { beforeAll, describe, expect, test } from '@jest/globals';
import { createSignOnApi } from '../../../src/edge/apis.js';
import { gatewayHandlers } from '../../../src/edge/gateway/index.js';
import type { Dispatch } from '../../../src/edge/http/exchange.js';
import { signOnHandlers } from '../../../src/edge/sign-on/index.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import { AnswerJudge } from '../../support/answer-judge.js';
import { ask } from '../../support/contract-api.js';
import { contractDocument, examplePathOf } from '../../support/contract-document.js';
import { GATEWAY_URL } from '../../support/gateway.js';
import { recordedLog } from '../../support/recorded-log.js';

test('the gateway has a handler for each operation', () => {
  const operationIds = new AnswerJudge('gateway').operations().map(({ operationId }) => operationId);
  expect(Object.keys(gatewayHandlers).sort()).toEqual(operationIds.sort());
});

describe('an operation of the sign-on that is not implemented', () => {
  const document = contractDocument('sign-on');
  const missing = new AnswerJudge('sign-on')
    .operations()
    .filter(({ operationId }) => !Object.hasOwn(signOnHandlers, operationId));
  let dispatch: Dispatch;

  beforeAll(async () => {
    const domain = new RpcChannel('unix:/nowhere', 'token');
    const { log } = recordedLog();
    dispatch = await createSignOnApi({ environment: 'demo', gatewayUrl: GATEWAY_URL, domain, log });
    domain.close();
  });

  // jest refuses an empty table: the day all are implemented this file has done its work and goes.
  test.each(missing)('$operationId answers 501 as a problem', async ({ operationId, method, path }) => {
    const answer = await ask(dispatch, examplePathOf(document, path), { method });
    expect(answer).toMatchObject({ status: 501, operation: operationId });
    expect(answer.problem).toMatchObject({ code: 'not_implemented', requestId: 'request-1' });
  });

  test.each(missing)('$operationId answers 501 whatever its parameters', async ({ method, path }) => {
    const target = `${path.replace(/\{\w+\}/g, 'of-no-kind')}?limit=0&limit=none&code_challenge=`;
    const answer = await ask(dispatch, target, { method, headers: { 'if-none-match': '' } });
    expect([answer.status, answer.problem?.code]).toEqual([501, 'not_implemented']);
  });
});
