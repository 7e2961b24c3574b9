import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { AnswerJudge } from '../../support/contract/answer-judge.js';
import { type Asked, answering, rateLimit } from '../../support/gateway/directory-answers.js';
import { type Gateway, startGateway } from '../../support/gateway/gateway.js';
import { idNamesOf, operationNamed, pathIds, pathOf } from '../../support/gateway/operations.js';
import type { Question } from '../../support/http-exchange.js';
import { describeRefusals } from './refusal-suite.js';

export interface ReadCase {
  operationId: string;
  /** Those of the contract; each has its tests below or in the suite of refusals. */
  statuses: readonly number[];
  /** What the domain sends, and what comes of it. */
  body: unknown;
}

/** The shared behaviour of every read of the gateway, run for each operation. */
export function describeRead({ operationId, statuses, body }: ReadCase): void {
  const operation = operationNamed(operationId);
  const path = pathOf(operation);
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway();
  });

  afterAll(() => gateway.stop());

  const ask = (question: Question = {}, target = path) => gateway.ask(operationId, target, question);
  const answers = (version: string, asked?: Asked[]) => gateway.program(answering(version, [body], asked));

  describe('200', () => {
    test('what the domain sends comes as it is', async () => {
      answers('v1');
      const answer = await ask();
      expect([answer.status, answer.body]).toEqual([200, JSON.stringify(body)]);
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json',
        'cache-control': 'private, no-cache',
        vary: 'x-api-key, Accept-Encoding',
        'x-ratelimit-limit': String(rateLimit.limit),
        'x-ratelimit-remaining': String(rateLimit.remaining),
        'x-ratelimit-reset': String(rateLimit.resetSeconds),
        etag: expect.stringMatching(/^"[\w-]{12}\.v1"$/),
      });
    });

    test('the domain is asked once, with the operation, the hash of the key and what the path names', async () => {
      const asked: Asked[] = [];
      answers('v1', asked);
      await ask();
      const ids = Object.fromEntries(idNamesOf(operation).map((name) => [name, pathIds[name]]));
      const { context, ...rest } = asked[0] ?? {};
      const none = { instanceIntegrationId: '', clientId: '', workerId: '', userId: '' };
      const window = { limit: undefined, cursor: undefined };
      expect([asked.length, rest]).toEqual([1, { operationId, ...none, ...window, ...ids }]);
      expect(context).toMatchObject({ knownVersions: [], anyVersionKnown: false });
      expect(hashSecret(gateway.key).equals(context?.apiKeyHash ?? Buffer.alloc(0))).toBe(true);
    });

    test.each(['application/json; charset=utf-8', 'text/csv, application/*;charset="UTF-8";q=0.1'])(
      'Accept may name the charset of JSON: %s',
      async (accept) => {
        answers('v1');
        expect((await ask({ headers: { accept } })).status).toBe(200);
      },
    );

    test('HEAD has the headers of GET and no body', async () => {
      answers('v1');
      const [head, get] = [await ask({ method: 'HEAD' }), await ask()];
      const { date: _, 'x-request-id': __, 'transfer-encoding': ___, ...headers } = head.headers;
      expect(head).toMatchObject({ status: 200, body: '' });
      expect(get.headers).toMatchObject(headers);
    });
  });

  describe('304', () => {
    const tagAt = async (version: string) => {
      answers(version);
      return String((await ask()).headers.etag);
    };

    test.each(['GET', 'HEAD'])('%s with the tag of the present answer has no body', async (method) => {
      const tag = await tagAt('v2');
      const answer = await ask({ method, headers: { 'if-none-match': tag } });
      expect(answer).toMatchObject({
        status: 304,
        body: '',
        headers: { etag: tag, vary: 'x-api-key, Accept-Encoding' },
      });
      expect(answer.headers['content-type']).toBeUndefined();
    });

    test('a star is asked on as one', async () => {
      answers('v2');
      expect((await ask({ headers: { 'if-none-match': '*' } })).status).toBe(304);
    });

    test('the tag of an older version does not match', async () => {
      const old = await tagAt('v1');
      answers('v2');
      expect((await ask({ headers: { 'if-none-match': old } })).status).toBe(200);
    });

    test.each(idNamesOf(operation))(
      'the tag does not vouch for the same path with another %s',
      async (name) => {
        const tag = await tagAt('v2');
        const id = pathIds[name] ?? '';
        const other = id.slice(0, -1) + (id.endsWith('a') ? 'b' : 'a');
        const answer = await ask(
          { headers: { 'if-none-match': tag } },
          pathOf(operation, { ...pathIds, [name]: other }),
        );
        expect(answer.status).toBe(200);
      },
    );
  });

  describeRefusals(operation, () => gateway);

  test('every documented status has its tests', () => {
    expect(new AnswerJudge('gateway').statusesOf(operationId)).toEqual(statuses);
  });
}
