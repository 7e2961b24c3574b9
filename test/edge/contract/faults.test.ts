import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Admission } from '../../../src/edge/contract/admission.js';
import type { Dispatch } from '../../../src/edge/http/exchange.js';
import { ErrorCode, NotReached, ServiceError } from '../../../src/errors/service-error.js';
import { ask, openGatewayApi } from '../../support/contract/contract-api.js';
import { type RecordedLog, recordedLog } from '../../support/recorded-log.js';
import { signalled } from '../../support/signalled.js';

const PATH = '/v1/instance-integrations';

const loop: Record<string, unknown> = { canary: true };
loop.self = loop;

const thrown: [string, () => unknown][] = [
  ['an Error', () => new Error('canary')],
  ['an Error with its own stack', () => Object.assign(new Error('canary'), { stack: 'canary' })],
  ['a text', () => 'canary'],
  ['a number', () => 42],
  ['null', () => null],
  ['undefined', () => undefined],
  ['a symbol', () => Symbol('canary')],
  ['an object without a prototype', () => Object.create(null)],
  ['an object that refers to itself', () => loop],
  ['an object like an answer', () => ({ status: 200, headers: {}, body: 'canary' })],
  ['a ServiceError of another place', () => new ServiceError(ErrorCode.INVALID_GRANT, 'canary')],
  ['an Error that looks like a missing route', () => new Error('404-notFound: canary')],
];

function expectSilent500(answer: Awaited<ReturnType<typeof ask>>) {
  expect(answer).toMatchObject({ status: 500, headers: { 'content-type': 'application/problem+json' } });
  expect(answer.problem).toEqual({
    type: '/docs/errors#internal_error',
    title: 'Internal Server Error',
    status: 500,
    code: 'internal_error',
    message: 'Something went wrong on our side.',
    requestId: 'request-1',
  });
}

let dispatch: Dispatch;
let recorded: RecordedLog;
let handler: () => unknown;
let guard: () => unknown;

beforeAll(async () => {
  recorded = recordedLog();
  dispatch = await openGatewayApi({
    log: recorded.log,
    handlers: { listInstanceIntegrations: async () => handler() },
    authenticate: () => guard(),
  });
});

beforeEach(() => {
  handler = () => ({ status: 200, headers: {}, body: [] });
  guard = () => 'somebody';
});

describe('a handler that throws', () => {
  test.each(thrown)('%s is answered 500, which says nothing but the request id', async (_, make) => {
    handler = () => {
      throw make();
    };
    expectSilent500(await ask(dispatch, PATH));
  });

  test('leaves the cause in the log, under the same request id', async () => {
    handler = () => {
      throw new RangeError('the disk is full');
    };
    await ask(dispatch, PATH);
    const line = recorded.lines().at(-1);
    expect(line).toMatchObject({ level: 'error', requestId: 'request-1' });
    expect(line).toMatchObject({ internal: 'RangeError: the disk is full' });
    expect(line?.stack).toContain('faults.test');
  });

  test('answers 500 too when its answer cannot be written as JSON', async () => {
    handler = () => ({ status: 200, headers: {}, body: [1n] });
    expectSilent500(await ask(dispatch, PATH));
  });
});

/** Lines that put the fault on the domain. */
function blamingLines() {
  return recorded.lines().filter(({ msg }) => msg === 'the domain did not answer');
}

describe('a domain that', () => {
  test('refuses for load has answered, and the line of the request has its reason as a warning', async () => {
    const before = blamingLines().length;
    handler = () => {
      throw new ServiceError(ErrorCode.UNAVAILABLE, 'Too many passwords.', { internal: 'refused' });
    };
    expect(await ask(dispatch, PATH)).toMatchObject({
      status: 503,
      level: 'warn',
      facts: { code: 'unavailable', reason: 'Too many passwords.' },
    });
    expect(blamingLines()).toHaveLength(before);
  });

  test('does not answer is named as the fault, with what is known of it', async () => {
    handler = () => {
      throw new NotReached('UNAVAILABLE: connection refused');
    };
    const answer = await ask(dispatch, PATH);
    expect(answer).toMatchObject({ status: 503, facts: { code: 'unavailable' } });
    expect(answer.level).toBeUndefined();
    expect(blamingLines().at(-1)).toMatchObject({
      ...{ level: 'warn', requestId: 'request-1' },
      internal: 'UNAVAILABLE: connection refused',
    });
  });
});

describe('an authentication that', () => {
  let ran: boolean;

  beforeEach(() => {
    ran = false;
    handler = () => {
      ran = true;
      return { status: 200, headers: {}, body: [] };
    };
  });

  test.each(thrown)('throws %s refuses the request', async (_, make) => {
    guard = () => {
      throw make();
    };
    expectSilent500(await ask(dispatch, PATH));
    expect(ran).toBe(false);
  });

  test('returns an identity admits the caller, so the tests above could fail', async () => {
    expect(await ask(dispatch, PATH)).toMatchObject({ status: 200 });
    expect(ran).toBe(true);
  });
});

test('a request that waits too long behind others is answered 503 in the format of the contract, and logged as such', async () => {
  const { told: begun, tell: begin } = signalled();
  const crowded = await openGatewayApi({
    log: recorded.log,
    admission: new Admission(undefined, { atOnce: 1, longMs: 60_000, maxWaitMs: 20, few: 0 }),
    handlers: {
      listInstanceIntegrations: () => {
        begin();
        return new Promise(() => undefined);
      },
    },
  });
  const before = blamingLines().length;
  void ask(crowded, PATH);
  await begun;
  const answer = await ask(crowded, PATH);
  expect(answer).toMatchObject({
    status: 503,
    operation: 'listInstanceIntegrations',
    facts: { code: 'busy' },
    headers: { 'retry-after': expect.any(Number) },
    problem: {
      code: 'unavailable',
      message: 'The service has too many requests to answer. Try again in a few seconds.',
    },
  });
  expect(blamingLines()).toHaveLength(before);
});
