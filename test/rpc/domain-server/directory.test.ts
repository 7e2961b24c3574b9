import { describe, expect, test } from '@jest/globals';
import { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import { Gatekeeper } from '../../../src/domain/access/gatekeeper.js';
import { ListSlots } from '../../../src/domain/access/list-slots.js';
import { RateLimiter } from '../../../src/domain/access/rate-limiter.js';
import type { FoundVisit } from '../../../src/domain/access/visit-store.js';
import { encodeCursor, FIRST_PAGE_BYTES, type PageRequest } from '../../../src/domain/directory/page.js';
import type { DirectoryDependencies } from '../../../src/domain/directory/reads.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { directoryService } from '../../../src/rpc/domain-server/directory.js';
import { PageTurns } from '../../../src/rpc/streams/page-turns.js';
import { eventually } from '../../support/eventually.js';
import { listed } from '../../support/gateway/contract-rows.js';
import { refusalOf, rpcRigs } from '../rig.js';

const NOW = 1_790_000_000_123;
const clock = () => NOW;
const nothing = () => undefined;
const visit: FoundVisit = {
  key: { id: 'key_1', integrationId: 'itg_1', expiresAt: null, revokedAt: null, lastUsedAt: NOW },
  version: 'now',
  instanceIntegration: { instanceId: 'ins_1', configured: true },
  client: 'cli_1',
};
const header = { version: 'now', notModified: false, integrationId: 'itg_1', apiKeyId: 'key_1' };
const bare = {
  address1: null,
  address2: null,
  city: null,
  isoCountryCode: null,
  postalCode: null,
  zoneCode: null,
};
const named = (id: string) => ({ id, name: `Name of ${id}` });

const client = {
  id: 'cli_1',
  name: 'Tallowfern',
  location: { ...bare, city: 'Portland' },
} as const;
const worker = {
  ...{
    id: 'wrk_1',
    firstName: 'Maren',
    lastName: 'Okafor',
    fullName: 'Maren Okafor',
    email: 'm@example.com',
  },
  ...{ jobTitles: ['Baker'], phone: null, location: bare },
  organizationUnits: [named('oun_1'), named('oun_2')],
  organizationUnit: named('oun_2'),
  organizationLocation: null,
} as const;
const manager = {
  id: 'usr_2',
  firstName: null,
  lastName: 'Brandt',
  fullName: null,
  email: 'b@example.com',
} as const;
const user = {
  ...{
    userId: 'usr_1',
    clientId: 'cli_1',
    email: 'u@example.com',
    firstName: null,
    lastName: null,
    fullName: null,
  },
  ...{ status: 'DELETED', manager, role: named('role_1'), createdAt: new Date(NOW).toISOString() },
} as const;
const unit = {
  id: 'oun_1',
  name: 'Kitchen',
  description: null,
  unitTypeId: 'out_1',
  parentUnitId: null,
} as const;

const structure = { unitsTypes: [named('out_1')], units: [unit], locations: [named('olo_1')] };
const { organizationUnits: _, organizationUnit: __, organizationLocation: ___, ...workerV1 } = worker;

describe('the directory over gRPC', () => {
  const rigs = rpcRigs();

  async function serving(over: object = {}, turns?: PageTurns) {
    const find = async () => visit;
    const visits = {
      findKey: find,
      findInstanceIntegration: find,
      findClient: find,
      markUsed: async () => undefined,
    };
    const limiter = new RateLimiter({ limit: 10, windowMs: 60_000 }, () => NOW);
    const asked: unknown[][] = [];
    const store = (content: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(content).map(([method, answer]) => [
          method,
          async (...what: unknown[]) => {
            asked.push([method, ...what]);
            return typeof answer === 'function' ? answer(...what) : answer;
          },
        ]),
      );
    const dependencies = {
      gatekeeper: new Gatekeeper(
        visits,
        limiter,
        clock,
        nothing,
        nothing,
        new ListSlots({ perIntegration: 1, inTotal: 5 }),
      ),
      clients: store({ page: listed([client], NOW), find: JSON.stringify(client) }),
      workers: store({
        page: listed([workerV1], NOW),
        pageV2: listed([worker], NOW),
        findV2: JSON.stringify(worker),
      }),
      users: store({ page: listed([user], NOW), find: JSON.stringify(user) }),
      organization: store({
        structureOf: JSON.stringify(structure),
        jobTitlesOf: JSON.stringify(['Baker']),
      }),
      instanceIntegrations: store({ listOf: '[]' }),
      ...Object.fromEntries(Object.entries(over).map(([name, content]) => [name, store(content)])),
    } as unknown as DirectoryDependencies;
    const rig = await rigs.start([directoryService(dependencies, turns)]);
    return { directory: rig.channel().clientOf(DirectoryServiceService), asked };
  }

  const context = { apiKeyHash: Buffer.from('hash'), knownVersions: [], anyVersionKnown: false };
  const path = { context, instanceIntegrationId: 'iin_1', clientId: 'cli_1' };
  const request = (operationId: string) => ({
    ...{ ...path, operationId, workerId: 'wrk_1', userId: 'usr_1' },
    ...{ limit: undefined, cursor: undefined },
  });
  const call = { requestId: 'r' };
  const rateLimit = { limit: 10, remaining: 9, resetSeconds: 60 };
  const userMessage = {
    ...{ userId: 'usr_1', clientId: 'cli_1', email: 'u@example.com', status: 'USER_STATUS_DELETED' },
    ...{ manager: { id: 'usr_2', lastName: 'Brandt', email: 'b@example.com' }, role: named('role_1') },
    createdAt: new Date(NOW),
  };
  const workerMessage = {
    ...{
      id: 'wrk_1',
      firstName: 'Maren',
      lastName: 'Okafor',
      fullName: 'Maren Okafor',
      email: 'm@example.com',
    },
    ...{
      jobTitles: ['Baker'],
      location: {},
      organizationUnits: worker.organizationUnits,
      organizationUnit: named('oun_2'),
    },
  };

  /** So many users, of one moment each, and the read of a page of them. */
  function manyUsers(count: number, over: object = {}) {
    const rows = Array.from({ length: count }, (_, index) => ({
      ...{ ...user, ...over },
      userId: `usr_${1_000 + index}`,
    }));
    const page = (_: string, { after, limit }: PageRequest) =>
      listed(rows.filter(({ userId }) => !after || userId > after.id).slice(0, limit), NOW);
    return { rows, page };
  }

  async function collect<T>(messages: AsyncIterable<T>): Promise<T[]> {
    const collected: T[] = [];
    for await (const message of messages) {
      collected.push(message);
    }
    return collected;
  }

  test('sends one thing with its header, and leaves out what is null', async () => {
    const { directory } = await serving();
    const sent = { header: { ...header, rateLimit } };
    expect(await directory.getClient(path, call)).toEqual({
      ...sent,
      client: { id: 'cli_1', name: 'Tallowfern', location: { city: 'Portland' } },
    });
    const standing = (remaining: number) => ({
      header: { ...header, rateLimit: { ...rateLimit, remaining } },
    });
    expect(await directory.getWorker({ ...path, workerId: 'wrk_1' }, call)).toEqual({
      ...standing(8),
      worker: workerMessage,
    });
    expect(await directory.getUser({ ...path, userId: 'usr_1' }, call)).toEqual({
      ...standing(7),
      user: userMessage,
    });
    expect(await directory.listJobTitles(path, call)).toEqual({ ...standing(6), jobTitles: ['Baker'] });
    expect(await directory.getOrganizationStructure(path, call)).toEqual({
      ...standing(5),
      organizationStructure: {
        unitTypes: [named('out_1')],
        units: [{ id: 'oun_1', name: 'Kitchen', unitTypeId: 'out_1' }],
        locations: [named('olo_1')],
      },
    });
  });

  test('sends a list as messages, the first with the header', async () => {
    const { directory } = await serving();
    const list = { ...path, withOrganization: true };
    expect(await collect(directory.listWorkers(list, call))).toEqual([
      { header: { ...header, rateLimit }, workers: [workerMessage] },
    ]);
    expect(await collect(directory.listUsers(path, call))).toMatchObject([{ users: [userMessage] }]);
    expect(await collect(directory.listClients(path, call))).toMatchObject([{ clients: [{ id: 'cli_1' }] }]);
  });

  test('sends an empty list as one message with the header', async () => {
    const { directory } = await serving({ users: { page: [] } });
    expect(await collect(directory.listUsers(path, call))).toEqual([
      { header: { ...header, rateLimit }, users: [] },
    ]);
  });

  test('sends a long list as several messages of which the first only has the header', async () => {
    const { rows, page: behind } = manyUsers(600);
    const { directory } = await serving({ users: { page: behind } });
    const messages = await collect(directory.listUsers(path, call));
    expect(messages.map(({ header: sent }) => sent !== undefined)).toEqual([true, false, false]);
    expect(messages.flatMap(({ users }) => users.map(({ userId }) => userId))).toEqual(
      rows.map(({ userId }) => userId),
    );
    expect(messages.map(({ nextCursor }) => nextCursor)).toEqual([undefined, undefined, undefined]);

    const page = await collect(directory.listUsers({ ...path, limit: 2 }, call));
    expect(page).toMatchObject([{ nextCursor: encodeCursor({ createdAt: NOW, id: 'usr_1001' }) }]);
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

  test('passes on what the path names, the limit, the cursor and whether the place is asked for', async () => {
    const { directory, asked } = await serving();
    const cursor = encodeCursor({ createdAt: 5, id: 'wrk_0' });
    await collect(directory.listWorkers({ ...path, limit: 7, cursor, withOrganization: true }, call));
    await collect(directory.listClients(path, call));
    await directory.getUser({ ...path, userId: 'usr_9' }, call);
    expect(asked).toEqual([
      ['pageV2', 'cli_1', { after: { createdAt: 5, id: 'wrk_0' }, limit: 8 }],
      ['page', 'ins_1', { after: undefined, limit: 251 }],
      ['find', 'cli_1', 'usr_9'],
    ]);
  });

  test('sends to who holds the version a header that says so, and nothing else', async () => {
    const { directory, asked } = await serving();
    const known = { ...path, context: { ...context, knownVersions: ['now'] } };
    const notModified = { notModified: true };
    expect(await collect(directory.listUsers(known, call))).toMatchObject([
      { header: notModified, users: [] },
    ]);
    expect(await collect(directory.listClients(known, call))).toMatchObject([
      { header: notModified, clients: [] },
    ]);
    const workers = directory.listWorkers({ ...known, withOrganization: false }, call);
    expect(await collect(workers)).toMatchObject([{ header: notModified, workers: [] }]);
    const one = await directory.getWorker({ ...known, workerId: 'wrk_1' }, call);
    expect([one.header?.notModified, one.worker]).toEqual([true, undefined]);
    expect(asked).toEqual([]);
  });

  test('refuses a cursor that is none of ours, and a call without a context', async () => {
    const { directory } = await serving();
    const refusal = await refusalOf(collect(directory.listUsers({ ...path, cursor: 'x' }, call)));
    expect([refusal.code, refusal.fieldViolations[0]?.path]).toEqual([
      ErrorCode.INVALID_REQUEST,
      'query.cursor',
    ]);
    const without = collect(directory.listClients({ ...path, context: undefined }, call));
    expect((await refusalOf(without)).code).toBe(ErrorCode.INVALID_REQUEST);
  });

  test('refuses what does not exist, with the rate limit', async () => {
    const { directory } = await serving({ workers: { findV2: undefined } });
    const refusal = await refusalOf(directory.getWorker({ ...path, workerId: 'wrk_2' }, call));
    expect([refusal.code, refusal.rateLimit]).toEqual([ErrorCode.WORKER_NOT_FOUND, rateLimit]);
  });

  test('counts a list as being read until its call ends, and refuses another meanwhile', async () => {
    const endless = async (_: string, { limit }: PageRequest) =>
      listed(Array(limit).fill({ ...workerV1, lastName: 'x'.repeat(500) }), NOW);
    const { directory } = await serving({ workers: { page: endless } });
    const open = () =>
      directory.listWorkers({ ...path, withOrganization: false }, call)[Symbol.asyncIterator]();
    const list = open();
    await list.next();
    const refusal = await refusalOf(open().next());
    expect(refusal).toMatchObject({ code: ErrorCode.RATE_LIMITED, retryAfterSeconds: expect.any(Number) });
    expect(refusal.rateLimit).toMatchObject({ limit: 10 });
    await expect(directory.listJobTitles(path, call)).resolves.toMatchObject({ jobTitles: ['Baker'] });
    await list.return?.();
    await eventually('the slot is free', () =>
      open()
        .next()
        .catch(() => undefined),
    );
  });

  test('counts no list that is read to its end, nor one that is not modified', async () => {
    const { directory } = await serving();
    const known = { ...path, context: { ...context, knownVersions: ['now'] } };
    for (const asked of [path, known, path, known]) {
      const messages: unknown[] = [];
      for await (const message of directory.listWorkers({ ...asked, withOrganization: false }, call)) {
        messages.push(message);
      }
      expect(messages).toHaveLength(1);
    }
  });

  describe('a read of an operation', () => {
    const parsed = (body: Buffer) => JSON.parse(body.toString()) as unknown;

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
        const next =
          limit === undefined ? undefined : encodeCursor({ createdAt: NOW, id: last?.userId ?? '' });
        expect(messages.map(({ nextCursor }) => nextCursor)).toEqual([
          ...Array(messages.length - 1).fill(undefined),
          next,
        ]);
        const standing = await directory.read(request('getClient'), call);
        expect(standing.header?.rateLimit?.remaining).toBe(8);
      },
    );

    test('of a list keeps the place of the list for its rest', async () => {
      const { directory } = await serving({ users: { page: manyUsers(600).page } });
      const read = request('listUsers');
      const { rest } = await directory.read(read, call);
      expect((await refusalOf(directory.read(read, call))).code).toBe(ErrorCode.RATE_LIMITED);
      expect(await collect(directory.readRest({ read, rest }, call))).not.toEqual([]);
      expect((await directory.read(read, call)).rest).toEqual(rest);
    });

    test('of a list up to a limit says where to go on, and leaves no rest', async () => {
      const { directory } = await serving({ users: { page: manyUsers(10).page } });
      const { rest, nextCursor, body } = await directory.read({ ...request('listUsers'), limit: 2 }, call);
      expect([rest, nextCursor]).toEqual([undefined, encodeCursor({ createdAt: NOW, id: 'usr_1001' })]);
      expect(parsed(body)).toHaveLength(2);
    });

    test('whose key lost its way in between is refused the rest', async () => {
      const { directory } = await serving({ users: { page: manyUsers(600).page } });
      const { rest } = await directory.read(request('listUsers'), call);
      const unknown = collect(
        directory.readRest({ read: request('listUsers'), rest: { cursor: 'x' } }, call),
      );
      expect((await refusalOf(unknown)).code).toBe(ErrorCode.INVALID_REQUEST);
      const without = { ...request('listUsers'), context: undefined };
      const refusal = await refusalOf(collect(directory.readRest({ read: without, rest }, call)));
      expect(refusal.code).toBe(ErrorCode.INVALID_REQUEST);
    });

    test('of a list holds its slot until it is answered, and its rest until the call ends', async () => {
      let answer: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        answer = resolve;
      });
      let begun: () => void = () => undefined;
      const underWay = new Promise<void>((resolve) => {
        begun = resolve;
      });
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
  });
});
