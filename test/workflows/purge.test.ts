import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type Client, WorkflowFailedError } from '@temporalio/client';
import { createActivities } from '../../workflows/activities/index.js';
import {
  type PurgeInput,
  type PurgeProgress,
  queryNames,
  taskQueue,
  workflowTypes,
} from '../../workflows/contract.js';
import type { DevServer } from '../../workflows/dev-server/start.js';
import { reasonOf } from '../../workflows/reason.js';
import { startTemporalWorker, type TemporalWorker } from '../../workflows/worker.js';
import { describeWith } from '../support/toolchains.js';
import {
  connectClient,
  eventually,
  namespace,
  quickPurge,
  scriptedMaintenance,
  silentLog,
  startServer,
  temporaryFolder,
  writeBundle,
} from './temporal-fixture.js';

describeWith('temporal', 'the purge', (executable) => {
  let server: DevServer;
  let client: Client;
  let bundlePath: string;
  let files: Awaited<ReturnType<typeof temporaryFolder>>;
  const workers: TemporalWorker[] = [];

  beforeAll(async () => {
    files = await temporaryFolder();
    [server, bundlePath] = await Promise.all([startServer(executable), writeBundle(files.folder)]);
    client = await connectClient(server.address);
  }, 60_000);
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.shutdown()));
  });
  afterAll(async () => {
    await client?.connection.close();
    await server?.stop();
    await files?.remove();
  });

  async function work(
    maintenance: ReturnType<typeof scriptedMaintenance>['maintenance'],
    shutdownGraceMs = 2_000,
  ) {
    const worker = await startTemporalWorker({
      address: server.address,
      namespace,
      activities: createActivities({ maintenance }),
      // Far away, so that no purge of the schedule's own runs into a test.
      schedules: { purge: { intervalMs: 300 * 24 * 3_600_000 } },
      log: silentLog,
      shutdownGraceMs,
      bundlePath,
    });
    workers.push(worker);
    return worker;
  }

  const start = (workflowId: string, input: Partial<PurgeInput> = {}) =>
    client.workflow.start(workflowTypes.purge, {
      taskQueue,
      workflowId,
      args: [{ ...quickPurge, ...input }],
    });

  test('asks in bounded batches until nothing is left, and returns what it deleted', async () => {
    const { maintenance, calls } = scriptedMaintenance([
      { deleted: { sessions: 10, codes: 0 }, more: true },
      { deleted: { sessions: 3, deliveries: 7 }, more: true },
      { deleted: {}, more: false },
    ]);
    await work(maintenance);
    const handle = await start('purge-in-batches');
    const result: PurgeProgress = await handle.result();
    expect(result).toEqual({ batches: 3, deleted: { sessions: 13, codes: 0, deliveries: 7 }, more: false });
    expect(calls.map(({ limit }) => limit)).toEqual([10, 10, 10]);
    expect(await handle.query(queryNames.progress)).toEqual(result);
  });

  test('names the workflow and the activity in each request id', async () => {
    const { maintenance, calls } = scriptedMaintenance([
      { deleted: { codes: 1 }, more: true },
      new Error('the domain restarts'),
      { deleted: { codes: 1 }, more: false },
    ]);
    await work(maintenance);
    await (await start('purge-request-ids')).result();
    expect(calls.map(({ requestId }) => requestId)).toEqual([
      'purge-request-ids/batch-1/1',
      'purge-request-ids/batch-2/1',
      'purge-request-ids/batch-2/2',
    ]);
  });

  test('goes on as new when its batches are used up, carrying its counts and its batch numbers', async () => {
    const { maintenance, calls } = scriptedMaintenance([
      ...Array.from({ length: 4 }, () => ({ deleted: { grants: 2 }, more: true })),
      { deleted: { grants: 1 }, more: false },
    ]);
    await work(maintenance);
    const handle = await start('purge-as-new', { batchesPerRun: 2 });
    expect(await handle.result()).toEqual({ batches: 5, deleted: { grants: 9 }, more: false });
    expect(calls.at(-1)?.requestId).toBe('purge-as-new/batch-5/1');
    expect((await client.workflow.getHandle('purge-as-new').describe()).runId).not.toBe(
      handle.firstExecutionRunId,
    );
  });

  test('outlasts a domain that fails for a while', async () => {
    const down = () => new Error('14 UNAVAILABLE: the domain is not there');
    const { maintenance } = scriptedMaintenance([
      down(),
      down(),
      down(),
      { deleted: { codes: 4 }, more: false },
    ]);
    await work(maintenance);
    expect(await (await start('purge-outlasts')).result()).toMatchObject({
      batches: 1,
      deleted: { codes: 4 },
    });
  });

  test('fails with the reason when the domain fails too often', async () => {
    const { maintenance } = scriptedMaintenance(
      Array.from({ length: 100 }, () => new Error('the disk is full')),
    );
    await work(maintenance);
    const failed = await (await start('purge-gives-up', { giveUpAfterAttempts: 3 }))
      .result()
      .catch((error) => error);
    expect(failed).toBeInstanceOf(WorkflowFailedError);
    expect(reasonOf(failed)).toBe('the disk is full');
  });

  test('fails rather than loop for ever on rows that cannot be deleted', async () => {
    const { maintenance, calls } = scriptedMaintenance([{ deleted: { codes: 0 }, more: true }]);
    await work(maintenance);
    const failed = await (await start('purge-stuck')).result().catch((error) => error);
    expect(failed.cause.message).toBe('The domain reports expired rows but deleted none of them.');
    expect(calls).toHaveLength(1);
  });

  test('is finished by another worker when the first one goes in the middle of a batch', async () => {
    const first = scriptedMaintenance([
      { deleted: { sessions: 10 }, more: true },
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('the call was cancelled')));
        }),
    ]);
    const firstWorker = await work(first.maintenance, 200);
    const handle = await start('purge-restart');
    await eventually('the second batch under way', () => first.calls.length === 2);
    expect(await handle.query(queryNames.progress)).toMatchObject({ batches: 1, more: true });
    await firstWorker.shutdown();

    const second = scriptedMaintenance([{ deleted: { sessions: 5 }, more: false }]);
    await work(second.maintenance);
    expect(await handle.result()).toEqual({ batches: 2, deleted: { sessions: 15 }, more: false });
    expect(second.calls[0]?.requestId).toMatch(/^purge-restart\/batch-2\//);
  });
});
