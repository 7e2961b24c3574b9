import { describe, expect, test } from '@jest/globals';
import { BodyRefusal } from '../../../../src/edge/http/exchange.js';
import type { Question } from '../../../support/http-exchange.js';
import { answerTo, expectOAuthError } from '../refusals.js';
import { FORM, type SignOnServer } from '../server.js';

interface BodyCase {
  operationId: string;
  path: string;
  /** A form that is in order. */
  question: Question;
  takes: 'both' | 'form';
}

/** What is wrong with a body whatever it says, at the endpoints that programs call. */
export function testBodies({ operationId, path, question, takes }: BodyCase, present: () => SignOnServer) {
  const send = (body: string | Buffer, contentType: string, headers: Question['headers'] = {}) => {
    present().program({});
    const sent = { ...question.headers, 'content-type': contentType, ...headers };
    return present().ask(operationId, path, { ...question, headers: sent, body });
  };

  test.each([
    ['a broken escape', 'a=%zz'],
    ['an escape that is not UTF-8', 'a=%ff'],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0x3d, 0xff])],
  ])('400: a form with %s is refused before the domain is asked', async (_, body) => {
    expectOAuthError(await send(body, FORM), 400, 'invalid_request');
    expect(present().asked).toEqual([]);
  });

  test.each([
    ['an escape', 'a=%e9'],
    ['a byte', Buffer.from([0x61, 0x3d, 0xe9])],
  ])('400: a form in another charset is refused where %s is not UTF-8', async (_, body) => {
    expectOAuthError(await send(body, `${FORM}; charset=ISO-8859-1`), 400, 'invalid_request');
    expect(present().asked).toEqual([]);
  });

  if (takes === 'both') {
    test.each([
      ['no JSON', '{"grant_type":'],
      ['an array', '[]'],
      ['a text', '"code"'],
      ['null', 'null'],
      ['a member twice', '{"code":"a","code":"b"}'],
      ['a member twice, once escaped', '{"code":"a","c\\u006fde":"b"}'],
      ['what is nested too deep', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
      ['half a character', '{"code":"\\ud800"}'],
      ['a byte order mark', '\ufeff{}'],
      ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ])('400: as JSON, %s is refused before the domain is asked', async (_, body) => {
      expectOAuthError(await send(body, 'application/json'), 400, 'invalid_request');
      expect(present().asked).toEqual([]);
    });
  }

  describe('415', () => {
    test.each([
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/xml',
      `${FORM}, application/json`,
      'application/json; charset=utf-16',
      '',
      ...(takes === 'form' ? ['application/json'] : []),
    ])('a body of %j is refused before the domain is asked', async (contentType) => {
      expectOAuthError(await send(String(question.body), contentType), 415, 'invalid_request');
      expect(present().asked).toEqual([]);
    });

    test('so is one that is compressed', async () => {
      const answer = await send(String(question.body), FORM, { 'content-encoding': 'gzip' });
      expectOAuthError(answer, 415, 'invalid_request', 'without a Content-Encoding');
    });
  });

  test('408: a body that does not arrive in time is no fault of what it says', () => {
    const late = new BodyRefusal(408, 'The body did not arrive in time.');
    const answer = answerTo(late, operationId, { path, method: 'POST', answers: 'programs' });
    expectOAuthError(answer, 408, 'temporarily_unavailable', 'The body did not arrive in time.');
  });

  test('413: a body beyond 64 KiB is refused before the domain is asked', async () => {
    expectOAuthError(await send('x'.repeat(65_537), FORM), 413, 'invalid_request');
    expectOAuthError(
      await send('x'.repeat(65_537), FORM, { 'transfer-encoding': 'chunked' }),
      413,
      'invalid_request',
    );
    expect(present().asked).toEqual([]);
  });
}
