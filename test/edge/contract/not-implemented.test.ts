import { beforeAll, describe, expect, test } from '@jest/globals';
import { createGatewayApi, createSignOnApi } from '../../../src/edge/apis.js';
import { gatewayHandlers } from '../../../src/edge/gateway/index.js';
import type { Dispatch } from '../../../src/edge/http/exchange.js';
import { signOnHandlers } from '../../../src/edge/sign-on/index.js';
import { newApiKey } from '../../../src/identifiers/api-key.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import { AnswerJudge } from '../../support/answer-judge.js';
import { ask } from '../../support/contract-api.js';
import { contractDocument, examplePathOf } from '../../support/contract-document.js';
import { recordedLog } from '../../support/recorded-log.js';

const headers = { 'x-api-key': newApiKey('demo') };

const apis = [
  { name: 'gateway', create: createGatewayApi, handlers: gatewayHandlers },
  { name: 'sign-on', create: createSignOnApi, handlers: signOnHandlers },
] as const;

describe.each(apis)('an operation of the $name that is not implemented', ({ name, create, handlers }) => {
  const document = contractDocument(name);
  const missing = new AnswerJudge(name)
    .operations()
    .filter(({ operationId }) => !Object.hasOwn(handlers, operationId));
  let dispatch: Dispatch;

  beforeAll(async () => {
    const domain = new RpcChannel('unix:/nowhere', 'token');
    dispatch = await create({ environment: 'demo', domain, log: recordedLog().log });
    domain.close();
  });

  // jest refuses an empty table: the day all are implemented this file has done its work and goes.
  test.each(missing)('$operationId answers 501 as a problem', async ({ operationId, method, path }) => {
    const answer = await ask(dispatch, examplePathOf(document, path), { method, headers });
    expect(answer).toMatchObject({ status: 501, operation: operationId });
    expect(answer.problem).toMatchObject({ code: 'not_implemented', requestId: 'request-1' });
  });

  test.each(missing)('$operationId answers 501 whatever its parameters', async ({ method, path }) => {
    const target = `${path.replace(/\{\w+\}/g, 'of-no-kind')}?limit=0&limit=none&code_challenge=`;
    const answer = await ask(dispatch, target, { method, headers: { ...headers, 'if-none-match': '' } });
    expect([answer.status, answer.problem?.code]).toEqual([501, 'not_implemented']);
  });
});
