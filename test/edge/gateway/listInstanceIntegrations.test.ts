import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { AnswerJudge } from '../../support/contract/answer-judge.js';
import {
  anInstanceIntegration,
  instanceIntegrationsAt,
  rateLimit,
} from '../../support/gateway/directory-answers.js';
import { type Gateway, startGateway } from '../../support/gateway/gateway.js';
import type { Question } from '../../support/http-exchange.js';

const PATH = '/v1/instance-integrations';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway();
});

afterAll(() => gateway.stop());

const ask = (question: Question = {}, target = PATH) =>
  gateway.ask('listInstanceIntegrations', target, question);

const askWithTag = (tag: string) => ask({ headers: { 'if-none-match': tag } });

describe('200', () => {
  test('the rows of the domain come in its order, unchanged', async () => {
    const rows = ['Juniper "People" ümlaut 🌿', 'Aardvark'].map(anInstanceIntegration);
    gateway.program(instanceIntegrationsAt('v1', rows));
    const answer = await ask();
    expect(answer.status).toBe(200);
    expect(answer.body).toBe(JSON.stringify(rows));
  });

  test('none is an empty array', async () => {
    gateway.program(instanceIntegrationsAt('v1'));
    expect((await ask()).body).toBe('[]');
  });

  test('it has the rate limit, cache headers and an entity tag', async () => {
    gateway.program(instanceIntegrationsAt('v1'));
    const { headers } = await ask();
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'private, no-cache',
      vary: 'x-api-key, Accept-Encoding',
      'x-ratelimit-limit': String(rateLimit.limit),
      'x-ratelimit-remaining': String(rateLimit.remaining),
      'x-ratelimit-reset': String(rateLimit.resetSeconds),
    });
    expect(headers.etag).toMatch(/^"[\w-]{12}\.v1"$/);
  });

  test('the domain is asked once, by the hash of the key and under the id of the request', async () => {
    const asked: unknown[] = [];
    const { read: answer } = instanceIntegrationsAt('v1');
    gateway.program({
      read: async (request, call) => {
        asked.push({ hash: Buffer.from(request.context?.apiKeyHash ?? []), requestId: call.requestId });
        return (answer as NonNullable<typeof answer>)(request, call);
      },
    });
    await ask({ headers: { 'x-request-id': 'from-the.client_1' } });
    expect(asked).toEqual([{ hash: hashSecret(gateway.key), requestId: 'from-the.client_1' }]);
  });

  test('unknown query parameters are ignored, whatever their names', async () => {
    gateway.program(instanceIntegrationsAt('v1'));
    const query = '?a=1&a=2&__proto__=x&constructor=y&toString&%00=%ff&limit=many';
    expect((await ask({}, `${PATH}${query}`)).status).toBe(200);
  });

  test('HEAD has the status and the headers of GET and no body', async () => {
    gateway.program(instanceIntegrationsAt('v1', [anInstanceIntegration('Juniper')]));
    const [head, get] = [await ask({ method: 'HEAD' }), await ask()];
    const { date: _, 'x-request-id': __, ...headers } = head.headers;
    expect(get.headers).toMatchObject(headers);
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(Number(headers['content-length'])).toBe(Buffer.byteLength(get.body));
  });
});

describe('304', () => {
  beforeAll(() => gateway.program(instanceIntegrationsAt('v2', [anInstanceIntegration('Juniper')])));

  const own = async () => String((await ask()).headers.etag);

  const known: [what: string, header: (tag: string) => string][] = [
    ['the strong tag of the answer', (tag) => tag],
    ['its weak form', (tag) => `W/${tag}`],
    ['a list that has it last', (tag) => `"other", W/"x",${tag}`],
    ['a list that has it first', (tag) => `${tag} , "other"`],
    ['a star', () => '*'],
  ];
  test.each(known)('%s is answered without a body', async (_, header) => {
    const tag = await own();
    const answer = await askWithTag(header(tag));
    expect(answer).toMatchObject({ status: 304, body: '', headers: { etag: tag } });
    expect(answer.headers['content-type']).toBeUndefined();
  });

  test('HEAD is answered 304 too', async () => {
    const headers = { 'if-none-match': await own() };
    expect((await ask({ method: 'HEAD', headers })).status).toBe(304);
  });

  const foreign: [what: string, header: (tag: string) => string][] = [
    ['a tag of an older version', (tag) => tag.replace('.v2"', '.v1"')],
    ['a tag with the version and another question', () => '"AAAAAAAAAAAA.v2"'],
    ['a tag in another case', (tag) => tag.toUpperCase()],
    ['a tag without its quotes', (tag) => tag.replaceAll('"', '')],
    ['a tag cut off', (tag) => tag.slice(0, -1)],
    ['an empty tag', () => '""'],
    ['an empty header', () => ''],
    ['a star among tags', () => '"x", *'],
    ['quotes that never close', () => '"""'],
    ['4,096 quotes, the most the contract takes', () => '"'.repeat(4_096)],
  ];
  test.each(foreign)('%s does not match, and the answer is 200', async (_, header) => {
    expect((await askWithTag(header(await own()))).status).toBe(200);
  });

  test('the tag does not spare the key: without one the answer is 401', async () => {
    const headers = { 'if-none-match': await own(), 'x-api-key': '' };
    expect((await ask({ headers })).status).toBe(401);
  });
});

test('every documented status of the operation has a test here or in refusals.test.ts', () => {
  const covered = [200, 304, 400, 401, 405, 406, 429, 500, 503];
  expect(new AnswerJudge('gateway').statusesOf('listInstanceIntegrations')).toEqual(covered);
});
