import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { BodyRefusal } from '../../../src/edge/http/exchange.js';
import { signOnErrors } from '../../../src/edge/sign-on/error-answer.js';
import { PageWriter } from '../../../src/edge/sign-on/page-writer.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import type { Exchange, Question } from '../../support/http-exchange.js';
import { FORM, judge, type MethodName, type SignOnServer } from './server.js';

export interface Operation {
  operationId: string;
  path: string;
  /** What it asks the domain. */
  method: MethodName;
  /** A request that is in order. */
  question: Question;
  /** Where its own page for too many passwords leads back to, if it has one. */
  backUrl?: string | undefined;
}

/** A domain that refuses the call of this operation. */
export function refusing(server: SignOnServer, method: MethodName, error: Error): void {
  const refuse = async () => {
    throw error;
  };
  server.program({ [method]: refuse });
}

/** A page: HTML with its heading, uncached, unframed. */
export function expectPage(
  answer: Exchange,
  status: number,
  heading: string,
  referrerPolicy = 'no-referrer',
): void {
  expect(answer.status).toBe(status);
  expect(answer.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': referrerPolicy,
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
  });
  const policy = String(answer.headers['content-security-policy']);
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; img-src data:; /);
  expect(policy).toMatch(/frame-ancestors 'none'; base-uri 'none'$/);
  expect(answer.body.match(/<h1>.*?<\/h1>/g)).toEqual([`<h1>${heading}</h1>`]);
}

/** These scripts and no other, each allowed by its hash. */
export function expectOwnScripts({ body, headers }: Exchange, expected: readonly string[]): void {
  expect(body.match(/<script/g) ?? []).toHaveLength(expected.length);
  const scripts = [...body.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script = '']) => script);
  expect(scripts).toEqual(expected);
  const allowed = scripts.map((script) => createHash('sha256').update(script).digest('base64'));
  const directive = ['script-src', ...allowed.map((hash) => `'sha256-${hash}'`)].join(' ');
  const policy = String(headers['content-security-policy']);
  expect(policy.match(/script-src [^;]*/g) ?? []).toEqual(allowed.length > 0 ? [directive] : []);
}

export function expectErrorPage(
  answer: Exchange,
  status: number,
  said: string | RegExp,
  heading = 'Something went wrong',
): void {
  expectPage(answer, status, heading);
  expect(answer.body).toMatch(said);
  expect(answer.body).toContain(`<dd>${answer.headers['x-request-id']}</dd>`);
}

/** JSON as in OAuth, uncached. */
export function expectOAuthError(answer: Exchange, status: number, error: string, said?: string | RegExp) {
  const body = JSON.parse(answer.body);
  expect([answer.status, body.error]).toEqual([status, error]);
  expect(Object.keys(body)).toEqual(['error', 'error_description']);
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
  if (said !== undefined) {
    expect(body.error_description).toMatch(said);
  }
}

/** As much of a page's operation as errors look at. */
const PAGE = {
  path: '/',
  method: 'get',
  responses: { 500: { description: '', content: { 'text/html': {} } } },
};

/** What the edge answers to an error that a test cannot cause at once, such as a body that is late. */
export function answerTo(
  error: ServiceError,
  operationId: string,
  { path, method, answers }: { path: string; method: string; answers: 'people' | 'programs' },
): Exchange {
  const answer = signOnErrors(new PageWriter('live'))(error, 'request-1', {
    request: { path, method, headers: {}, rawQuery: '' } as never,
    operation: answers === 'people' ? PAGE : undefined,
  });
  const body = String(answer.body);
  const more = {
    'x-request-id': 'request-1',
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(body),
  };
  const headers = Object.fromEntries(
    Object.entries({ ...answer.headers, ...more }).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]),
  );
  const exchanged = { method, target: path, status: answer.status, headers, body };
  expect(judge.faultsOf(operationId, exchanged)).toEqual([]);
  return exchanged;
}

const isDocumented = (operationId: string, status: number) => judge.statusesOf(operationId).includes(status);

/** 405, 408, 413 and 415 of an operation that answers people. */
export function testPageRefusals(operation: Operation, present: () => SignOnServer): void {
  const { operationId, path, question } = operation;

  test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'])(
    '405: %s gets the methods of the path',
    async (method) => {
      const answer = await present().ask(operationId, path, { method });
      expect([answer.status, answer.headers.allow]).toEqual([
        405,
        expect.stringMatching(/^(GET|POST|GET, POST)$/),
      ]);
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      if (method !== 'HEAD') {
        expectErrorPage(answer, 405, 'This address cannot be used that way.');
      }
    },
  );

  if (isDocumented(operationId, 413)) {
    test.each(['application/json', 'text/plain', 'multipart/form-data', `${FORM}, ${FORM}`])(
      '415: a body of %s is refused before the domain is asked',
      async (mediaType) => {
        present().program({});
        const answer = await present().ask(operationId, path, {
          ...question,
          headers: { 'content-type': mediaType },
        });
        expectErrorPage(answer, 415, 'The form could not be read.');
        expect(present().asked).toEqual([]);
      },
    );

    test('408: a form that does not arrive in time is told apart from one that is wrong', () => {
      const late = new BodyRefusal(408, 'The body did not arrive in time.');
      const answer = answerTo(late, operationId, { path, method: 'POST', answers: 'people' });
      expectErrorPage(answer, 408, 'The form did not arrive.');
    });

    test('413: a form beyond 64 KiB is refused before the domain is asked', async () => {
      present().program({});
      const answer = await present().ask(operationId, path, { ...question, body: `a=${'x'.repeat(65_536)}` });
      expectErrorPage(answer, 413, 'The form is too large.');
      expect(present().asked).toEqual([]);
    });
  }
}

/** What goes wrong behind an operation that answers people. */
export function testPageFaults(operation: Operation, present: () => SignOnServer): void {
  const { operationId, path, method, question } = operation;
  const refusedWith = (error: Error) => {
    refusing(present(), method, error);
    return present().ask(operationId, path, question);
  };

  test('429: who tried too often reads what was too much, and gets the time to wait', async () => {
    const answer = await refusedWith(
      new ServiceError(ErrorCode.RATE_LIMITED, 'Too <often>.', { retryAfterSeconds: 130 }),
    );
    expectErrorPage(answer, 429, 'Too &lt;often&gt;.', 'Please wait before you try again');
    expect(answer.body).not.toContain('badge bad');
    if (operation.backUrl !== undefined) {
      expect(answer.body).toContain(`href="${operation.backUrl}">Back</a>`);
      // With a date where the wait ends on another day.
      expect(answer.body).toMatch(
        /from <time datetime="\d{4}-[^"]+Z">(\d{4}-\d\d-\d\d )?\d\d:\d\d UTC<\/time>/,
      );
      expect(answer.body).toContain('Ask the administrator who gave you access to send you a link.');
    }
    expect(answer.headers['retry-after']).toBe('130');
    expect(answer.body).toContain('about 3 minutes');
  });

  test('429: a limit of a day is told in hours', async () => {
    const answer = await refusedWith(
      new ServiceError(ErrorCode.RATE_LIMITED, 'No.', { retryAfterSeconds: 80_000 }),
    );
    expect(answer.body).toContain('about 23 hours');
  });

  test('500: a fault of the domain says nothing but the request id', async () => {
    const answer = await refusedWith(new Error('canary'));
    expectErrorPage(answer, 500, 'We could not complete this.');
    expect(answer.body).not.toContain('canary');
  });

  test('500: so does an answer that says nothing', async () => {
    present().program({ [method]: async () => ({}) });
    expectErrorPage(await present().ask(operationId, path, question), 500, 'We could not complete this.');
  });

  test('503: the waiting time of a busy domain is passed on', async () => {
    const answer = await refusedWith(
      new ServiceError(ErrorCode.UNAVAILABLE, 'Busy.', { retryAfterSeconds: 7 }),
    );
    expectErrorPage(answer, 503, 'We are briefly unable to answer.');
    const again = `id="continue" href="${path.replaceAll('&', '&amp;')}">Try again</a>`;
    if (question.method === 'POST') {
      // Its address alone is no page.
      expect(answer.body).not.toContain('id="continue"');
    } else {
      expect(answer.body).toContain(again);
    }
    expect(answer.headers['retry-after']).toBe('7');
  });
}

export function testStatuses(operationId: string, statuses: readonly number[]): void {
  test('every documented status has its tests', () => {
    expect(judge.statusesOf(operationId)).toEqual(statuses);
  });
}
