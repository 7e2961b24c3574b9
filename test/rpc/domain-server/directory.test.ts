import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import {
  cursorOf,
  encodeCursor,
  FIRST_PAGE_BYTES,
  type PageRequest,
} from '../../../src/domain/directory/page.js';
import { CallerLeft, ErrorCode } from '../../../src/errors/service-error.js';
import type { CallContext } from '../../../src/rpc/handlers.js';
import { PageTurns } from '../../../src/rpc/message-streams.js';
import { eventually } from '../../support/eventually.js';
import { fakeTimeouts } from '../../support/fake-timeouts.js';
import { listed } from '../../support/gateway/contract-rows.js';
import { signalled } from '../../support/signalled.js';
import { refusalOf } from '../rig.js';
import {
  call,
  client,
  collect,
  context,
  directoryRigs,
  header,
  manyUsers,
  NOW,
  rateLimit,
  request,
  structure,
  user,
  visit,
  worker,
  workerV1,
} from './directory-rig.js';

describe('a read of an operation', () => {
  const serving = directoryRigs();
  afterEach(() => {
    jest.useRealTimers();
  });
  const parsed = (body: Buffer) => JSON.parse(body.toString()) as unknown;

  // The first test: what others leave behind would count as used before.
  test('of a resource that is too large for a message has it in memory once while its reader waits', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = () => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const bytes = 64 * 2 ** 20;
    const structureOf = () => JSON.stringify('x'.repeat(bytes));
    const { directory } = await serving({ organization: { structureOf } });
    const before = used();
    const read = request('getOrganizationStructure');
    const reader = directory.readRest({ read, rest: { cursor: '' } }, call)[Symbol.asyncIterator]();
    await reader.next();
    expect(used() - before).toBeLessThan(1.5 * bytes);
    await reader.return?.();
  });

  test.each([
    ['listInstanceIntegrations', []],
    ['listClients', [client]],
    ['getClient', client],
    ['listWorkers', [workerV1]],
    ['listWorkersV2', [worker]],
    ['getWorkerV2', worker],
    ['listUsers', [user]],
    ['getUser', user],
    ['listJobTitles', ['Baker']],
    ['getOrganizationStructure', structure],
  ])('%s answers its body at once, with its header', async (operationId, body) => {
    const { directory } = await serving();
    const answer = await directory.read(request(operationId), call);
    expect(answer).toMatchObject({
      header: { ...header, rateLimit },
      nextCursor: undefined,
      rest: undefined,
    });
    expect(parsed(answer.body)).toEqual(body);
  });

  test('answers who holds its version with the header alone, and reads nothing', async () => {
    const { directory, asked } = await serving();
    for (const operationId of ['listUsers', 'getOrganizationStructure', 'listInstanceIntegrations']) {
      const { body, ...rest } = await directory.read(
        { ...request(operationId), context: { ...context, knownVersions: ['now'] } },
        call,
      );
      expect(rest).toMatchObject({ header: { notModified: true }, rest: undefined });
      expect(body).toHaveLength(0);
    }
    expect(asked).toEqual([]);
  });

  test('of a list has an empty array where there are no rows', async () => {
    const { directory } = await serving({ users: { page: [] } });
    expect(parsed((await directory.read(request('listUsers'), call)).body)).toEqual([]);
  });

  test('passes on what the path names, the limit and the cursor', async () => {
    const { directory, asked } = await serving();
    const cursor = cursorOf('listWorkersV2.cli_1', encodeCursor({ createdAt: 5, id: 'wrk_0' }));
    await directory.read({ ...request('listWorkersV2'), limit: 7, cursor }, call);
    await directory.read(request('listClients'), call);
    await directory.read({ ...request('getUser'), userId: 'usr_9' }, call);
    expect(asked).toEqual([
      ['pageV2', 'cli_1', { after: { createdAt: 5, id: 'wrk_0' }, limit: 8 }],
      ['page', 'ins_1', { after: undefined, limit: 251 }],
      ['find', 'cli_1', 'usr_9'],
    ]);
  });

  test('whose cursor is none of ours is refused', async () => {
    const { directory } = await serving();
    const refusal = await refusalOf(directory.read({ ...request('listUsers'), cursor: 'x' }, call));
    expect([refusal.code, refusal.fieldViolations[0]?.path]).toEqual([
      ErrorCode.INVALID_REQUEST,
      'query.cursor',
    ]);
  });

  test('of what does not exist is refused, with the rate limit', async () => {
    const { directory } = await serving({ workers: { findV2: undefined } });
    const refusal = await refusalOf(directory.read(request('getWorkerV2'), call));
    expect([refusal.code, refusal.rateLimit]).toEqual([ErrorCode.WORKER_NOT_FOUND, rateLimit]);
  });

  test('that is unknown here is refused, whatever its name', async () => {
    const { directory } = await serving();
    for (const operationId of ['', 'listEverything', 'constructor', '__proto__']) {
      const refusal = await refusalOf(directory.read(request(operationId), call));
      expect([operationId, refusal.code]).toEqual([operationId, ErrorCode.NOT_IMPLEMENTED]);
    }
  });

  const shapes = [
    { title: 'many rows', count: 600, over: {}, limit: undefined },
    { title: 'large rows', count: 40, over: { email: 'é'.repeat(4_000) }, limit: undefined },
    { title: 'a row larger than a page', count: 3, over: { email: 'x'.repeat(100_000) }, limit: undefined },
    { title: 'a limit beyond the first page', count: 600, over: {}, limit: 555 },
    { title: 'a limit and large rows', count: 40, over: { email: 'é'.repeat(4_000) }, limit: 30 },
  ];
  test.each(shapes)(
    'of a list with $title and its rest have each row once, in order, and count as one request',
    async ({ count, over, limit }) => {
      const { rows, page } = manyUsers(count, over);
      const { directory } = await serving({ users: { page } });
      const asked = { ...request('listUsers'), limit };
      const first = await directory.read(asked, call);
      expect(first.nextCursor).toBeUndefined();
      const messages = await collect(directory.readRest({ read: asked, rest: first.rest }, call));
      const bodies = [first.body, ...messages.map(({ body }) => body)].map(parsed) as (typeof rows)[];
      expect(bodies.flat()).toEqual(rows.slice(0, limit));
      expect(first.body.length <= FIRST_PAGE_BYTES + 1 || bodies[0]?.length === 1).toBe(true);
      expect(Math.max(...bodies.map(({ length }) => length))).toBeLessThanOrEqual(250);
      const last = rows[(limit ?? count) - 1];
      const place = encodeCursor({ createdAt: NOW, id: last?.userId ?? '' });
      const next = limit === undefined ? undefined : cursorOf('listUsers.cli_1', place);
      expect(messages.map(({ nextCursor }) => nextCursor)).toEqual([
        ...Array(messages.length - 1).fill(undefined),
        next,
      ]);
      const standing = await directory.read(request('getClient'), call);
      expect(standing.header?.rateLimit?.remaining).toBe(8);
    },
  );

  test('of the rest of a list says after each page where it goes on, for another domain', async () => {
    const { rows, page } = manyUsers(1_200);
    const { directory } = await serving({ users: { page } });
    const read = { ...request('listUsers'), limit: 1_000 };
    const first = await directory.read(read, call);
    const messages = await collect(directory.readRest({ read, rest: first.rest }, call));
    expect(messages.length).toBeGreaterThan(2);
    expect(messages.map(({ rest }) => rest !== undefined)).toEqual(
      messages.map((_, index) => index < messages.length - 1),
    );
    const [second] = messages;
    const others = await collect(directory.readRest({ read, rest: second?.rest }, call));
    const bodies = [first.body, second?.body ?? Buffer.alloc(0), ...others.map(({ body }) => body)];
    expect(bodies.flatMap((body) => parsed(body) as typeof rows)).toEqual(rows.slice(0, 1_000));
    expect(others.at(-1)?.nextCursor).toBe(messages.at(-1)?.nextCursor);
  });

  test('of a resource that is too large for a message streams it, to two readers of an integration', async () => {
    const large = JSON.stringify('é'.repeat(8_000_000));
    const { directory, asked } = await serving({ organization: { structureOf: large } });
    const read = request('getOrganizationStructure');
    const { header: first, body, rest } = await directory.read(read, call);
    expect([first?.version, body.length, rest]).toEqual(['now', 0, { cursor: '' }]);
    const begin = () => directory.readRest({ read, rest }, call)[Symbol.asyncIterator]();
    const readers = [begin(), begin()];
    const [piece] = await Promise.all(readers.map((reader) => reader.next()));
    const refused = await refusalOf(begin().next());
    expect([refused.code, refused.retryAfterSeconds]).toEqual([ErrorCode.RATE_LIMITED, expect.any(Number)]);
    // Once to learn its size, and once for each reader, but not for the refused one.
    expect(asked).toHaveLength(3);
    await readers[0]?.return?.();
    await readers[1]?.return?.();
    const messages = await eventually('a place for another reader', () =>
      collect(directory.readRest({ read, rest }, call)).catch(() => undefined),
    );
    expect(Buffer.concat(messages.map((message) => message.body)).equals(Buffer.from(large))).toBe(true);
    expect(messages[0]?.body).toEqual(piece?.value.body);
  });

  test('of a resource that was too large for a message last time leaves it to the rest, unread', async () => {
    let text = JSON.stringify('x'.repeat(9_000_000));
    const { directory, asked } = await serving({ organization: { structureOf: () => text } });
    const read = request('getOrganizationStructure');
    const ask = () => directory.read(read, call);
    const { rest } = await ask();
    text = '"short"';
    expect(await ask()).toMatchObject({ header: { notModified: false }, rest });
    expect(asked).toHaveLength(1);
    const [piece] = await collect(directory.readRest({ read, rest }, call));
    expect(piece?.body.toString()).toBe(text);
    expect(await ask()).toMatchObject({ body: Buffer.from(text), rest: undefined });
  });

  test('of a list keeps the place of the list for its rest', async () => {
    const { directory } = await serving({ users: { page: manyUsers(600).page } });
    // A busy machine may take longer than the place is kept.
    fakeTimeouts();
    const read = request('listUsers');
    const { rest } = await directory.read(read, call);
    expect((await refusalOf(directory.read(read, call))).code).toBe(ErrorCode.RATE_LIMITED);
    expect(await collect(directory.readRest({ read, rest }, call))).not.toEqual([]);
    expect((await directory.read(read, call)).rest).toEqual(rest);
  });

  test('of the rest of a list keeps its place until the call ends', async () => {
    const endless = async (_: string, { limit }: PageRequest) =>
      listed(Array(limit).fill({ ...workerV1, lastName: 'x'.repeat(500) }), NOW);
    const { directory } = await serving({ workers: { page: endless } });
    const read = request('listWorkers');
    const { rest } = await directory.read(read, call);
    const list = directory.readRest({ read, rest }, call)[Symbol.asyncIterator]();
    await list.next();
    const refusal = await refusalOf(directory.read(read, call));
    expect(refusal).toMatchObject({ code: ErrorCode.RATE_LIMITED, retryAfterSeconds: expect.any(Number) });
    expect(refusal.rateLimit).toMatchObject({ limit: 10 });
    await expect(directory.read(request('getUser'), call)).resolves.toMatchObject({ rest: undefined });
    await list.return?.();
    await eventually('the place is free', () =>
      directory.read({ ...read, isCounted: true }, call).catch(() => undefined),
    );
  });

  test('of a rest whose caller has left keeps no place', async () => {
    const { directory, readRest } = await serving({ users: { page: manyUsers(600).page } });
    const read = request('listUsers');
    const { rest } = await directory.read(read, call);
    const left = { requestId: 'r', signal: AbortSignal.abort(), isCancelled: true } as CallContext;
    expect(await collect(readRest?.({ read, rest } as never, left) as AsyncIterable<unknown>)).toEqual([]);
    expect((await directory.read(read, call)).rest).toEqual(rest);
  });

  test.each(['listUsers', 'getOrganizationStructure'])(
    '%s whose caller has left before its turn reads nothing, and is no fault',
    async (operationId) => {
      const { read, asked } = await serving();
      const left = { requestId: 'r', signal: AbortSignal.abort(), isCancelled: true } as CallContext;
      await expect(read?.(request(operationId) as never, left)).rejects.toBeInstanceOf(CallerLeft);
      expect(asked).toEqual([]);
    },
  );

  test('of a list up to a limit says where to go on, and leaves no rest', async () => {
    const { directory } = await serving({ users: { page: manyUsers(10).page } });
    const { rest, nextCursor, body } = await directory.read({ ...request('listUsers'), limit: 2 }, call);
    const place = encodeCursor({ createdAt: NOW, id: 'usr_1001' });
    expect([rest, nextCursor]).toEqual([undefined, cursorOf('listUsers.cli_1', place)]);
    expect(parsed(body)).toHaveLength(2);
  });

  test('whose key lost its way in between is refused the rest', async () => {
    const { directory } = await serving({ users: { page: manyUsers(600).page } });
    const { rest } = await directory.read(request('listUsers'), call);
    const unknown = collect(directory.readRest({ read: request('listUsers'), rest: { cursor: 'x' } }, call));
    expect((await refusalOf(unknown)).code).toBe(ErrorCode.INVALID_REQUEST);
    const without = { ...request('listUsers'), context: undefined };
    const refusal = await refusalOf(collect(directory.readRest({ read: without, rest }, call)));
    expect(refusal.code).toBe(ErrorCode.INVALID_REQUEST);
  });

  test.each([
    ['key was revoked', { key: { ...visit.key, revokedAt: NOW } }, ErrorCode.API_KEY_UNKNOWN],
    ['key expired', { key: { ...visit.key, expiresAt: NOW } }, ErrorCode.API_KEY_EXPIRED],
    [
      'connection is no longer set up',
      { instanceIntegration: { instanceId: 'ins_1', configured: false } as const },
      ErrorCode.INSTANCE_INTEGRATION_NOT_CONFIGURED,
    ],
  ])('of a rest whose %s in between ends before its next page', async (_, change, code) => {
    let found = visit;
    const { directory, readRest } = await serving(
      { users: { page: manyUsers(1_500).page } },
      undefined,
      async () => found,
    );
    const read = request('listUsers');
    const { rest } = await directory.read(read, call);
    const reading = { requestId: 'r', signal: new AbortController().signal } as CallContext;
    const pages = readRest?.({ read, rest } as never, reading) as AsyncIterableIterator<unknown>;
    expect((await pages.next()).done).toBe(false);
    expect((await pages.next()).done).toBe(false);
    found = { ...visit, ...change };
    expect((await refusalOf(pages.next())).code).toBe(code);
  });

  test('of a list holds its slot until it is answered', async () => {
    const { told: held, tell: answer } = signalled();
    const { told: underWay, tell: begun } = signalled();
    const page = async () => {
      begun();
      await held;
      return listed([user], NOW);
    };
    const { directory } = await serving({ users: { page } });
    const first = directory.read(request('listUsers'), call);
    await underWay;
    const refusal = await refusalOf(directory.read(request('listUsers'), call));
    expect(refusal).toMatchObject({ code: ErrorCode.RATE_LIMITED, retryAfterSeconds: expect.any(Number) });
    answer();
    await first;
    await expect(directory.read(request('listUsers'), call)).resolves.toMatchObject({ rest: undefined });
  });

  test('reports a list of one page as of a short call, and not of a longer one', async () => {
    const turns = new PageTurns();
    let told = 0;
    turns.shortCall = () => {
      told += 1;
    };
    const { directory } = await serving({ users: { page: manyUsers(251).page } }, turns);
    const read = request('listUsers');
    const { rest } = await directory.read(read, call);
    await collect(directory.readRest({ read, rest }, call));
    expect(told).toBe(0);
    expect((await directory.read(request('listWorkers'), call)).rest).toBeUndefined();
    expect(told).toBe(1);
    await directory.read(request('listJobTitles'), call);
    expect(told).toBe(2);
  });
});
