import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { operationNamed, pathOf } from '../support/gateway/operations.js';
import { type RealGateway, startRealGateway } from '../support/gateway/real-gateway.js';
import { exchange } from '../support/http-exchange.js';
import { neighbourIds, owner, ownIds } from './demo-paths.js';

let gateway: RealGateway;

beforeAll(async () => {
  gateway = await startRealGateway();
});

afterAll(() => gateway.stop());

async function read(target: string, headers: Record<string, string> = {}) {
  const key = gateway.credentials.apiKeys[owner.id] ?? '';
  const answer = await exchange(gateway.port, target, { headers: { 'x-api-key': key, ...headers } });
  const link = /^<([^>]+)>; rel="next"$/.exec(answer.headers.link?.toString() ?? 'none')?.[1];
  return { ...answer, link, rows: answer.status === 200 ? (JSON.parse(answer.body) as object[]) : [] };
}

describe.each([
  ['listWorkersV2', 500],
  ['listUsers', 10],
])('%s', (operationId, count) => {
  const path = pathOf(operationNamed(operationId), ownIds);

  test.each([3, 10, 250, 251, 499, 500, 501, 1_000])(
    'followed link by link in pages of %i is the whole list',
    async (limit) => {
      const { rows: all, link: none } = await read(path);
      expect([all.length, none]).toEqual([count, undefined]);
      const rows: object[] = [];
      let target: string | undefined = `${path}?limit=${limit}`;
      while (target !== undefined) {
        const page: Awaited<ReturnType<typeof read>> = await read(target);
        expect([page.status, page.rows.length]).toEqual([200, Math.min(limit, all.length - rows.length)]);
        rows.push(...page.rows);
        // It leads to this very place, so that a client needs nothing but the address.
        expect(page.link?.startsWith(`${gateway.url}${path}?`) ?? true).toBe(true);
        target = page.link?.slice(gateway.url.length);
      }
      expect(rows).toEqual(all);
    },
  );

  test('from a cursor without a limit is all the rest', async () => {
    const { rows: all } = await read(path);
    const { link } = await read(`${path}?limit=3`);
    const cursor = new URL(link ?? '').searchParams.get('cursor');
    const { rows, link: none } = await read(`${path}?cursor=${cursor}`);
    expect([rows, none]).toEqual([all.slice(3), undefined]);
  });

  test('refuses a cursor that the service has not made', async () => {
    const { status, body } = await read(`${path}?limit=1&cursor=eA`);
    expect([status, JSON.parse(body).errors]).toMatchObject([400, [{ in: 'query', path: 'cursor' }]]);
  });

  test('refuses a cursor of another list, and of the same list of another client', async () => {
    const cursorAt = async (target: string) =>
      new URL((await read(`${target}?limit=1`)).link ?? '').searchParams.get('cursor') ?? '';
    const another = operationId === 'listUsers' ? 'listWorkersV2' : 'listUsers';
    const foreign = [
      await cursorAt(pathOf(operationNamed(another), ownIds)),
      await cursorAt(pathOf(operationNamed(operationId), neighbourIds)),
    ];
    for (const cursor of foreign) {
      const { status, body } = await read(`${path}?limit=1&cursor=${cursor}`);
      expect([status, JSON.parse(body)]).toMatchObject([
        400,
        { code: 'invalid_request', errors: [{ in: 'query', path: 'cursor' }] },
      ]);
    }
  });

  test('accepts a cursor of release 1.3.1, which names no list', async () => {
    const cursor = new URL((await read(`${path}?limit=3`)).link ?? '').searchParams.get('cursor') ?? '';
    const earlier = cursor.slice(cursor.lastIndexOf('.') + 1);
    expect(Buffer.from(earlier, 'base64url').toString()).toMatch(/^\d+\.\w+$/);
    const { rows } = await read(`${path}?cursor=${earlier}`);
    expect(rows).toEqual((await read(path)).rows.slice(3));
  });

  test('has a tag that stays valid until the client changes', async () => {
    const { headers } = await read(`${path}?limit=2`);
    const known = { 'if-none-match': headers.etag ?? '' };
    expect((await read(`${path}?limit=2`, known)).status).toBe(304);
    await gateway.database.write((writer) =>
      writer
        .updateTable('data_versions')
        .set({ version: `changed-for-${operationId}` })
        .where('subject_id', '=', ownIds.clientId)
        .execute(),
    );
    expect((await read(`${path}?limit=2`, known)).status).toBe(200);
  });
});

test('a change of another client leaves the tag valid', async () => {
  const path = pathOf(operationNamed('listJobTitles'), ownIds);
  const { headers } = await read(path);
  await gateway.database.write((writer) =>
    writer
      .updateTable('data_versions')
      .set({ version: 'of others' })
      .where('subject_id', '!=', ownIds.clientId)
      .execute(),
  );
  expect((await read(path, { 'if-none-match': headers.etag ?? '' })).status).toBe(304);
});

test('pages of large records are shorter than asked for, and link by link the whole list', async () => {
  const path = pathOf(operationNamed('listWorkersV2'), ownIds);
  await gateway.database.write((writer) =>
    writer
      .updateTable('workers')
      .set({ phone: '5'.repeat(10_000) })
      .execute(),
  );
  const { rows: all } = await read(path);
  const rows: object[] = [];
  const sizes: number[] = [];
  let target: string | undefined = `${path}?limit=1000`;
  while (target !== undefined) {
    const page: Awaited<ReturnType<typeof read>> = await read(target);
    rows.push(...page.rows);
    sizes.push(page.body.length);
    target = page.link?.slice(gateway.url.length);
  }
  expect(rows).toEqual(all);
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThan(3.1 * 1_024 * 1_024);
});
