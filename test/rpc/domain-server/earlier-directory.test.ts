import { describe, expect, test } from '@jest/globals';
import { encodeCursor, type PageRequest } from '../../../src/domain/directory/page.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { eventually } from '../../support/eventually.js';
import { listed } from '../../support/gateway/contract-rows.js';
import { refusalOf } from '../rig.js';
import {
  call,
  collect,
  context,
  directoryRigs,
  header,
  manyUsers,
  NOW,
  named,
  path,
  rateLimit,
  userMessage,
  workerMessage,
  workerV1,
} from './directory-rig.js';

describe('the directory as edges of release 1.3.1 read it', () => {
  const serving = directoryRigs();

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
});
