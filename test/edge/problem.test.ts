import { describe, expect, test } from '@jest/globals';
import { toProblem } from '../../src/edge/problem.js';
import { ErrorCode, publicCode, ServiceError } from '../../src/errors/service-error.js';
import { contractDocument } from '../support/contract/contract-document.js';

const { schemas } = contractDocument('gateway').components as {
  schemas: { ProblemCode: { enum: string[]; description: string } };
};
const { enum: documented, description } = schemas.ProblemCode;

/** What the contract tells people: the rows of its table of codes. */
const statusOf = new Map(
  [...description.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [code, Number(status)]),
);

const codes = Object.values(ErrorCode);
const inContract = codes.filter((code) => documented.includes(publicCode(code)));
const elsewhere = codes.filter((code) => !documented.includes(publicCode(code)));

const problemOf = (error: ServiceError) => {
  const { status, headers, body } = toProblem(error, 'request-1');
  return { status, headers, problem: JSON.parse(String(body)) };
};

test('the table of codes in the contract has each code of its enum, once', () => {
  expect([...statusOf.keys()].sort()).toEqual([...documented].sort());
});

test('every code of the contract is one that the service can refuse with', () => {
  expect(inContract.map(publicCode).sort()).toEqual([...documented].sort());
});

test.each(inContract)('%s has the status that the contract gives it, and its own sentence', (code) => {
  const { status, problem } = problemOf(new ServiceError(code, 'A sentence.', { internal: 'canary' }));
  expect(status).toBe(statusOf.get(publicCode(code)));
  expect(problem).toEqual({
    type: `/docs/errors#${publicCode(code)}`,
    title: expect.stringMatching(/^[A-Z]/),
    status,
    code: publicCode(code),
    message: code === ErrorCode.INTERNAL_ERROR ? 'Something went wrong on our side.' : 'A sentence.',
    requestId: 'request-1',
  });
});

test.each(elsewhere)('%s is not in the contract of the gateway: 500, without its message', (code) => {
  const fieldViolations = [{ path: 'user.email', message: 'canary' }];
  const { status, problem } = problemOf(new ServiceError(code, 'canary', { fieldViolations }));
  expect([status, problem.code]).toEqual([500, 'internal_error']);
  expect(JSON.stringify(problem)).not.toMatch(/canary|email/);
});

describe('the places of an invalid request', () => {
  test.each([
    ['path.clientId', { in: 'path', path: 'clientId' }],
    ['query.limit', { in: 'query', path: 'limit' }],
    ['header.x-request-id', { in: 'header', path: 'x-request-id' }],
    ['body.a.b', { in: 'body', path: 'a.b' }],
    ['known_versions[2]', { in: 'body', path: 'known_versions[2]' }],
  ])('%s is told as the contract has it', (path, place) => {
    const error = new ServiceError(ErrorCode.INVALID_REQUEST, 'No.', {
      fieldViolations: [{ path, message: 'is wrong' }],
    });
    expect(problemOf(error).problem.errors).toEqual([{ ...place, message: 'is wrong' }]);
  });

  test('they are told with 400 only', () => {
    const fieldViolations = [{ path: 'query.limit', message: 'is wrong' }];
    const error = new ServiceError(ErrorCode.CLIENT_NOT_FOUND, 'No.', { fieldViolations });
    expect(problemOf(error).problem.errors).toBeUndefined();
  });
});

describe('headers', () => {
  const rateLimit = { limit: 5, remaining: 0, resetSeconds: 9 };

  test('no problem is kept by a cache', () => {
    for (const code of codes) {
      expect(problemOf(new ServiceError(code, 'No.')).headers).toMatchObject({
        'content-type': 'application/problem+json',
        'cache-control': 'no-store',
      });
    }
  });

  test('every refusal has the rate limit if it is known', () => {
    const { headers } = problemOf(new ServiceError(ErrorCode.CLIENT_NOT_FOUND, 'No.', { rateLimit }));
    expect(headers).toMatchObject({
      'X-RateLimit-Limit': 5,
      'X-RateLimit-Remaining': 0,
      'X-RateLimit-Reset': 9,
    });
  });

  test.each([ErrorCode.RATE_LIMITED, ErrorCode.UNAVAILABLE])(
    '%s always says how long to wait, at least a second',
    (code) => {
      const waits = [undefined, 0, 1, 30].map(
        (retryAfterSeconds) =>
          problemOf(new ServiceError(code, 'No.', { retryAfterSeconds })).headers['retry-after'],
      );
      expect(waits).toEqual([1, 1, 1, 30]);
    },
  );

  test('401 says how to authenticate, and nothing else does', () => {
    for (const code of codes) {
      const { status, headers } = problemOf(new ServiceError(code, 'No.'));
      expect('www-authenticate' in headers).toBe(status === 401);
    }
  });
});
