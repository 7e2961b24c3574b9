import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Operation } from 'openapi-backend';
import { signOnErrors } from '../../../../src/edge/sign-on/error-answer.js';
import { PageWriter } from '../../../../src/edge/sign-on/page-writer.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { expectErrorPage, expectPage, testPageRefusals, testStatuses } from '../refusals.js';
import { judge, type SignOnServer, startSignOn } from '../server.js';

export interface EndingCase {
  operationId: string;
  statuses: readonly number[];
  path: string;
  heading: string;
}

/** Pages without an interaction, and without a call of the domain. */
export function describeEnding({ operationId, statuses, path, heading }: EndingCase): void {
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  test('200: the page is shown to all, and the domain is not asked', async () => {
    server.program({});
    expectPage(await server.ask(operationId, `${path}?interaction=x&interaction=y`), 200, heading);
    expect(server.asked).toEqual([]);
  });

  test.each([
    [429, ErrorCode.RATE_LIMITED],
    [500, ErrorCode.INTERNAL_ERROR],
    [503, ErrorCode.UNAVAILABLE],
  ])('%i: whatever may come before it refuses with a page', async (status, code) => {
    const answer = signOnErrors(new PageWriter('live'))(new ServiceError(code, 'canary'), 'request-1', {
      request: { path, method: 'GET', headers: {} } as never,
      operation: PAGE,
    });
    const headers = Object.fromEntries(
      Object.entries({
        ...answer.headers,
        'x-request-id': 'request-1',
        'x-content-type-options': 'nosniff',
      }).map(([name, value]) => [name.toLowerCase(), String(value)]),
    );
    const body = String(answer.body);
    headers['content-length'] = String(Buffer.byteLength(body));
    const exchanged = { method: 'GET', target: path, status: answer.status, headers, body };
    expectErrorPage(exchanged, status, /./);
    expect(judge.faultsOf(operationId, exchanged)).toEqual([]);
    expect(body).not.toContain('canary');
  });

  testPageRefusals({ operationId, path, method: 'showInteraction', question: {} }, () => server);
  testStatuses(operationId, statuses);
}

/** As much of it as errors look at. */
const PAGE: Operation = {
  path: '/',
  method: 'get',
  responses: { 500: { description: '', content: { 'text/html': {} } } },
};
