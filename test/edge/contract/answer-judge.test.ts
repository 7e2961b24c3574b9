import { describe, expect, test } from '@jest/globals';
import { AnswerJudge } from '../../support/contract/answer-judge.js';
import type { Exchange } from '../../support/http-exchange.js';

const judge = new AnswerJudge('gateway');

function answerOf(status: number, headers: Exchange['headers'], body = ''): Exchange {
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return { method: 'GET', target: '/', status, headers: { ...length, ...headers }, body };
}

const limits = { 'x-ratelimit-limit': '600', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '0' };
const readHeaders = {
  etag: '"a"',
  'cache-control': 'private, no-cache',
  vary: 'x-api-key, Accept-Encoding',
  'x-request-id': 'r',
  ...limits,
};
const row = {
  id: 'iin_HnuQOy4YQg1OdOSCDbMAkY',
  applicationInstance: { id: 'ins_3p6PT9wVyh5HYgpDAJEJd8', instanceName: 'Harborlight' },
  createdAt: '2025-11-04T09:12:31.418Z',
  updatedAt: '2025-11-04T09:12:31.418Z',
};
const problem = {
  type: '/docs/errors#api_key_missing',
  title: 'Unauthorized',
  status: 401,
  code: 'api_key_missing',
  message: 'No key.',
  requestId: 'r',
};

const rows = (value: unknown, headers: Exchange['headers'] = {}) =>
  answerOf(200, { ...readHeaders, 'content-type': 'application/json', ...headers }, JSON.stringify(value));
const refused = (value: unknown, headers: Exchange['headers'] = {}) =>
  answerOf(
    401,
    {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'x-request-id': 'r',
      'www-authenticate': 'ApiKey',
      ...headers,
    },
    JSON.stringify(value),
  );

describe('the judge of answers', () => {
  test.each([
    ['a list', rows([row])],
    ['nothing changed', answerOf(304, readHeaders)],
    ['a problem', refused(problem)],
  ])('lets pass what the contract has: %s', (_, answer) => {
    expect(judge.faultsOf('listInstanceIntegrations', answer)).toEqual([]);
  });

  test.each<[string, Exchange, RegExp]>([
    ['a status that is not documented', { ...refused(problem), status: 418 }, /418 is not documented/],
    ['a member that is missing', rows([{ ...row, createdAt: undefined }]), /createdAt/],
    ['a time that is none', rows([{ ...row, createdAt: 'yesterday' }]), /date-time/],
    ['an id of another kind', rows([{ ...row, id: row.applicationInstance.id }]), /pattern/],
    ['an object for an array', rows(row), /must be array/],
    ['a body that is not JSON', answerOf(200, rows([]).headers, '[,'), /not JSON/],
    ['the content type of another status', rows([], { 'content-type': 'text/html' }), /content type/],
    [
      'a problem sent as plain JSON',
      refused(problem, { 'content-type': 'application/json' }),
      /content type/,
    ],
    ['an unknown problem code', refused({ ...problem, code: 'oops' }), /code/],
    ['a header that is missing', rows([], { etag: undefined }), /ETag is missing/],
    ['a header of the wrong value', rows([], { 'cache-control': 'public' }), /Cache-Control/],
    ['a number that is none', rows([], { 'x-ratelimit-limit': 'lots' }), /X-RateLimit-Limit/],
    ['a body with 304', answerOf(304, readHeaders, '[]'), /body where none/],
    ['a wrong length', rows([row], { 'content-length': '3' }), /content-length/],
  ])('catches %s', (_, answer, fault) => {
    expect(judge.faultsOf('listInstanceIntegrations', answer).join()).toMatch(fault);
  });
});
