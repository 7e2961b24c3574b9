import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { answerTo, expectErrorPage, expectPage, testPageRefusals, testStatuses } from '../refusals.js';
import { type SignOnServer, startSignOn } from '../server.js';

export interface EndingCase {
  operationId: string;
  statuses: readonly number[];
  path: string;
  heading: string;
  /** Where the person goes on. */
  onward?: string;
}

/** Pages without an interaction, and without a call of the domain. */
export function describeEnding({ operationId, statuses, path, heading, onward = '' }: EndingCase): void {
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  test('200: the page is shown to all, and the domain is not asked', async () => {
    server.program({});
    const answer = await server.ask(operationId, `${path}?interaction=x&interaction=y`);
    expectPage(answer, 200, heading);
    expect(answer.body).toContain(onward);
    expect(server.asked).toEqual([]);
  });

  test.each([
    [500, ErrorCode.INTERNAL_ERROR],
    [503, ErrorCode.UNAVAILABLE],
  ])('%i: whatever may come before it refuses with a page', async (status, code) => {
    const asked = { path, method: 'GET', answers: 'people' } as const;
    const answer = answerTo(new ServiceError(code, 'canary'), operationId, asked);
    expectErrorPage(answer, status, /./);
    expect(answer.body).not.toContain('canary');
  });

  test('429: too many requests are answered with a page that says so', () => {
    const error = new ServiceError(ErrorCode.RATE_LIMITED, 'Too often.');
    const answer = answerTo(error, operationId, { path, method: 'GET', answers: 'people' });
    expectErrorPage(answer, 429, 'Too often.', 'Please wait before you try again');
  });

  testPageRefusals({ operationId, path, method: 'showInteraction', question: {} }, () => server);
  testStatuses(operationId, statuses);
}
