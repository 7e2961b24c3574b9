import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Asked, answering } from '../../support/gateway/directory-answers.js';
import { GATEWAY_URL, type Gateway, startGateway } from '../../support/gateway/gateway.js';
import { operationNamed, pathOf } from '../../support/gateway/operations.js';

/** What the lists that take `limit` and `cursor` do with them. */
export function describePaging(operationId: string, aRow: () => object): void {
  const rows = (count: number) => Array.from({ length: count }, aRow);
  const operation = operationNamed(operationId);
  const path = pathOf(operation);

  describe('a page', () => {
    let gateway: Gateway;

    beforeAll(async () => {
      gateway = await startGateway();
    });

    afterAll(() => gateway.stop());

    async function page(query: string, pages: object[][] = [rows(1)], nextCursor?: string) {
      const asked: Asked[] = [];
      gateway.program(answering('v1', pages, asked, nextCursor));
      const answer = await gateway.ask(operationId, `${path}?${query}`);
      const { limit, cursor } = asked[0] ?? {};
      return {
        answer,
        problem: answer.status === 200 ? {} : JSON.parse(answer.body),
        asked: { limit, cursor },
      };
    }

    test.each([1, 2, 999, 1_000])('of %i is asked for as one', async (limit) => {
      const { answer, asked } = await page(`limit=${limit}`);
      expect([answer.status, asked]).toEqual([200, { limit, cursor: undefined }]);
    });

    const unfit = [
      ...['0', '-1', '1001', '99999999999', '1'.repeat(400)],
      ...[
        '1e1',
        '0x10',
        '1.0',
        '1.5',
        '%201',
        '1%20',
        '%2B1',
        '1_0',
        '%E0%A5%A7',
        'true',
        'null',
        'many',
        '',
      ],
      ...['1&limit=1', '1&limit=2', '1&limit='],
    ];
    test.each(unfit)('400: limit=%s is refused, and named', async (limit) => {
      const { answer, problem } = await page(`limit=${limit}`);
      expect([answer.status, problem.code]).toEqual([400, 'invalid_request']);
      expect(problem.errors.length).toBeGreaterThan(0);
      for (const error of problem.errors) {
        expect(error).toMatchObject({ in: 'query', path: 'limit' });
      }
    });

    test.each(['', 'x'.repeat(513), 'a&cursor=a'])('400: cursor=%s is refused, and named', async (cursor) => {
      const { answer, problem } = await page(`limit=1&cursor=${cursor}`);
      expect([answer.status, problem.errors?.[0]]).toMatchObject([400, { in: 'query', path: 'cursor' }]);
    });

    test.each([
      { title: 'in one message', pages: [rows(3)] },
      { title: 'in three', pages: [rows(1), [], rows(2)] },
    ])('$title with more behind it links to the next under the public address', async ({ pages }) => {
      const query = 'limit=3&cursor=a%2Bb&other=left+out';
      const { answer } = await page(query, pages, 'next+/=&cursor');
      expect(JSON.parse(answer.body)).toEqual(pages.flat());
      expect(answer.headers.link).toBe(
        `<${GATEWAY_URL}${path}?limit=3&cursor=next%2B%2F%3D%26cursor>; rel="next"`,
      );
    });

    test('that is the last has no link', async () => {
      expect((await page('limit=3')).answer.headers.link).toBeUndefined();
    });

    test('begins where the cursor says, and without a limit continues to the end', async () => {
      const { answer, asked } = await page('cursor=MTIzLmFi', [rows(2), rows(2)]);
      expect(asked).toEqual({ limit: undefined, cursor: 'MTIzLmFi' });
      expect(JSON.parse(answer.body)).toHaveLength(4);
    });

    test('has a tag that is valid for no other page', async () => {
      const queries = ['', 'limit=1', 'limit=2', 'cursor=a', 'limit=1&cursor=a', 'limit=1&cursor=b'];
      const tags: (string | undefined)[] = [];
      for (const query of queries) {
        tags.push((await page(query)).answer.headers.etag);
      }
      expect(new Set(tags).size).toBe(queries.length);
    });

    test('304: its own tag is answered without a body', async () => {
      const tag = (await page('limit=1')).answer.headers.etag;
      const again = await gateway.ask(operationId, `${path}?limit=1`, { headers: { 'if-none-match': tag } });
      expect([again.status, again.body]).toEqual([304, '']);
    });
  });
}
