import { type ContractApiOptions, createContractApi } from '../../../src/edge/contract/contract-api.js';
import type { Dispatch, DispatchedAnswer } from '../../../src/edge/http/exchange.js';
import { toProblem } from '../../../src/edge/problem.js';
import { recordedLog } from '../recorded-log.js';
import { contractDocument } from './contract-document.js';

type AnyHandler = (request: never) => Promise<unknown>;
type Options = ContractApiOptions<Record<string, never>, object, unknown>;

export interface OpenApi {
  handlers?: Record<string, AnyHandler>;
  authenticate?: Options['authenticate'];
  document?: Options['document'];
  admission?: Options['admission'];
  log?: Options['log'];
}

/** The gateway's document with handlers of the test; admits all callers by default. */
export async function openGatewayApi({ handlers = {}, ...rest }: OpenApi = {}): Promise<Dispatch> {
  const { dispatch } = await createContractApi({
    document: contractDocument('gateway'),
    authenticate: () => 'anybody',
    dependencies: {},
    toErrorAnswer: toProblem,
    log: recordedLog().log,
    handlers: handlers as unknown as Options['handlers'],
    ...rest,
  });
  return dispatch;
}

/** One request past the listener: the target as it would stand in the request line. */
export async function ask(
  dispatch: Dispatch,
  target: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<DispatchedAnswer & { problem?: { code: string; message: string; errors?: unknown[] } }> {
  const [path = '', query = ''] = target.split('?');
  const answer = await dispatch({
    method,
    path,
    query: new URLSearchParams(query),
    rawQuery: query,
    headers,
    requestId: 'request-1',
    clientAddress: '192.0.2.1',
    network: '192.0.2.1',
    readBody: async () => Buffer.alloc(0),
    giveUpBody: () => undefined,
    left: new AbortController().signal,
    wait: () => undefined,
    holds: () => true,
  });
  const isProblem = answer.headers['content-type'] === 'application/problem+json';
  return isProblem ? { ...answer, problem: JSON.parse(String(answer.body)) } : answer;
}
