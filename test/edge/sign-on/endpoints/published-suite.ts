import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { expectOAuthError, refusing, testStatuses } from '../refusals.js';
import { type MethodName, type SignOnMethods, type SignOnServer, startSignOn } from '../server.js';

export interface PublishedCase {
  operationId: string;
  path: string;
  method: MethodName;
  /** A domain with an answer, and one with a changed answer. */
  present: SignOnMethods;
  changed: SignOnMethods;
  body: object;
}

/** What is public and may be cached. */
export function describePublished({
  operationId,
  path,
  method,
  present,
  changed,
  body,
}: PublishedCase): void {
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  const ask = (headers: Record<string, string> = {}, verb = 'GET', query = '') =>
    server.ask(operationId, path + query, { method: verb, headers });
  const tagNow = async () => String((await ask()).headers.etag);
  const refusedBy = (error: Error) => {
    refusing(server, method, error);
    return ask();
  };

  describe('200', () => {
    test('the document comes with how long it may be kept and a tag to ask by', async () => {
      server.program(present);
      const answer = await ask({}, 'GET', '?x=1&x=2&issuer=https://evil.example.com');
      expect(JSON.parse(answer.body)).toEqual(body);
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json',
        'cache-control': 'public, max-age=300',
        etag: expect.stringMatching(/^"[\w-]{22}"$/),
        'access-control-allow-origin': '*',
      });
      expect(answer.headers['set-cookie']).toBeUndefined();
    });

    test('the addresses in it are of the settings, whatever host was asked', async () => {
      server.program(present);
      const headers = {
        host: 'evil.example.com',
        'x-forwarded-host': 'evil.example.com',
        forwarded: 'host=evil',
      };
      expect((await ask(headers)).body).not.toContain('evil');
    });

    test('HEAD has the headers of GET and no body', async () => {
      server.program(present);
      const [head, get] = [await ask({}, 'HEAD'), await ask()];
      const { date: _, 'x-request-id': __, ...headers } = head.headers;
      expect(head).toMatchObject({ status: 200, body: '' });
      expect(get.headers).toMatchObject(headers);
    });
  });

  describe('304', () => {
    test.each<[string, (tag: string) => string]>([
      ['its tag', (tag) => tag],
      ['its tag in weak form', (tag) => `W/${tag}`],
      ['its tag among others', (tag) => `"a", ${tag}`],
      ['a star', () => '*'],
    ])('who has %s already gets no body', async (_, header) => {
      server.program(present);
      const tag = await tagNow();
      const answer = await ask({ 'if-none-match': header(tag) });
      expect(answer).toMatchObject({ status: 304, body: '', headers: { etag: tag } });
    });

    test('what has changed has another tag', async () => {
      server.program(present);
      const old = await tagNow();
      server.program(changed);
      expect((await ask({ 'if-none-match': old })).status).toBe(200);
      expect(await tagNow()).not.toBe(old);
    });

    test.each(['', '"', '"x"', 'garbage'])('%j matches nothing', async (header) => {
      server.program(present);
      expect((await ask({ 'if-none-match': header })).status).toBe(200);
    });
  });

  test.each(['POST', 'PUT', 'DELETE'])('405: %s gets the methods of the path', async (verb) => {
    const answer = await ask({}, verb);
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expectOAuthError(answer, 405, 'invalid_request');
  });

  test('429: too many requests gets the time to wait', async () => {
    const answer = await refusedBy(new ServiceError(ErrorCode.RATE_LIMITED, 'No.', { retryAfterSeconds: 9 }));
    expectOAuthError(answer, 429, 'temporarily_unavailable');
    expect(answer.headers['retry-after']).toBe('9');
  });

  test('500: a fault says nothing, and is kept by no cache', async () => {
    const answer = await refusedBy(new Error('canary'));
    expectOAuthError(answer, 500, 'server_error');
    expect(answer.body).not.toContain('canary');
  });

  test('503: an unavailable domain is reported', async () => {
    const answer = await refusedBy(
      new ServiceError(ErrorCode.UNAVAILABLE, 'Busy.', { retryAfterSeconds: 2 }),
    );
    expectOAuthError(answer, 503, 'temporarily_unavailable');
  });

  testStatuses(operationId, [200, 304, 405, 429, 500, 503]);
}
